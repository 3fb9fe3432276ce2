/*
 * A small platform in its own process so that it can be killed: runs one sync and keeps confirmed states in a file, one
 * per line. The request is a JSON file; `rename` and the functions are created here.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRunner } from '../src/runner/create-runner.ts';
import { systemRuntime } from '../src/runtime.ts';

const [folder = ''] = process.argv.slice(2);
const request = JSON.parse(readFileSync(join(folder, 'request.json'), 'utf8'));
const outcome = await createRunner({ runtime: systemRuntime, folder: join(folder, 'runs') }).sync({
  ...request,
  rename: { prefix: '', namespace: (namespace) => namespace },
  state: request.state.map((state: object) => JSON.stringify(state)),
  keepState: async (_state, text) => appendFileSync(join(folder, 'states.jsonl'), `${text}\n`),
  keepConfiguration: async () => {},
});
process.exitCode = outcome.status === 'succeeded' ? 0 : 1;
