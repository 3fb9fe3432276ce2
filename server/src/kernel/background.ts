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
      await work(stopping.signal).catch((err) => log.error({ err }, `${what} failed; will retry`));
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

export interface WakeableSleep {
  /** A pause that `wake` ends. A pause of no time only forgets that someone called `wake`. */
  sleep: Runtime['sleep'];
  /** Ends the pause, or the next one. */
  wake(): void;
}

export function wakeableSleep(runtime: Pick<Runtime, 'sleep'>): WakeableSleep {
  let isWoken = false;
  let waking = new AbortController();
  return {
    async sleep(ms, stopping) {
      waking = new AbortController();
      if (ms > 0 && !isWoken) {
        const end = () => waking.abort();
        stopping?.addEventListener('abort', end, { once: true });
        await runtime.sleep(ms, stopping?.aborted ? stopping : waking.signal);
        stopping?.removeEventListener('abort', end);
      }
      isWoken = false;
    },
    wake() {
      isWoken = true;
      waking.abort();
    },
  };
}

/** For `repeatedly`. */
export interface Attention extends WakeableSleep {
  /** Until the next look. */
  pauseMs(): number;
  /** Something has happened, so more may follow. */
  noticed(): void;
}

/**
 * How often work looks whether there is something to do: often while something happens, and rarely after a while without
 * anything. What this process does wakes it, so only what others do is noticed later.
 */
export function attentionOf(
  runtime: Pick<Runtime, 'elapsed' | 'sleep'>,
  { oftenMs, rarelyMs, afterMs }: { oftenMs: number; rarelyMs: number; afterMs: number },
): Attention {
  let noticedAt = runtime.elapsed();
  const { sleep, wake } = wakeableSleep(runtime);
  const noticed = () => {
    noticedAt = runtime.elapsed();
  };
  return {
    sleep,
    noticed,
    pauseMs: () => (runtime.elapsed() - noticedAt < afterMs ? oftenMs : rarelyMs),
    wake() {
      noticed();
      wake();
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
      await Promise.race([Promise.all(running), runtime.timeLimit(patienceMs, patience.signal)]);
      patience.abort();
    },
  };
}
