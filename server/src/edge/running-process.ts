/** What every process that runs until it is told to stop has: a log, and an end that signals ask for. */
import { StorageState } from '@inlay/database/storage-state';
import type { Config } from '../kernel/config/config.ts';
import { runWithoutOutput } from '../kernel/output.ts';
import { systemRuntime } from '../kernel/runtime.ts';
import { createLog } from '../kernel/telemetry/log.ts';

/** Longer than any request may take. Requests that are still open then are cut off. */
const drainTimeoutMs = 30_000;

/** The log, and the state of the storage that lets the log name a full disk once instead of in every line. */
export function openLog({ logLevel, unknownNames }: Config) {
  runWithoutOutput();
  const storage = new StorageState(systemRuntime);
  const log = createLog(logLevel, undefined, storage.isKnown);
  storage.logTo(log);
  for (const text of unknownNames) log.warn(text);
  return { log, storage };
}

export function stopOnSignal(close: () => Promise<void>, log: ReturnType<typeof createLog>): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // A second signal means: stop now, without waiting.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'Stopping; finishing requests in progress');
    setTimeout(() => {
      log.error('Shutdown timed out; aborting requests in progress');
      process.exit(1);
    }, drainTimeoutMs).unref();
    close().then(
      () => log.info('Stopped'),
      (err) => {
        log.error({ err }, 'Shutdown failed');
        // What could not be closed would keep the process alive.
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
