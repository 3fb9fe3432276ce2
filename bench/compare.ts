/*
 * The CPU time of a request, compared with another commit: by default the last release, so that what every feature adds
 * to each request is noticed before the next one. Both builds run at the same time, each on tables made by its own
 * migrations, and take turns.
 */
import { buildCommit } from '../scripts/build-commit.mjs';
import { type Benchmark, type BenchmarkOptions, onBothDatabases, untilEnd } from './benchmark.ts';
import type { Database, Place } from './databases.ts';
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
const warmUpTurns = 4;
/** Processes of the same build differ by a few percent, so both builds restart after so many rounds. */
const roundsPerStart = 10;
/** The resolution of CPU times in /proc. */
const tickMs = 10;

export const compare: Benchmark = {
  ...onBothDatabases('compare', async (database, options) => {
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
  const [basePlace, oursPlace] = [await placeFor(base, database, options), await placeFor(ours, database, options)];
  const chosen = chosenKinds(options).map((kind) => ({ kind, baseUs: [] as number[], oursUs: [] as number[] }));

  async function measureRounds(from: number, to: number, options: BenchmarkOptions): Promise<void> {
    const generator = startGenerator(options);
    const loadBase = await startBuild(base, basePlace, generator, options);
    const loadOurs = await startBuild(ours, oursPlace, generator, options);
    for (const { kind } of chosen) for (const load of [loadBase, loadOurs]) await load(kind, warmUpTurns);
    for (let round = from; round < to; round++) {
      for (const { kind, baseUs, oursUs } of chosen) {
        const turns = [async () => baseUs.push(await loadBase(kind)), async () => oursUs.push(await loadOurs(kind))];
        // Being second makes no difference in the end.
        for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
      }
    }
    options.log(`${database.name}, ${to} of ${options.rounds} rounds`);
  }
  for (let from = 0; from < options.rounds; from += roundsPerStart) {
    const to = Math.min(from + roundsPerStart, options.rounds);
    await untilEnd(options, (options) => measureRounds(from, to, options));
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

/** With workspaces in tables that the build has made. */
async function placeFor({ name, product }: Build, database: Database, options: BenchmarkOptions): Promise<Place> {
  const place = await database.makeEmpty(`build_${name}`);
  const service = await startService(place, { ...options, product });
  await service.stop();
  await database.addWorkspaces(place, options.workspaces);
  return place;
}

/** Gives the CPU time of a request in microseconds. */
async function startBuild(
  { name, product }: Build,
  place: Place,
  generator: Generator,
  options: BenchmarkOptions,
): Promise<(kind: Kind, turns?: number) => Promise<number>> {
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
