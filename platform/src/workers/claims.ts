/** Workers that wait for a job: each asks again as soon as there may be one, and gets an answer after a while in any case. */
import { type Assignment, type AttemptRef, StaleAttempt } from '../attempts/desk.ts';
import type { GivenTask } from '../attempts/worker-messages.ts';
import { longestClaimMs } from '../attempts/worker-terms.ts';
import type { WorkerRow } from '../db/tables.ts';
import type { WorkersContext } from './context.ts';
import { ownerOf, whyNotOf } from './live-workers.ts';
import { isAnyTaskOpen, takeTask } from './tasks.ts';
import * as workers from './workers.store.ts';

/** A job of another coordinator, or one whose time has come, wakes nobody here. */
const lookEveryMs = 1_000;

interface Found {
  assignment?: Assignment;
  task?: GivenTask;
}

/** `gone` is aborted when nobody waits for the answer any more. */
export async function claimForWorker(
  ctx: WorkersContext,
  worker: WorkerRow,
  { freeTasks, gone }: { freeTasks: number; gone: AbortSignal },
): Promise<Found> {
  const { runtime, closing, waiters } = ctx;
  const endsMs = runtime.elapsed() + longestClaimMs;
  const over = AbortSignal.any([gone, closing]);
  const isAnything = async () => (await isAnyTaskOpen(ctx)) || (await ctx.attempts.isAnyDue());
  while (!over.aborted) {
    // Taken before the look: what comes after it wakes.
    const { woken } = waiters;
    const found = await waiters.look(isAnything, lookEveryMs, async () =>
      over.aborted ? undefined : await take(ctx, worker, freeTasks),
    );
    // The worker has gone while it was given a job.
    if (found?.assignment && gone.aborted) await handBack(ctx, worker, found.assignment);
    else if (found) return found;
    const leftMs = endsMs - runtime.elapsed();
    if (leftMs <= 0) return {};
    await runtime.sleep(Math.min(leftMs, lookEveryMs), AbortSignal.any([over, woken]));
  }
  return {};
}

async function take(ctx: WorkersContext, worker: WorkerRow, freeTasks: number): Promise<Found | undefined> {
  const { db } = ctx.store;
  const task = freeTasks > 0 ? await takeTask(ctx, worker) : undefined;
  if (task) return { task };
  if (!ctx.isCoordinating() || worker.free_slots <= 0) return undefined;
  const whyNot = await whyNotOf(ctx, db, worker);
  const assignment = await ctx.attempts.claim({ owner: ownerOf(worker), slots: worker.slots, whyNot });
  if (!assignment) return undefined;
  await workers.beginAttempt(db, assignment);
  return { assignment };
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
