/**
 * Tells the platform what something is to be, by a write that may be repeated. A write whose answer is lost may still
 * take effect later, and might undo a newer write. So before a write is sent, the store records until when that can
 * happen. After that time, what is wanted is written once more.
 */
import { createTimeoutMs } from '../platform/calls.ts';
import type { Written } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import type { PipelinesContext } from './context.ts';
import { Waiting } from './interruptions.ts';
import * as remote from './remote.store.ts';

/** Throws `Waiting` when the write has to be repeated later. The caller holds the lease. */
export async function assertSettled(
  ctx: PipelinesContext,
  ref: remote.RemoteRef,
  write: () => Promise<Written>,
  timeoutMs = createTimeoutMs,
): Promise<void> {
  const { db } = ctx.store;
  const windowMs = timeoutMs + ctx.settleMs;
  const earlierMs = await remote.settleWaitMs(db, ref);
  if (ctx.settleMs > 0) await remote.openSettleWindow(db, ref, windowMs);
  let settled: boolean;
  try {
    ({ settled } = await write());
  } catch (error) {
    const isOver = error instanceof PlatformError && error.settled;
    if (isOver && earlierMs === 0) await remote.closeSettleWindow(db, ref);
    throw error;
  }
  if (!settled || earlierMs > 0) throw new Waiting('waiting for an unconfirmed change to settle', windowMs);
  await remote.closeSettleWindow(db, ref);
}
