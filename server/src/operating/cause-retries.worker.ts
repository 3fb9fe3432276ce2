/**
 * Carries out retries of causes, of all organizations: starts a sync of one connection after the other. Runs in every
 * replica; a lease per retry keeps them apart.
 *
 * What always holds:
 * - A connection is tried once. Before the platform is asked, the item says so (`starting`). Where the answer is lost, or the
 *   process dies, someone looks later whether a sync was started, once the request can no longer take effect.
 * - Only a few syncs of a retry wait for their turn at a time, so that others are not kept waiting by hundreds of them.
 * - Quotas, holds and pauses count as for any other sync.
 */
import type { ErrorCode } from '@inlay/contract/error-catalogue';
import { type Repetition, repeatedly } from '../kernel/background.ts';
import { byWorker } from '../kernel/cause.ts';
import type { CauseRetryItemRow, CauseRetryRow } from '../kernel/db/tables.ts';
import { AppError } from '../kernel/errors.ts';
import type { PlatformJob } from '../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../kernel/platform/platform-port.ts';
import { findConnection, startSync } from '../pipelines/connections/connections.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { findLastJob, recordStarted } from '../pipelines/jobs/jobs.ts';
import * as retries from './cause-retries.store.ts';
import { endCauseRetry } from './cause-retries.ts';
import { listDueRetries } from './cause-retries.worker.store.ts';

const everyMs = 1_000;
/** Longer than asking the platform for a few syncs takes, its own time-outs included. */
const leaseMs = 120_000;
const batch = 20;
/** How many syncs of a retry may wait for their turn. */
const maxQueued = 20;
/** How many requests to the platform run concurrently. */
const atOnce = 5;
const pauseAfterTroubleMs = 10_000;
const patienceMs = 24 * 3_600_000;
/** These need nothing to be done. */
const needless: readonly ErrorCode[] = ['sync_already_running', 'connection_not_found', 'cause_not_found'];

export interface CauseRetries extends Repetition {
  /** One pass over every retry that runs. */
  pass(): Promise<void>;
}

