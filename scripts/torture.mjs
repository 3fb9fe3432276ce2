// Tries to make syncs lose or change values, round after round: npm run torture
//
//   --minutes N   how long (10)
//   --seed S      of the first round (the time); the next round has the next seed
//
// A round has hard values from every source to every destination in every way of writing, connectors that misbehave, and
// kill -9 of connectors, the platform and the database. With an even seed, rows go in blocks where they can, and with an
// odd one as records (INLAY_TORTURE_ROWS=json). What fails is printed with its seed:
//   INLAY_TORTURE_SEED=S npm test platform/test/torture

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes);
const firstSeed = values.seed === undefined ? Math.floor(Date.now() / 1000) : Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error('--minutes must be a number greater than 0, and --seed a whole number.');
  process.exit(2);
}

const files = [
  'platform/test/torture',
  'platform/src/runner/data-promises.test.ts',
  'server/test/faults/killed-syncs.test.ts',
];
const startedAt = Date.now();
let passed = 0;
let failed = 0;
let rounds = 0;

/** @param {number} seed */
async function runRound(seed) {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-torture-'));
  try {
    const report = join(folder, 'report.json');
    const args = ['run', ...files, '--reporter=json', `--outputFile=${report}`];
    const env = {
      ...process.env,
      INLAY_TORTURE_SEED: String(seed),
      INLAY_TORTURE_ALL: '1',
      DATA_PROMISES_SEED: String(seed),
      INLAY_TORTURE_ROWS: seed % 2 === 0 ? 'blocks' : 'json',
    };
    const child = spawn(join(root, 'node_modules/.bin/vitest'), args, {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    const { testResults } = JSON.parse(await readFile(report, 'utf8'));
    const tests = testResults.flatMap((/** @type {any} */ file) => file.assertionResults);
    const bad = tests.filter((/** @type {any} */ test) => test.status !== 'passed');
    passed += tests.length - bad.length;
    failed += bad.length;
    for (const { fullName, failureMessages } of bad)
      console.log(`seed ${seed}: ${fullName}\n${failureMessages.join('\n')}`);
    if (code !== 0 && bad.length === 0) throw new Error(`Vitest exited with ${code} although no test failed.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

while (rounds === 0 || Date.now() - startedAt < minutes * 60_000) {
  await runRound(firstSeed + rounds);
  rounds++;
  const spent = Math.round((Date.now() - startedAt) / 1000);
  console.log(`round ${rounds}, seed ${firstSeed + rounds - 1}: ${passed} passed, ${failed} failed, after ${spent} s`);
}
process.exitCode = failed > 0 ? 1 : 0;
