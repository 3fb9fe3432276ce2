/**
 * Checks of connectors that run in the background: a caller starts one and asks for its outcome later. Nothing here
 * outlives the process or an hour; a caller who asks for a check that is gone starts it again. Where there are several
 * coordinators, shared-checks.ts tells the others.
 *
 * Invariants: only a few checks run at a time; workspaces take turns, and each has its own bounded queue
 * (fair-queue.ts); only a bounded number of finished checks is kept.
 */

import type { CheckWarning, StreamDescriptor } from '@inlay/protocol/protocol';
import type { FairQueue } from '@inlay/schedule/fair-queue';
import type { Log } from '../log.ts';
import { resourceNotFound } from '../problems.ts';
import { type CheckOutcome, RunFailure } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';

export interface Check {
  checkId: string;
  status: 'pending' | 'running' | 'succeeded' | 'failed';
  /** What is wrong and what to fix, and the settings at fault where they are known; only with `failed`. */
  message?: string;
  fields?: string[];
  /** For failures caused neither by the connector nor by its configuration. */
  origin?: 'platform';
  /** What should be known of what works; only with `succeeded`. */
  warnings?: CheckWarning[];
  /** The streams of a working source, if requested. */
  streams?: StreamDescriptor[];
}

export type CheckEnd = CheckOutcome & Pick<Check, 'streams'>;

/** What requests need, whether other processes see the checks or not. */
export interface Checks {
  /** Throws QueueFull. */
  start(owner: string, workspaceId: string, run: (signal: AbortSignal) => Promise<CheckEnd>): Check | Promise<Check>;
  /** A check is found only under the `owner` it was started with. */
  get(owner: string, checkId: string): Check | Promise<Check>;
  /** Stops what runs and waits for it to be over. What has not begun is not begun any more. */
  close(): Promise<void>;
}

export interface CheckQueue extends Checks {
  start(...given: Parameters<Checks['start']>): Check;
  get(...given: Parameters<Checks['get']>): Check;
  find(...given: Parameters<Checks['get']>): Check | undefined;
}

interface CheckQueueOptions {
  /** The fair queue of workspaces waiting for a check. */
  turns: FairQueue;
  runtime: Pick<Runtime, 'now' | 'newId'>;
  log: Pick<Log, 'error'>;
  /** Called when a check has ended, whatever its outcome. */
  onOver?(owner: string, check: Check): void;
}

const maxKept = 1_000;
export const keptForMs = 3_600_000;
export const interruption = 'The check was interrupted. Try again.';

interface Kept extends Check {
  owner: string;
  startedAt: number;
}

export function createCheckQueue({ turns, runtime, log, onOver = () => {} }: CheckQueueOptions): CheckQueue {
  const kept = new Map<string, Kept>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Those that wait or run are not forgotten: the queues bound their number. */
  function forgetOld(): void {
    const over = [...kept].filter(([, { status }]) => status === 'succeeded' || status === 'failed');
    const tooMany = over.length - maxKept;
    for (const [index, [id, { startedAt }]] of over.entries()) {
      if (index < tooMany || startedAt <= runtime.now() - keptForMs) kept.delete(id);
    }
  }

  function find(owner: string, checkId: string): Check | undefined {
    forgetOld();
    const check = kept.get(checkId.toLowerCase());
    return check?.owner === owner ? present(check) : undefined;
  }

  async function perform(check: Kept, run: (signal: AbortSignal) => Promise<CheckEnd>): Promise<void> {
    check.status = 'running';
    try {
      Object.assign(check, await run(stopping.signal));
    } catch (error) {
      if (stopping.signal.aborted) return interrupt(check);
      // A connector that breaks instead of answering does not work either; anything else is a fault of ours.
      const isExpected = error instanceof RunFailure;
      if (!isExpected) log.error({ err: error }, 'platform: Check failed to run');
      const message = isExpected ? error.message : 'The check could not run because of a platform error. Try again.';
      const { fields, origin = 'platform' } = isExpected ? error.failure : {};
      Object.assign(check, {
        ...{ status: 'failed', message },
        ...(fields && { fields }),
        ...(origin === 'platform' && { origin }),
      });
    }
  }

  return {
    start(owner, workspaceId, run) {
      forgetOld();
      const check: Kept = { checkId: runtime.newId(), owner, status: 'pending', startedAt: runtime.now() };
      const begin = () => {
        const work = perform(check, run).finally(() => {
          running.delete(work);
          onOver(owner, present(check));
        });
        running.add(work);
        return work;
      };
      turns.enqueue(workspaceId, begin, () => {
        interrupt(check);
        onOver(owner, present(check));
      });
      kept.set(check.checkId, check);
      return present(check);
    },
    find,
    get(owner, checkId) {
      const check = find(owner, checkId);
      if (!check) throw resourceNotFound('check', checkId);
      return check;
    },
    async close() {
      turns.close();
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Callers waiting for the outcome learn that there will be none. */
function interrupt(check: Check): void {
  Object.assign(check, { status: 'failed', message: interruption });
}

function present({ owner: _, startedAt: __, ...check }: Kept): Check {
  return check;
}
