// A connector that something happens to: passes its input (for `write`) or output (for `read`) on and counts the bytes.
// When so many have passed, or so long after the end of the input, it strikes: kills the connector and itself, kills the
// platform that started it, or only says so and leaves the striking to whoever reads its log.
//
//   node struck-connector.mjs '{"strike":"kill"|"kill the platform"|"tell","afterBytes":1}' program args… command options…
//   node struck-connector.mjs '{"strike":…,"afterEndMs":1}' …

import { spawn } from 'node:child_process';

const [plan = '{}', program = '', ...args] = process.argv.slice(2);
const { strike, afterBytes = Number.POSITIVE_INFINITY, afterEndMs } = JSON.parse(plan);
const isSource = args.includes('read');
const child = spawn(program, args, { stdio: [isSource ? 'ignore' : 'pipe', isSource ? 'pipe' : 'inherit', 'inherit'] });

const [from, to] = isSource ? [child.stdout, process.stdout] : [process.stdin, child.stdin];
// Whoever reads may be gone; the end of the connector tells the rest.
to.on('error', () => {});
let passed = 0;
let isStruck = false;
for await (const chunk of from) {
  const rest = isStruck ? chunk.length : Math.min(chunk.length, Math.max(0, afterBytes - passed));
  passed += chunk.length;
  await write(chunk.subarray(0, rest));
  if (isStruck || passed < afterBytes) continue;
  doStrike();
  await write(chunk.subarray(rest));
}
to.end();
if (afterEndMs !== undefined) setTimeout(doStrike, afterEndMs);
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

function doStrike() {
  isStruck = true;
  if (strike === 'tell') return process.stderr.write('struck\n');
  if (strike === 'kill the platform') return process.kill(process.ppid, 'SIGKILL');
  child.kill('SIGKILL');
  process.kill(process.pid, 'SIGKILL');
}

/** @param {Buffer} bytes @returns {Promise<void>} */
function write(bytes) {
  return new Promise((done) => to.write(bytes, () => done()));
}
