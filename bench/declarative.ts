/*
 * How fast a declarative manifest reads an API, beside a bare loop that fetches, parses and writes the same lines; and how
 * long a thousand evaluations of a template of a manifest take, of a plain name and of a date.
 */
import { createServer } from 'node:http';
import type { Benchmark } from './benchmark.ts';
import { portOf, startProgram } from './child-program.ts';
import type { ReadAnswer, ReadQuestion } from './declarative-reader.ts';
import { type Figure, figureOf, measureInTurns, numberText } from './figures.ts';
import { DateTime, InterpolatedString } from './product.ts';

const pageSize = 500;

/** Pages of records, and one record for each partition. This process does nothing else meanwhile. */
function serveRecords(records: number) {
  const rows = Array.from({ length: pageSize }, (_, index) => ({
    id: index,
    name: `Customer number ${index}`,
    email: `customer-${index}@example.com`,
    amount: index * 1.25,
    updated_at: '2024-06-01T12:00:00Z',
    address: { city: 'Bern', zip: '3000' },
  }));
  const page = Buffer.from(JSON.stringify({ rows }));
  return createServer(({ url = '/' }, response) => {
    const [, part] = /^\/parts\/(\w+)/.exec(url) ?? [];
    response.writeHead(200, { 'content-type': 'application/json' });
    if (part) response.end(`{"rows":[{"id":"${part}","day":"2024-06-02"}]}`);
    else response.end(Number(/page=(\d+)/.exec(url)?.[1] ?? 0) * pageSize < records ? page : '{"rows":[]}');
  });
}

export const declarative: Benchmark = {
  name: 'declarative',

  async run(options) {
    const { records } = options;
    const [few, many] = records < 1000 ? [10, 20] : [1000, 10_000];
    const api = serveRecords(Math.min(records, 200_000));
    options.onEnd(async () => void api.close());
    const { port } = await portOf(api);
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
    const compared = (work: string, own: ReadAnswer, bare: ReadAnswer, atLeast: number, note = ''): Figure =>
      figureOf(`a declarative source: ${work}`, ['rate', 'records/s'], own, {
        than: ['a bare loop', bare],
        target: { of: 'ratio', atLeast },
        note,
      });
    const { states, largestState, peakMegabytes, tookMs } = partitions;
    const statesNote = `${states} states, the largest of ${Math.ceil(largestState / 1024)} KB`;
    return [
      compared(`${numberText(pages.count)} records in pages of 500`, pages, barePages, 0.8),
      compared(`${numberText(many)} partitions`, partitions, barePartitions, 0.5, statesNote),
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
