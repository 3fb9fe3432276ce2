/*
 * How many requests a second the service answers on PostgreSQL, compared with how often `pgbench` runs the same
 * statements with the same number of clients.
 */
import { type Benchmark, type Figure, measureInTurns } from './benchmark.ts';
import { besidesOf, costOfLoad, type Load, startGenerator } from './load.ts';
import { createPgbench } from './pgbench.ts';
import { compareAnswers, measuredWorks } from './request-works.ts';

const atLeast = 0.5;

export const benchmark: Benchmark = {
  name: 'api-postgres',

  async run(options, log) {
    const { workspaces: count, rounds } = options;
    const database = await options.databases.postgres();
    if (!database) return [];
    const program = database.program('pgbench');
    if (!program) log('pgbench is not installed: there is no ceiling to compare with.');
    const pgbench = program && createPgbench(program, { url: await database.urlOf(count), count }, options);
    const service = await database.startOn(count);
    const generator = startGenerator(options);
    try {
      const works = await measuredWorks(service, options);
      const ceilings = new Map<string, number[]>();
      const turns: Record<string, () => Promise<Load>> = {};
      for (const { name, kind, requests } of works) {
        turns[name] = async () => {
          if (kind && pgbench) ceilings.set(name, [...(ceilings.get(name) ?? []), await pgbench.perSecond(kind)]);
          return await generator.load(service, requests);
        };
      }
      const loads = await measureInTurns(turns, rounds, costOfLoad);
      const rates = works.flatMap(({ name, kind }) =>
        kind ? [rateFigure(name, loads[name] as Load, ceilings.get(name))] : [],
      );
      return [...rates, ...compareAnswers('PostgreSQL', loads)];
    } finally {
      await generator.stop();
      await service.stop();
    }
  },
};

function rateFigure(name: string, ours: Load, ceilings: number[] | undefined): Figure {
  const figure: Figure = {
    work: `PostgreSQL: ${name}`,
    value: ours.perSecond,
    unit: 'requests/s',
    ...besidesOf(ours),
  };
  const ceiling = ceilings?.toSorted((a, b) => a - b)[Math.floor(ceilings.length / 2)];
  if (ceiling === undefined) return figure;
  return {
    ...figure,
    reference: { name: 'pgbench, same statement', value: ceiling },
    ratio: ours.perSecond / ceiling,
    target: { of: 'ratio', atLeast },
  };
}
