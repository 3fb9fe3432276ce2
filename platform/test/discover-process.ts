/*
 * A small platform in its own process so that it can be killed: opens its folder for running connectors as the platform
 * does, and asks one connector for its catalog. The connector is in a JSON file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../src/log.ts';
import { createRunner } from '../src/runner/create-runner.ts';
import { openRunningFolder } from '../src/running-folder.ts';
import { systemRuntime } from '../src/runtime.ts';

const [folder = ''] = process.argv.slice(2);
const connector = JSON.parse(readFileSync(join(folder, 'connector.json'), 'utf8'));
const running = await openRunningFolder(join(folder, 'running'), systemRuntime, silentLog);
writeFileSync(join(folder, 'mark'), running.mark);
const { path, mark, cgroup } = running;
await createRunner({ runtime: systemRuntime, folder: path, mark, cgroup }).discover(connector);
