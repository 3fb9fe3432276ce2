/*
 * A platform that runs only one sync: the real runner in a separate process, so that its memory is measured apart from
 * the benchmark's. The request is a JSON file in the given folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRunner } from '../platform/src/runner/create-runner.ts';
import { systemRuntime } from '../platform/src/runtime.ts';

const [folder = ''] = process.argv.slice(2);
const { records, ...request } = JSON.parse(readFileSync(join(folder, 'request.json'), 'utf8'));
// When the benchmark is ended, the connectors end as well, before their folders are removed.
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const outcome = await createRunner({ runtime: systemRuntime, folder: join(folder, 'runs') }).sync({
  ...request,
  state: [],
  signal: interruption.signal,
  rename: { prefix: '', namespace: () => undefined },
  keepState: async () => {},
  log: { write: (level, origin, message) => console.error(`${level} ${origin} ${message}`) },
});
if (outcome.status !== 'succeeded' || outcome.records !== records) {
  console.error('The sync did not move the expected data:', outcome);
  process.exitCode = 1;
}
