/*
 * Whether the service stays fast: how long answers take with many workspaces, compared with a thousand, on both
 * databases; and on SQLite how long it takes from the start of the process until it is ready.
 */
import { type BenchmarkOptions, onBothDatabases, untilEnd } from './benchmark.ts';
import type { Database, Place } from './databases.ts';
import { compareSizes, type Figure, figureOf, measureInTurns, numberText } from './figures.ts';
import { type Load, startGenerator } from './load.ts';
import { type Kind, kinds, nameOfSearch, requestsOf, searchRequests } from './requests.ts';
import { startService } from './service-process.ts';

const compared: Kind[] = ['get', 'list', 'scopedToken', 'stats'];
const targets = { growth: 1.3, emptyMs: 1_000, manyMs: 1_500 };

export const growth = onBothDatabases('growth', async (database, options) => {
  // A start is measured while no other service runs.
  const figures = await untilEnd(options, (options) => measureAnswers(database, options));
  return database.name === 'SQLite' ? [...figures, ...(await measureStarts(database, options))] : figures;
});

async function measureAnswers(database: Database, options: BenchmarkOptions): Promise<Figure[]> {
  const many = options.workspaces;
  const generator = startGenerator(options);
  const answersWith = async (count: number) => {
    const service = await startService(await database.withWorkspaces(count), options);
    const works: Record<string, () => Promise<Load>> = {};
    for (const kind of compared) {
      const requests = await requestsOf(kind, count, service);
      works[kinds[kind]] = () => generator.load(service, requests);
    }
    return { ...works, [nameOfSearch('rare')]: () => generator.load(service, searchRequests('rare')) };
  };
  const describe = (name: string) => `${name} with ${numberText(many)} workspaces, median answer`;
  const few = Math.min(1_000, Math.ceil(many / 2));
  const limit = { shown: 'median', atMost: targets.growth } as const;
  return await compareSizes([few, many], answersWith, describe, limit, options);
}

async function measureStarts(database: Database, options: BenchmarkOptions): Promise<Figure[]> {
  const start = (find: () => Promise<Place>) => async () => {
    const service = await startService(await find(), options);
    await service.stop();
    return { tookMs: service.readyAfterMs };
  };
  const works = {
    empty: start(() => database.makeEmpty('empty')),
    many: start(() => database.withWorkspaces(options.workspaces)),
  };
  const { empty, many } = await measureInTurns(works, options);
  return [
    figureOf('start to ready, empty', ['each', 'ms'], empty, { target: { of: 'value', atMost: targets.emptyMs } }),
    figureOf(`start to ready, ${numberText(options.workspaces)} workspaces`, ['each', 'ms'], many, {
      target: { of: 'value', atMost: targets.manyMs },
    }),
  ];
}
