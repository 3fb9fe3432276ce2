/*
 * The CPU time of a request, compared with another commit: by default the last release, so that what every feature adds
 * to each request is noticed before the next one. Both builds run at the same time, each on tables made by its own
 * migrations, and take turns.
 */
import { type Benchmark, type BenchmarkOptions, onBothDatabases } from './benchmark.ts';
import type { Database } from './databases.ts';
import type { Figure } from './figures.ts';
import { type Generator, type Load, startGenerator, sumOf } from './load.ts';
import { chosenKinds, type Kind, kinds, requestsOf } from './requests.ts';
import { startService } from './service-process.ts';
import { middleOf, spreadOf } from './spread.ts';

interface Build {
  name: string;
  /** Its command line. */
  product: string;
}

const target = { of: 'ratio', atMost: 1.1 } as const;
/** Turns are short, because the speed of a machine changes within seconds. */
const turnMs = 250;
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
  amounts: { rounds: 9, seconds: 1, workspaces: 20_000 },
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
  // Round 0 isn't measured: until then V8 optimizes what runs often.
  for (let round = 0; round <= options.rounds; round++) {
    options.log(`${database.name}, ${round === 0 ? 'warming up' : `round ${round} of ${options.rounds}`}`);
    for (const { kind, baseUs, oursUs } of chosen) {
      const [baseLoads, oursLoads]: [Load[], Load[]] = [[], []];
      const turns = Math.max(2, Math.round((options.seconds * 1_000) / turnMs));
      for (let turn = 0; turn < turns; turn++) {
        const loadOne = async () => baseLoads.push(await loadBase(kind));
        const loadOther = async () => oursLoads.push(await loadOurs(kind));
        // In the order ABBA: being second makes no difference in the end.
        for (const load of turn % 2 === 0 ? [loadOne, loadOther] : [loadOther, loadOne]) await load();
      }
      if (round === 0) continue;
      baseUs.push(cpuEach(baseLoads));
      oursUs.push(cpuEach(oursLoads));
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
      note: `each round: ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`,
    };
  });
}

/** On tables of its own, which it has made. Sends requests of a kind to the build. */
async function startBuild(
  { name, product }: Build,
  database: Database,
  generator: Generator,
  options: BenchmarkOptions,
): Promise<(kind: Kind) => Promise<Load>> {
  const place = await database.makeEmpty(`build_${name}`);
  const first = await startService(place, { ...options, product });
  await first.stop();
  await database.addWorkspaces(place, options.workspaces);
  const service = await startService(place, { ...options, product });
  const requests = new Map<Kind, string[]>();
  for (const kind of chosenKinds(options)) {
    requests.set(kind, await requestsOf(kind, options.workspaces, service));
  }
  return async (kind) => {
    const load = await generator.load(service, requests.get(kind) ?? [], Math.min(turnMs, options.seconds * 1_000));
    if (load.failures) throw new Error(`${name} didn't answer all requests with 200: ${kinds[kind]}`);
    return load;
  };
}

/** In microseconds. */
function cpuEach(loads: Load[]): number {
  const { cpuMs, count } = sumOf(loads);
  return (Math.max(cpuMs, tickMs) * 1_000) / count;
}
