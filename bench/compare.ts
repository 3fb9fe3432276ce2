/*
 * The CPU time of a request, compared with another commit: by default the last release, so that what every feature adds
 * to each request is noticed before the next one. Both builds run at the same time, each on tables made by its own
 * migrations, and take turns.
 */
import { type Benchmark, type BenchmarkOptions, onBothDatabases } from './benchmark.ts';
import type { Database } from './databases.ts';
import type { Figure } from './figures.ts';
import { type Generator, startGenerator } from './load.ts';
import { chosenKinds, type Kind, kinds, requestsOf } from './requests.ts';
import { startService } from './service-process.ts';
import { middleOf, spreadOf } from './spread.ts';

interface Build {
  name: string;
  /** Its command line. */
  product: string;
}

const target = { of: 'ratio', atMost: 1.1 } as const;
/** Until then, V8 optimizes what runs often. */
const warmUpTurns = 8;
/** The resolution of CPU times in /proc. */
const tickMs = 10;

export const compare: Benchmark = {
  ...onBothDatabases('compare', async (database, options) => {
    // Bundled into the program, it would look for the release in the wrong folder.
    const { buildCommit } = await import('../scripts/build-commit.mjs');
    const { commit, product } = await buildCommit({ ...options, tell: options.log });
    const builds = [
      { name: commit.slice(0, 8), product },
      { name: 'checkout', product: options.product },
    ] as const;
    return await measure(builds, database, options);
  }),
  // Many short rounds, because the speed of a machine changes within seconds.
  amounts: { rounds: 30, seconds: 0.25, workspaces: 20_000 },
  isOnRequest: true,
};

async function measure(
  [base, ours]: readonly [Build, Build],
  database: Database,
  options: BenchmarkOptions,
): Promise<Figure[]> {
  const generator = startGenerator(options);
  const loadBase = await startBuild(base, database, generator, options);
  const loadOurs = await startBuild(ours, database, generator, options);
  const chosen = chosenKinds(options).map((kind) => ({ kind, baseUs: [] as number[], oursUs: [] as number[] }));
  options.log(`${database.name}, warming up`);
  for (const { kind } of chosen) for (const load of [loadBase, loadOurs]) await load(kind, warmUpTurns);
  for (let round = 1; round <= options.rounds; round++) {
    if (round % 10 === 0) options.log(`${database.name}, round ${round} of ${options.rounds}`);
    for (const { kind, baseUs, oursUs } of chosen) {
      const turns = [async () => baseUs.push(await loadBase(kind)), async () => oursUs.push(await loadOurs(kind))];
      // Being second makes no difference in the end.
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
    }
  }
  return chosen.map(({ kind, baseUs, oursUs }) => {
    const ratios = oursUs.map((us, round) => us / (baseUs[round] as number));
    const spread = spreadOf(ratios);
    return {
      work: `${kinds[kind]}, CPU time`,
      value: middleOf(oursUs),
      unit: 'µs',
      reference: { name: base.name, value: middleOf(baseUs) },
      ratio: middleOf(ratios),
      ...(spread && { spread, target }),
      note: `all rounds from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    };
  });
}

/**
 * On tables of its own, which it has made. Sends requests of a kind to the build, and gives the CPU time of each in
 * microseconds.
 */
async function startBuild(
  { name, product }: Build,
  database: Database,
  generator: Generator,
  options: BenchmarkOptions,
): Promise<(kind: Kind, turns?: number) => Promise<number>> {
  const place = await database.makeEmpty(`build_${name}`);
  const first = await startService(place, { ...options, product });
  await first.stop();
  await database.addWorkspaces(place, options.workspaces);
  const service = await startService(place, { ...options, product });
  const requests = new Map<Kind, string[]>();
  for (const kind of chosenKinds(options)) {
    requests.set(kind, await requestsOf(kind, options.workspaces, service));
  }
  return async (kind, turns = 1) => {
    const load = await generator.load(service, requests.get(kind) ?? [], turns * options.seconds * 1_000);
    if (load.failures) throw new Error(`${name} didn't answer all requests with 200: ${kinds[kind]}`);
    return (Math.max(load.cpuMs, tickMs) * 1_000) / load.count;
  };
}
