// Everything CI runs, in one command: npm run check. Every step runs even if an earlier one failed. Each step and each
// test counts; the last line is the sum.
//
//   npm run check -- --long          longer proofs: more schedules of the simulation, every kill point, more rounds
//   npm run check -- --shard 1/3     a third of the tests, for one of three machines

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countCoreSeconds } from './core-seconds.mjs';
import { folderInMemory } from './memory-folder.mjs';
import { nodeVersions } from './own-packages.mjs';
import { summarize } from './test-report.mjs';

const coreSeconds = countCoreSeconds();
/** What the short run may use: a change that needs more time moves what gives least for its time to `--long`. */
const budgetCoreSeconds = 1_450;

const root = fileURLToPath(new URL('..', import.meta.url));
/** The compiler and the bundler collect garbage less often, for a fifth less CPU time. */
const environment = { ...process.env, GOGC: '400' };

/** @param {string} name */
const installed = (name) => join(root, 'node_modules', '.bin', name);

const { values: options } = parseArgs({
  options: { long: { type: 'boolean', default: false }, shard: { type: 'string' } },
});

let passed = 0;
let failed = 0;

/**
 * One check: silent while it passes, its whole output when it fails.
 * @param {string} name @param {() => Promise<string | undefined>} run
 */
async function check(name, run) {
  const startedAt = performance.now();
  const complaint = await run().catch((error) => String(error?.stack ?? error));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (complaint === undefined) passed += 1;
  else failed += 1;
  console.log(`${complaint === undefined ? 'ok    ' : 'FAILED'}  ${name}  ${seconds} s`);
  if (complaint) console.log(`${complaint.trimEnd()}\n`);
}

/**
 * @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>} the output if it failed
 */
async function run(program, args, env = environment) {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code, signal] = await once(child, 'close');
  return code === 0 ? undefined : `${output}\n${program} exited with ${code ?? signal}.`;
}

/** @param {(() => Promise<void>)[]} works */
async function inTwoLanes(works) {
  const left = [...works];
  const lane = async () => {
    for (let work = left.shift(); work; work = left.shift()) await work();
  };
  await Promise.all([lane(), lane()]);
}

/** Runs every test, with its progress on the screen. @returns what the run's JSON report says */
async function runTests() {
  const memory = folderInMemory();
  const directory = await mkdtemp(join(memory ?? tmpdir(), 'inlay-check-'));
  // Database servers run under another user's name, and their folders are in here.
  await chmod(directory, 0o711);
  const reportFile = join(directory, 'report.json');
  try {
    const durationsFile = join(directory, 'durations.json');
    const reporters = ['default', 'json', join(root, 'scripts/durations-reporter.mjs')];
    const args = ['run', ...reporters.map((name) => `--reporter=${name}`), `--outputFile.json=${reportFile}`];
    if (options.shard) args.push(`--shard=${options.shard}`);
    const long = options.long ? { INLAY_LONG_TESTS: '1' } : {};
    // Tests only talk to this machine, so no certificates are needed. Reading a file of them takes longer than starting
    // Node.js.
    const certificates = { NODE_EXTRA_CA_CERTS: '' };
    const folders = memory ? { TMPDIR: directory, INLAY_TEST_SERVERS_DIR: directory } : {};
    const env = { ...environment, ...certificates, ...long, ...folders, INLAY_TEST_DURATIONS: durationsFile };
    const child = spawn(installed('vitest'), args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const [code, signal] = await once(child, 'exit');
    const report = await readFile(reportFile, 'utf8').then(JSON.parse, () => undefined);
    /** @type {{ name: string, seconds: number }[]} */
    const durations = await readFile(durationsFile, 'utf8').then(JSON.parse, () => []);
    return { exit: code ?? signal, report, durations };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Start, command line, a customer's journey with syncs to files and PostgreSQL, the store, and signing in to the console. */
const testsOnEachNodeVersion = [
  'server/test/cli.test.ts',
  'server/test/crash.test.ts',
  'server/test/journey.test.ts',
  'console/test/ways-in.test.ts',
  'platform/test/postgres-to-postgres.test.ts',
  'database/src',
];

/** @param {{ version: number, binFolder: string }} node */
const runTestsOn = ({ version, binFolder }) =>
  check(`tests on Node.js ${version}`, () =>
    run(join(binFolder, 'node'), ['node_modules/vitest/vitest.mjs', 'run', ...testsOnEachNodeVersion], {
      ...environment,
      PATH: `${binFolder}:${process.env.PATH}`,
    }),
  );

/**
 * One checker per compiler: two compilers run side by side, and several checkers in one compiler work out the same types
 * again, for twice the CPU time.
 * @param {string} folder
 */
const checkTypes = (folder) => run(installed('tsc'), ['--noEmit', '--checkers', '1', '-p', folder]);
const typed = [
  'ui',
  'widget',
  'console',
  'embed',
  'embed/test',
  'webhooks',
  'webhooks/test',
  'server/src/edge/reference/browser',
];
// What tests need. It waits for the registry more than it works.
const preparations = inTwoLanes([
  ...(options.long
    ? [() => check('install packages for long tests', () => run(process.execPath, ['scripts/own-packages.mjs']))]
    : []),
  () => check('find programs for tests', () => run(process.execPath, ['scripts/find-programs.mjs'])),
]);

// Beside the preparations and the tests, whose build at the start leaves a core idle. The slow ones first.
const statics = inTwoLanes([
  async () => {
    // Writes the declarations too. The tests of console and widget start the service: they read its declarations, and do not
    // check it again.
    await check('types', () => run(installed('tsc'), ['--checkers', '1', '-p', 'tsconfig.types.json']));
    await check('types of console and widget tests', () => checkTypes('console/test'));
  },
  () => check('format and lint', () => run(installed('biome'), ['check', '--error-on-warnings', '.'])),
  ...typed.map((folder) => () => check(`types of ${folder}`, () => checkTypes(folder))),
  () => check('arrows', () => run(process.execPath, ['scripts/check-arrows.mjs'])),
  () => check('tenancy', () => run(process.execPath, ['scripts/check-tenancy.mjs'])),
  () => check('words', () => run(process.execPath, ['scripts/check-words.mjs'])),
]);
await preparations;
console.log('\ntests');
const { exit, report, durations } = await runTests();
await statics;
const tests = summarize(exit, report);
passed += tests.passed;
failed += tests.failed;
for (const { name, complaint } of tests.checks) await check(name, async () => complaint);
// One after the other: both need all cores.
if (options.long) for (const node of nodeVersions) await runTestsOn(node);

console.log('\nslowest test files');
const slowest = durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
console.log();

const used = coreSeconds();
if (used !== undefined) {
  const [seconds, budget] = [used, budgetCoreSeconds].map((count) => Math.round(count).toLocaleString('en-US'));
  // The budget is that of a whole short run.
  const hasBudget = !options.long && !options.shard;
  if (hasBudget && used > budgetCoreSeconds) console.log('WARNING  This run exceeded its CPU time budget.');
  console.log(hasBudget ? `${seconds} of ${budget} core seconds` : `${seconds} core seconds`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
