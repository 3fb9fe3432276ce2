/*
 * Whether the service stays fast: how long answers take with many workspaces, compared with a thousand, on both
 * databases; and how long it takes from the start of the process until it is ready.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type BenchmarkOptions, type Figure, measureInTurns } from './benchmark.ts';
import type { SeededDatabase } from './databases.ts';
import { costOfLoad, type Load, latencyRatio, startGenerator } from './load.ts';
import { type Kind, kinds, requestsOf, searchRequests } from './requests.ts';
import { type ServiceProcess, startService } from './service-process.ts';

const few = 1_000;
const compared: Kind[] = ['get', 'list', 'scopedToken', 'stats'];
const atMost = 1.3;

export const benchmark: Benchmark = {
  name: 'growth',

  async run(options) {
    const { sqlite, postgres } = options.databases;
    const figures = [...(await measureAnswers(sqlite, options)), ...(await measureStarts(sqlite, options))];
    const other = await postgres();
    return other ? [...figures, ...(await measureAnswers(other, options))] : figures;
  },
};

async function measureAnswers(database: SeededDatabase, options: BenchmarkOptions): Promise<Figure[]> {
  const few = await database.startOn(fewerThan(options.workspaces));
  const many = await database.startOn(options.workspaces);
  const generator = startGenerator(options);
  try {
    const works = [
      ...compared.map((kind) => ({
        name: kinds[kind],
        requests: (service: ServiceProcess, count: number) => requestsOf(kind, count, service),
      })),
      { name: 'name_contains, rare', requests: async () => searchRequests('rare') },
    ];
    const turns: Record<string, () => Promise<Load>> = {};
    for (const { name, requests } of works) {
      const [ofFew, ofMany] = [
        await requests(few, fewerThan(options.workspaces)),
        await requests(many, options.workspaces),
      ];
      turns[`${name}, few`] = () => generator.load(few, ofFew);
      turns[`${name}, many`] = () => generator.load(many, ofMany);
    }
    const loads = await measureInTurns(turns, options.rounds, costOfLoad);
    const count = options.workspaces.toLocaleString('en');
    return works.map(({ name }) =>
      latencyRatio(
        `${database.name}: ${name} with ${count} workspaces, median answer`,
        loads[`${name}, many`] as Load,
        { name: `with ${fewerThan(options.workspaces).toLocaleString('en')}`, load: loads[`${name}, few`] as Load },
        { of: 'p50Ms', atMost },
      ),
    );
  } finally {
    await generator.stop();
    await few.stop();
    await many.stop();
  }
}

const fewerThan = (workspaces: number): number => Math.min(few, Math.ceil(workspaces / 2));

const startTargetsMs = { empty: 1_000, many: 1_500 };

async function measureStarts(database: SeededDatabase, options: BenchmarkOptions): Promise<Figure[]> {
  const dataDir = join(options.folder, 'empty');
  const started = async (start: Promise<ServiceProcess>): Promise<number> => {
    const service = await start;
    await service.stop();
    return service.readyAfterMs;
  };
  const took = await measureInTurns(
    {
      empty: () => {
        rmSync(dataDir, { recursive: true, force: true });
        mkdirSync(dataDir);
        return started(startService({ dataDir }, options));
      },
      many: () => started(database.startOn(options.workspaces)),
    },
    options.rounds,
    (ms) => ms,
  );
  const figure = (name: string, key: keyof typeof took): Figure => ({
    work: `${database.name}: start to ready, ${name}`,
    value: took[key],
    unit: 'ms',
    target: { of: 'value', atMost: startTargetsMs[key] },
  });
  return [figure('empty', 'empty'), figure(`${options.workspaces.toLocaleString('en')} workspaces`, 'many')];
}
