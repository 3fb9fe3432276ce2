/*
 * How fast a declarative manifest reads an API, beside a bare loop that fetches, parses and writes the same lines; and how
 * long a thousand evaluations of a template of a manifest take, of a plain name and of a date.
 */
import type { Benchmark } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import type { ApiQuestion } from './declarative-api.ts';
import type { ReadAnswer, ReadQuestion } from './declarative-reader.ts';
import { type Figure, figureOf, measureInTurns, numberText } from './figures.ts';
import { DateTime, InterpolatedString } from './product.ts';

export const declarative: Benchmark = {
  name: 'declarative',

  async run(options) {
    const { records } = options;
    const [few, many] = records < 1000 ? [10, 20] : [1000, 10_000];
    const api = startProgram<ApiQuestion, { port: number }>('declarative-api', options);
    const { port } = await api.ask({ records: Math.min(records, 200_000) });
    const read = (by: ReadQuestion['by'], partitions: number) => async () => {
      // A process for each, so that the peak of its memory is its own.
      const reader = startProgram<ReadQuestion, ReadAnswer>('declarative-reader', options);
      const answer = await reader.ask({ by, port, partitions });
      await reader.stop();
      return answer;
    };
    const works = {
      pages: read('manifest', 0),
      barePages: read('bare loop', 0),
      partitions: read('manifest', many),
      barePartitions: read('bare loop', many),
      fewPartitions: read('manifest', few),
    };
    const { pages, barePages, partitions, barePartitions, fewPartitions } = await measureInTurns(works, options);
    const compared = (work: string, own: ReadAnswer, bare: ReadAnswer, note = ''): Figure =>
      figureOf(`a declarative source: ${work}`, ['rate', 'records/s'], own, {
        than: ['a bare loop', bare],
        target: { of: 'ratio', atLeast: 0.5 },
        note,
      });
    const { states, largestState, peakMegabytes, tookMs } = partitions;
    const statesNote = `${states} states, the largest of ${Math.ceil(largestState / 1024)} KB`;
    return [
      compared(`${numberText(pages.count)} records in pages of 500`, pages, barePages),
      compared(`${numberText(many)} partitions`, partitions, barePartitions, statesNote),
      figureOf(
        `a declarative source: memory with ${numberText(many)} partitions`,
        ['peak', 'MB'],
        { peakMegabytes, tookMs },
        {
          than: ['with a tenth', { peakMegabytes: fewPartitions.peakMegabytes, tookMs }],
          target: { of: 'ratio', atMost: 1.5 },
        },
      ),
    ];
  },
};

const places = [
  { name: 'a name', template: "{{ config['x'] }}", atMost: 2 },
  {
    name: 'a date expression',
    template: "{{ (now_utc() - duration('P1D')).strftime('%Y-%m-%dT%H:%M:%SZ') }}",
    atMost: 10,
  },
];
const evaluations = 100_000;

export const templates: Benchmark = {
  name: 'templates',

  async run({ rounds }) {
    const names = { config: { x: 'abc' } };
    const clock = () => DateTime.fromEpoch(1_718_452_800);
    return places.map(({ name, template, atMost }) => {
      const place = new InterpolatedString(template, { clock });
      const took = Array.from({ length: rounds + 1 }, () => {
        // The time of the processor: other work on the machine changes it less.
        const before = process.cpuUsage();
        for (let count = 0; count < evaluations; count++) place.evaluate(names);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / evaluations;
      });
      // The first round is the one in which the engine learns the code.
      const [tookMs = 0] = took.slice(1).sort((a, b) => a - b);
      const target = { of: 'value', atMost } as const;
      return figureOf(`1,000 evaluations of ${name}`, ['each', 'ms'], { tookMs }, { target });
    });
  },
};
