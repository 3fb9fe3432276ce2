/**
 * Reports to the platform what something is to be, by a write that may be repeated. A write whose answer is lost may still
 * take effect later, and might undo a newer write. So before a write is sent, the store records until when that can
 * happen, and what the write says. A write that says the same may take effect at any time; after any other, what is wanted
 * is written once more when that time has passed.
 */
import { createTimeoutMs, slowCreateTimeoutMs } from '../../kernel/platform/calls.ts';
import type { Written } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { PipelinesContext } from '../context.ts';
import { Waiting } from '../interruptions.ts';
import * as remote from '../remote.store.ts';

interface WriteOptions {
  timeoutMs?: number;
  /** The same for writes that say the same, and for no others; without it, none does. */
  content?: string | null;
}

/** Throws `Waiting` when the write has to be repeated later. The caller holds the lease. */
export async function assertSettled(
  ctx: PipelinesContext,
  ref: remote.RemoteRef,
  write: () => Promise<Written>,
  { timeoutMs = createTimeoutMs, content = null }: WriteOptions = {},
): Promise<void> {
  const { db } = ctx.store;
  const windowMs = timeoutMs + ctx.settleMs;
  const earlier = await readSettleWindow(ctx, ref);
  const isAlone = earlier.waitMs === 0;
  const isSame = isAlone || (content !== null && content === earlier.unconfirmed);
  if (ctx.settleMs > 0) {
    await remote.openSettleWindow(db, ref, Math.max(windowMs, earlier.waitMs), isSame ? content : null);
  }
  let settled: boolean;
  try {
    ({ settled } = await write());
  } catch (error) {
    if (isAlone && error instanceof PlatformError && error.settled) await remote.closeSettleWindow(db, ref);
    throw error;
  }
  if (!isSame) throw new Waiting('waiting for an unconfirmed change to settle', Math.max(windowMs, earlier.waitMs));
  if (isAlone && settled) await remote.closeSettleWindow(db, ref);
}

/** Read before looking on the platform: a look that began earlier says nothing about what took effect meanwhile. */
export async function readSettleWindow(ctx: PipelinesContext, ref: remote.RemoteRef): Promise<remote.SettleWindow> {
  const window = await remote.readSettleWindow(ctx.store.db, ref);
  const longestMs = slowCreateTimeoutMs + ctx.settleMs;
  if (window.waitMs <= longestMs) return window;
  // The clock was set back.
  await remote.openSettleWindow(ctx.store.db, ref, longestMs, window.unconfirmed);
  return { ...window, waitMs: longestMs };
}
