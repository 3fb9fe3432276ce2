/* How long a thousand evaluations of a template of a declarative manifest take: of a plain name, and of a date. */
import { DateTime } from '../platform/connectors/declarative/dates/date-time.ts';
import { InterpolatedString } from '../platform/connectors/declarative/template/interpolation.ts';
import type { Benchmark } from './benchmark.ts';

const works = [
  { name: 'a name', template: "{{ config['x'] }}", atMostMs: 2 },
  {
    name: 'a date expression',
    template: "{{ (now_utc() - duration('P1D')).strftime('%Y-%m-%dT%H:%M:%SZ') }}",
    atMostMs: 10,
  },
];
const evaluations = 100_000;

export const benchmark: Benchmark = {
  name: 'templates',

  async run({ rounds }) {
    const names = { config: { x: 'abc' } };
    const clock = () => DateTime.fromEpoch(1_718_452_800);
    return works.map(({ name, template, atMostMs }) => {
      const place = new InterpolatedString(template, { clock });
      const took = Array.from({ length: rounds + 1 }, () => {
        // The time of the processor: other work on the machine changes it less.
        const before = process.cpuUsage();
        for (let count = 0; count < evaluations; count++) place.evaluate(names);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / evaluations;
      });
      // The first round is the one in which the engine learns the code.
      const [value = 0] = took.slice(1).sort((a, b) => a - b);
      return {
        work: `1,000 evaluations of ${name}`,
        value,
        unit: 'ms' as const,
        target: { of: 'value' as const, atMost: atMostMs },
      };
    });
  },
};
