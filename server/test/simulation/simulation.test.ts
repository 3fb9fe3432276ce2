/**
 * The cross-store protocol under sixty seeded schedules, and proof that the oracle would notice.
 * INLAY_LONG_TESTS makes it ten thousand schedules, and removes every guard; a short run removes those that the oracle
 * misses at once. All schedules run in this process: a process of its own for each test would take longer to start than
 * its schedules take to run.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { guards, loadSimulation } from '../../../scripts/simulation.mjs';
import type { SimulationOptions } from './main.ts';

const loaded = new Map<string | undefined, ReturnType<typeof loadSimulation>>();

async function simulate(options: SimulationOptions, without?: string) {
  const simulation = loaded.get(without) ?? loadSimulation(without);
  loaded.set(without, simulation);
  const { simulate } = await simulation;
  const lines: string[] = [];
  const say = (text: string) => lines.push(...text.split('\n'));
  const result = await simulate({ ...options, say });
  return { ...result, lines };
}

async function expectNoViolation(options: SimulationOptions): Promise<void> {
  expect(await simulate(options)).toMatchObject({ run: options.seeds, failed: 0, lines: [] });
}

/** The command line of `npm run simulate`. */
function runProgram(...args: string[]): Promise<{ code: number | null; output: string }> {
  const script = fileURLToPath(new URL('../../../scripts/simulate.mjs', import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const schedules = isLongRun ? 10_000 : 40;

it(`${schedules} schedules keep every invariant`, async () => {
  await expectNoViolation({ seeds: schedules });
});

const withNamesakes = isLongRun ? 3_000 : 16;

it(`${withNamesakes} schedules in which someone else uses our names keep every invariant`, async () => {
  await expectNoViolation({ seeds: withNamesakes, namesakes: true });
});

const aboutQuotas = isLongRun ? 2_000 : 8;

it(`${aboutQuotas} schedules about quotas keep every invariant`, async () => {
  await expectNoViolation({ seeds: aboutQuotas, quotas: true });
});

const aboutCredentials = isLongRun ? 500 : 2;

it(`${aboutCredentials} schedules about credentials: no refresh token is sent by two, too often, or after its successor was stored`, async () => {
  await expectNoViolation({ seeds: aboutCredentials, credentials: true });
});

const aboutAttempts = isLongRun ? 5_000 : 20;

it(`${aboutAttempts} schedules about attempts: one epoch's writes count, no confirmed state is lost, and no job waits for ever`, async () => {
  await expectNoViolation({ seeds: aboutAttempts, attempts: true });
});

const large = isLongRun
  ? { replicas: 100, credentials: 1_000, stormMs: 20 * 60_000 }
  : { replicas: 12, credentials: 20, stormMs: 60_000 };

it(`${large.replicas} replicas keep ${large.credentials} credentials`, async () => {
  await expectNoViolation({ seeds: isLongRun ? 3 : 1, credentials: large });
});

// Found by longer runs: two workspaces for one name; a rename that took effect late, after its last try had failed; and a
// create that took effect after its name was given to another workspace, which nobody remembered; a sync that took the
// late effect of an old rename for a new name. A change of the code changes what a seed stands for, so each has a test of
// its own, too; the last two are in src/workspaces/lost-creates.test.ts and sync.test.ts.
it.each<{ seed: number } & Partial<SimulationOptions>>([
  { seed: 1532 },
  { seed: 201810 },
  { seed: 2013265 },
  { seed: 6015438, namesakes: true },
  { seed: 7000809, credentials: true },
])('schedule $seed, which broke an invariant once, does no longer', async ({ seed, ...options }) => {
  await expectNoViolation({ seeds: 1, from: seed, ...options });
});

it('a seed replays exactly, in another process, and stands for the same schedule whether it is traced or not', async () => {
  const events: string[] = [];
  const seeds = { seeds: 3, from: 77, namesakes: true };
  const traced = await simulate({ ...seeds, trace: (line) => events.push(line) });
  expect(events.length).toBeGreaterThan(100);
  expect((await simulate(seeds)).summary).toBe(traced.summary);

  const { code, output } = await runProgram('--seeds', '3', '--from', '77', '--namesakes', '--trace');
  const lines = output.trimEnd().split('\n');
  expect(lines.slice(0, -1)).toEqual(events);
  // The last line ends with how long it took.
  expect(lines.at(-1)).toMatch(/; [\d.]+ s$/);
  expect(lines.at(-1)?.replace(/; [\d.]+ s$/, '')).toBe(traced.summary);
  expect(code).toBe(0);
});

const missedAtOnce = [
  { without: 'tombstone-check', from: 5 },
  { without: 'look-for-lost-creates', from: 1, namesakes: true },
  { without: 'lease-of-a-credential', from: 1, credentials: true },
  { without: 'proof-of-an-attempt', from: 1, attempts: true },
];
// Each begins shortly before the seed that shows the violation today, to be quick. After a change of the code it may be a
// later seed.
const missedLater = [
  { without: 'epoch-that-grows', from: 1, attempts: true },
  { without: 'attempts-put-back', from: 1, attempts: true },
  { without: 'lease-before-put-back', from: 1, attempts: true },
  { without: 'limits-of-workspaces', from: 1, attempts: true },
  { without: 'slots-of-an-owner', from: 1, attempts: true },
  { without: 'one-attempt-of-a-connection', from: 1, attempts: true },
  { without: 'turns-of-workspaces', from: 1, attempts: true },
  { without: 'once-a-schedule', from: 1, attempts: true },
  { without: 'cancelled-until-ended', from: 1, attempts: true },
  { without: 'claims-of-namesakes', from: 1, namesakes: true },
  { without: 'deleted-sources-left-out', from: 1, quotas: true },
  { without: 'tries-of-an-uncertain-end', from: 7000809, credentials: true },
  // The test of the command line below plants it as well.
  { without: 'entry-of-a-deletion', from: 1 },
  { without: 'lease-of-a-generation', from: 1, credentials: true },
  { without: 'settle-window', from: 70 },
  { without: 'bind-if-unbound', from: 59 },
  { without: 'generation-compare', from: 408 },
  { without: 'one-entry-for-a-new-workspace', from: 77 },
  { without: 'memory-of-lost-creates', from: 162, namesakes: true },
  { without: 'quotas-in-the-transaction', from: 81, quotas: true },
  { without: 'once-more-at-most', from: 7, credentials: true },
  { without: 'no-sending-after-the-lease', from: 28, credentials: true },
];

it.each(isLongRun ? [...missedAtOnce, ...missedLater] : missedAtOnce)(
  'without the guard $without a violation is found within a thousand seeds',
  async ({ without, ...options }) => {
    const { failed, lines } = await simulate({ seeds: 1000, stop: true, ...options }, without);
    expect(failed).toBe(1);
    const kind = 'quotas' in options ? 'Q' : 'credentials' in options ? 'C' : 'attempts' in options ? 'A' : 'I';
    expect(lines[1]).toMatch(new RegExp(`^ {2}${kind}\\d+: `));
  },
);

it('the command line ends with 1 after a violation', async () => {
  const { code, output } = await runProgram('--seeds', '1', '--without', 'entry-of-a-deletion');
  expect(output).toContain('1 schedules, 1 with violations');
  expect(code).toBe(1);
});

it('a guard that is unknown is refused', async () => {
  const { code, output } = await runProgram('--without', 'luck');
  for (const name of Object.keys(guards)) expect(output).toContain(name);
  expect(code).toBe(2);
});
