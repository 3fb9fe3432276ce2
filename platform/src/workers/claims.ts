/** Workers that wait for a job: each asks again as soon as there may be one, and gets an answer after a while in any case. */
import { type Assignment, type AttemptRef, StaleAttempt } from '../attempts/desk.ts';
import type { GivenTask } from '../attempts/worker-messages.ts';
import { longestClaimMs } from '../attempts/worker-terms.ts';
import type { WorkerRow } from '../db/tables.ts';
import type { WorkersContext } from './context.ts';
import { ownerOf, whyNotOf } from './live-workers.ts';
import { takeTask } from './tasks.ts';
import * as workers from './workers.store.ts';

/** A job of another coordinator, or one whose time has come, wakes nobody here. */
const lookEveryMs = 1_000;

/** `gone` is aborted when nobody waits for the answer any more. */
export async function claimForWorker(
  ctx: WorkersContext,
  worker: WorkerRow,
  { freeTasks, gone }: { freeTasks: number; gone: AbortSignal },
): Promise<{ assignment?: Assignment; task?: GivenTask }> {
  const { runtime, closing, waiters, store } = ctx;
  const endsMs = runtime.elapsed() + longestClaimMs;
  const over = AbortSignal.any([gone, closing]);
  while (!over.aborted) {
    // Taken before the look: what comes after it wakes.
    const { woken } = waiters;
    const task = freeTasks > 0 ? await takeTask(ctx, worker) : undefined;
    if (task) return { task };
    if (ctx.isCoordinating() && worker.free_slots > 0) {
      const whyNot = await whyNotOf(ctx, store.db, worker);
      const assignment = await ctx.attempts.claim({ owner: ownerOf(worker), slots: worker.slots, whyNot });
      // The worker has gone while it was given a job.
      if (assignment && gone.aborted) await handBack(ctx, worker, assignment);
      else if (assignment) {
        await workers.beginAttempt(store.db, assignment);
        return { assignment };
      }
    }
    const leftMs = endsMs - runtime.elapsed();
    if (leftMs <= 0) return {};
    await runtime.sleep(Math.min(leftMs, lookEveryMs), AbortSignal.any([over, woken]));
  }
  return {};
}

/** What an earlier run of the worker had. */
export async function handBackAll(ctx: WorkersContext, worker: WorkerRow): Promise<void> {
  for (const ref of await workers.listHeldBy(ctx.store.db, ownerOf(worker))) await handBack(ctx, worker, ref);
}

async function handBack(ctx: WorkersContext, worker: WorkerRow, ref: AttemptRef): Promise<void> {
  try {
    const desk = await ctx.attempts.openDesk(ref, ownerOf(worker));
    await desk.finish({ status: 'stopped', stop: 'closing', arrived: { records: 0, bytes: 0 } });
    desk.close();
  } catch (error) {
    if (!(error instanceof StaleAttempt)) throw error;
  }
}
