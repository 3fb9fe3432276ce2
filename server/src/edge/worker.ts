/** The process of a worker: without a store, and without the service. */
import { join } from 'node:path';
import { bundledDefinitions } from '@inlay/platform/definitions/bundled-definitions';
import { WorkerRefused } from '@inlay/platform/worker/coordinator-client';
import { startWorker } from '@inlay/platform/worker/worker';
import { connectorNeeded } from '@inlay/platform/workers/placement';
import { builtFolder } from '../built-folder.ts';
import type { Config, Secrets } from '../kernel/config/config.ts';
import { openDataDir } from '../kernel/config/data-dir.ts';
import { OperatorError } from '../kernel/errors.ts';
import { systemRuntime } from '../kernel/runtime.ts';
import { version } from '../kernel/version.ts';
import { openLog, stopOnSignal } from './running-process.ts';

export async function startWorkerProcess(config: Config, secrets: Secrets): Promise<void> {
  const { log, storage } = openLog(config);
  const { url = '', slots, commands, images } = config.worker;
  try {
    const worker = await startWorker({
      ...{ url, slots, commands, images, version, log },
      token: secrets.workerToken,
      dataDir: openDataDir(config.dataDir).path(''),
      connectorsProgram: join(builtFolder, 'connectors/main.js'),
      bundledConnectors: bundledDefinitions.flatMap((definition) => connectorNeeded(definition) ?? []),
      limits: config.connectorLimits,
      guards: { heart: join(builtFolder, 'heart.cjs'), warden: join(builtFolder, 'warden.cjs') },
      runtime: systemRuntime,
    });
    stopOnSignal(worker.stop, log);
    process.stdout.write(`\n  The worker is running syncs of ${url}, up to ${slots} at a time.\n\n`);
    await worker.ended;
  } catch (error) {
    throw error instanceof WorkerRefused ? new OperatorError(error.message) : error;
  } finally {
    storage.close();
  }
}
