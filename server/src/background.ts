/** Work that no request waits for: repeated again and again, or done once as soon as possible. */
import type { Logger } from 'pino';
import type { Runtime } from './runtime.ts';

export interface Repetition {
  start(): void;
  /** Resolves when the running pass has ended. */
  stop(): Promise<void>;
}

/**
 * Does the work now, and again after each pause. The next pass tries again what one could not do, so the work must be
 * on disk.
 */
export function repeatedly(
  { runtime, log }: { runtime: Runtime; log: Logger },
  { what, pauseMs, work }: { what: string; pauseMs: () => number; work: (stopping: AbortSignal) => Promise<void> },
): Repetition {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work(stopping.signal).catch((err) => log.error({ err }, `${what} failed; it will be tried again`));
      await runtime.sleep(pauseMs(), stopping.signal);
    }
  }
  return {
    start: () => {
      running ??= run();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

export interface Background {
  run(what: string, work: () => Promise<unknown>): void;
  /**
   * Resolves when everything has ended, or when `patienceMs` is over: important work is on disk and is taken up again.
   */
  settle(patienceMs: number): Promise<void>;
}

export function createBackground({ runtime, log }: { runtime: Runtime; log: Logger }): Background {
  const running = new Set<Promise<unknown>>();
  return {
    run(what, work) {
      const ended: Promise<unknown> = work()
        .catch((err) => log.error({ err }, `${what} failed`))
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    async settle(patienceMs) {
      const patience = new AbortController();
      await Promise.race([Promise.all(running), runtime.sleep(patienceMs, patience.signal)]);
      patience.abort();
    },
  };
}
