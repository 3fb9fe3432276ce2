// A connector that something happens to: passes its input (for `write`) or output (for `read`) on and counts the bytes.
// When so many have passed, or so long after the end of the input, it strikes: kills the connector and itself, kills the
// platform that started it, or says so in its log and passes nothing on until they have struck.
//
//   node struck-connector.mjs '{"strike":"kill"|"kill the platform","afterBytes":1}' program args… command options…
//   node struck-connector.mjs '{"strike":…,"afterEndMs":1}' …
//   node struck-connector.mjs '{"strike":"tell","afterBytes":1,"until":"file that appears"}' …

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const [plan = '{}', program = '', ...args] = process.argv.slice(2);
const { strike, afterBytes = Number.POSITIVE_INFINITY, afterEndMs, until } = JSON.parse(plan);
const isSource = args.includes('read');
const child = spawn(program, args, {
  stdio: [isSource ? 'inherit' : 'pipe', isSource ? 'pipe' : 'inherit', 'inherit'],
});

const [from, to] = isSource ? [child.stdout, process.stdout] : [process.stdin, child.stdin];
// The reader may be gone; the connector's exit shows the rest.
to.on('error', () => {});
let passed = 0;
let isStruck = false;
for await (const chunk of from) {
  const rest = isStruck ? chunk.length : Math.min(chunk.length, Math.max(0, afterBytes - passed));
  passed += chunk.length;
  await write(chunk.subarray(0, rest));
  if (isStruck || passed < afterBytes) continue;
  await doStrike();
  await write(chunk.subarray(rest));
}
to.end();
if (afterEndMs !== undefined) setTimeout(doStrike, afterEndMs);
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

async function doStrike() {
  isStruck = true;
  if (strike === 'tell') {
    process.stderr.write('strike\n');
    while (!existsSync(until)) await delay(10);
  } else if (strike === 'kill the platform') {
    process.kill(process.ppid, 'SIGKILL');
  } else {
    child.kill('SIGKILL');
    process.kill(process.pid, 'SIGKILL');
  }
}

/** @param {Buffer} bytes @returns {Promise<void>} */
function write(bytes) {
  return new Promise((done) => to.write(bytes, () => done()));
}