export function createCauseRetries(ctx: PipelinesContext): CauseRetries {
  async function pass(stopping?: AbortSignal): Promise<void> {
    for (const { organization_id: organizationId, id } of await listDueRetries(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      try {
        await advance(ctx, organizationId, id);
      } catch (err) {
        // One retry must not hold up the others.
        ctx.log.error({ err, causeRetryId: id }, 'Cause retry failed; will retry');
      }
    }
  }
  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return { pass: () => pass(), ...repeatedly(ctx, { what: 'Cause retry pass', pauseMs, work: pass }) };
}

async function advance(ctx: PipelinesContext, organizationId: string, id: string): Promise<void> {
  const { db } = ctx.store;
  const leaseId = ctx.runtime.newId();
  const retry = await retries.leaseRetry(db, organizationId, id, leaseId, leaseMs);
  if (!retry) return;
  // Until it is known to have gone well.
  let pauseMs = pauseAfterTroubleMs;
  try {
    if ((await ctx.store.now()) - retry.created_at > patienceMs) {
      if (await endCauseRetry(ctx, organizationId, id, 'stopped', 'retry_expired')) {
        ctx.log.warn({ causeRetryId: id }, 'Cause retry stopped: took longer than a day');
      }
      return;
    }
    if ((await lookAfter(ctx, retry)) && (await goOn(ctx, retry, leaseId))) pauseMs = 0;
  } finally {
    await retries.releaseRetry(db, organizationId, id, leaseId, pauseMs);
  }
}

/**
 * Determines the outcome of connections whose request to the platform has no known result. False when the
 * platform does not answer.
 */
async function lookAfter(ctx: PipelinesContext, retry: CauseRetryRow): Promise<boolean> {
  const { db } = ctx.store;
  const { organization_id: organizationId, id } = retry;
  for (const item of await retries.listToLookAfter(db, organizationId, id, maxQueued)) {
    const row = await findConnection(db, item.workspace_id, item.connection_id);
    const platformId = row?.platform_id;
    if (!row || !platformId) {
      await retries.changeItem(db, organizationId, item, { state: 'skipped', code: 'connection_not_found' });
      continue;
    }
    let newest: PlatformJob | undefined;
    try {
      [newest] = await ctx.platform.listJobs(platformId, { limit: 1, offset: 0 });
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (error.failure !== 'not_found') return false;
      await retries.changeItem(db, organizationId, item, { state: 'refused', code: 'platform_lost_connection' });
      continue;
    }
    // A new job means that a sync was started, either by us or by its schedule.
    const isNew = newest !== undefined && newest.id !== item.last_job_id;
    const asked = { askedBy: askerOf(retry) };
    const started = newest && isNew ? await recordStarted(ctx, row, newest, asked) : undefined;
    await retries.changeItem(
      db,
      organizationId,
      item,
      isNew ? { state: 'started', job_id: started?.id ?? null } : { state: 'waiting' },
    );
  }
  return true;
}

const askerOf = ({ request_id: requestId, trace_id: traceId }: CauseRetryRow) => ({ ...byWorker, requestId, traceId });

/** False when it is better to wait a while. */
async function goOn(ctx: PipelinesContext, retry: CauseRetryRow, leaseId: string): Promise<boolean> {
  const { db } = ctx.store;
  const { organization_id: organizationId, id } = retry;
  const room = maxQueued - (await retries.countQueued(db, organizationId, id));
  const waiting = await retries.listItems(db, organizationId, id, { state: 'waiting', limit: Math.max(0, room) });
  for (let from = 0; from < waiting.length; from += atOnce) {
    if (!(await retries.leaseRetry(db, organizationId, id, leaseId, leaseMs))) return true;
    const some = waiting.slice(from, from + atOnce);
    const goOn = await Promise.all(some.map((item) => startOne(ctx, retry, leaseId, item)));
    if (goOn.includes(false)) return false;
  }
  for (const state of ['waiting', 'starting'] as const) {
    if ((await retries.listItems(db, organizationId, id, { state, limit: 1 })).length > 0) return true;
  }
  await endCauseRetry(ctx, organizationId, id, 'finished', null);
  return true;
}

/** False when the platform does not answer: the next connections would fare no better. */
async function startOne(
  ctx: PipelinesContext,
  retry: CauseRetryRow,
  leaseId: string,
  item: CauseRetryItemRow,
): Promise<boolean> {
  const { db } = ctx.store;
  const { organization_id: organizationId, workspace_id: workspaceId, connection_id: connectionId } = item;
  const asked = { ...item, state: 'starting' as const };
  const end = async (code: ErrorCode) => {
    const state = needless.includes(code) ? ('skipped' as const) : ('refused' as const);
    await retries.changeItem(db, organizationId, asked, { state, code });
    return true;
  };
  const isClaimed = await ctx.store.transaction(async (tx) => {
    if (!(await retries.leaseRetry(tx, organizationId, retry.id, leaseId, leaseMs))) return false;
    const last = await findLastJob(tx, workspaceId, connectionId);
    const lookAfterMs = leaseMs + ctx.settleMs;
    return await retries.claimItem(tx, organizationId, item, { lastJobId: last?.platform_id ?? null, lookAfterMs });
  });
  if (!isClaimed) return true;
  const connection = await findConnection(db, workspaceId, connectionId);
  if (!connection) return await end('connection_not_found');
  // It recovered while it waited for its turn, or fails for another reason by now.
  if (connection.cause !== retry.cause) return await end('cause_not_found');
  const scope = { organizationId, workspaceId, audience: 'operator' } as const;
  try {
    const job = await startSync(ctx, scope, connectionId, askerOf(retry));
    await retries.changeItem(db, organizationId, asked, { state: 'started', job_id: job.id });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, cause } = error;
    if (code !== 'platform_does_not_answer' || !(cause instanceof PlatformError)) return await end(code);
    // The outcome is unknown. `lookAfter` finds out.
    if (!cause.settled) return false;
    if (cause.failure !== 'unavailable' && cause.failure !== 'throttled') return await end(code);
    await retries.changeItem(db, organizationId, asked, { state: 'waiting' });
    return false;
  }
}
