/* How fast a declarative manifest reads an API, beside a bare loop that fetches, parses and writes the same lines. */
import { join } from 'node:path';
import { type Benchmark, type Figure, measureInTurns } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import type { ApiQuestion } from './declarative-api.ts';
import type { ReadAnswer, ReadQuestion } from './declarative-reader.ts';

const target = { of: 'ratio' as const, atLeast: 0.5 };
const [few, many] = [1000, 10_000];

export const benchmark: Benchmark = {
  name: 'declarative',

  async run({ records, rounds, programs, signal }) {
    const isSmoke = records < few;
    const pages = Math.min(records, 200_000);
    const partitions = isSmoke ? 20 : many;
    const api = startProgram<ApiQuestion, { port: number }>(join(programs, 'declarative-api.js'), signal);
    try {
      const { port } = await api.ask({ records: pages });
      const read = (by: ReadQuestion['by'], count: number) => async (): Promise<ReadAnswer> => {
        // A process for each, so that the peak of its memory is its own.
        const reader = startProgram<ReadQuestion, ReadAnswer>(join(programs, 'declarative-reader.js'), signal);
        try {
          return await reader.ask({ by, port, partitions: count });
        } finally {
          await reader.stop();
        }
      };
      const measured = await measureInTurns(
        {
          pages: read('manifest', 0),
          barePages: read('bare loop', 0),
          partitions: read('manifest', partitions),
          barePartitions: read('bare loop', partitions),
          fewPartitions: read('manifest', isSmoke ? 10 : few),
        },
        rounds,
        ({ tookMs }) => tookMs,
      );
      const { states, largestState } = measured.partitions;
      return [
        compared(
          `${measured.pages.records.toLocaleString('en')} records in pages of 500`,
          measured.pages,
          measured.barePages,
        ),
        {
          ...compared(`${partitions.toLocaleString('en')} partitions`, measured.partitions, measured.barePartitions),
          note: `${states} states, the largest of ${Math.ceil(largestState / 1024)} KB`,
        },
        {
          work: `a declarative source: memory with ${partitions.toLocaleString('en')} partitions`,
          value: measured.partitions.peakMegabytes,
          unit: 'MB',
          reference: { name: `with a tenth`, value: measured.fewPartitions.peakMegabytes },
          ratio: measured.partitions.peakMegabytes / measured.fewPartitions.peakMegabytes,
          target: { of: 'ratio', atMost: 1.5 },
        },
      ];
    } finally {
      await api.stop();
    }
  },
};

function compared(work: string, own: ReadAnswer, bare: ReadAnswer): Figure {
  const rate = ({ records, tookMs }: ReadAnswer) => (records / tookMs) * 1000;
  return {
    work: `a declarative source: ${work}`,
    value: rate(own),
    unit: 'records/s',
    reference: { name: 'a bare loop', value: rate(bare) },
    ratio: rate(own) / rate(bare),
    cpuRatio: bare.cpuMs / own.cpuMs,
    target,
    records: own.records,
    tookMs: own.tookMs,
  };
}
