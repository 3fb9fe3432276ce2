/**
 * Checks of connectors that run in the background: a caller starts one and asks for its outcome later. Nothing here
 * outlives the process or an hour; a caller who asks for a check that is gone starts it again.
 *
 * What always holds: at most a few run at a time, in the order they were started, and only so many are kept.
 */
import type { Log } from '../log.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import { type CheckOutcome, RunFailure } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';

export interface Check {
  checkId: string;
  status: 'pending' | 'running' | 'succeeded' | 'failed';
  /** What is wrong and what to fix; only with `failed`. */
  message?: string;
}

export interface CheckQueue {
  start(owner: string, run: (signal: AbortSignal) => Promise<CheckOutcome>): Check;
  /** A check is found only under the `owner` it was started with. */
  get(owner: string, checkId: string): Check;
  /** Stops what runs and waits for it to be over. */
  close(): Promise<void>;
}

interface CheckQueueOptions {
  runtime: Pick<Runtime, 'now' | 'newId'>;
  log: Pick<Log, 'error'>;
}

const maxRunning = 4;
const maxKept = 1_000;
const keptForMs = 3_600_000;

interface Kept extends Check {
  owner: string;
  startedAt: number;
}

export function createCheckQueue({ runtime, log }: CheckQueueOptions): CheckQueue {
  const kept = new Map<string, Kept>();
  const waiting: (() => void)[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  function forgetOld(): void {
    for (const [id, { startedAt, status }] of kept) {
      const isOver = status === 'succeeded' || status === 'failed';
      if (isOver && (startedAt <= runtime.now() - keptForMs || kept.size >= maxKept)) kept.delete(id);
    }
  }

  function runNext(): void {
    if (running.size >= maxRunning || stopping.signal.aborted) return;
    waiting.shift()?.();
  }

  async function perform(check: Kept, run: (signal: AbortSignal) => Promise<CheckOutcome>): Promise<void> {
    check.status = 'running';
    try {
      Object.assign(check, await run(stopping.signal));
    } catch (error) {
      // A connector that breaks instead of answering does not work either; anything else is a fault of ours.
      const isExpected = error instanceof RunFailure;
      if (!isExpected) log.error({ err: error }, 'platform: a check could not be run');
      Object.assign(check, { status: 'failed', message: isExpected ? error.message : 'The check could not be run.' });
    }
  }

  return {
    start(owner, run) {
      forgetOld();
      if (kept.size >= maxKept) throw new Problem('try-again-later', { message: 'Too many checks are under way.' });
      const check: Kept = { checkId: runtime.newId(), owner, status: 'pending', startedAt: runtime.now() };
      kept.set(check.checkId, check);
      waiting.push(() => {
        const work = perform(check, run).finally(() => {
          running.delete(work);
          runNext();
        });
        running.add(work);
      });
      runNext();
      return present(check);
    },
    get(owner, checkId) {
      forgetOld();
      const check = kept.get(checkId.toLowerCase());
      if (check?.owner !== owner) throw resourceNotFound('check', checkId);
      return present(check);
    },
    async close() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

function present({ checkId, status, message }: Kept): Check {
  return { checkId, status, ...(message !== undefined && { message }) };
}
