/**
 * Holds syncs back in workspaces that have moved as much as they may, and those that would be too many at the same time. No sync starts until the period ends or the quota is
 * raised; what runs is left to run to its end.
 *
 * What always holds: whether a workspace is held follows from its limits and its use alone, and is decided while it is
 * locked. So it does not matter who reviews it, how often, or in which order.
 */
import type { Audience } from '@inlay/contract/pipelines/health';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import type { Quotas } from '@inlay/contract/tenancy/quotas';
import { databaseTime } from '@inlay/database/open-database';
import type { Db } from '../../kernel/db/open.ts';
import type { QuotaHoldRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import {
  hasSyncLimit,
  lockLiveWorkspace,
  openStatusOperation,
  recordHold,
  recordSyncLimit,
} from '../workspaces/holds.ts';
import { readWorkspace } from '../workspaces/live-workspaces.ts';
import { driveOperation } from '../workspaces/operations.ts';
import { levelOf, limitsOf } from './limits.ts';
import { type Periods, periodsAt } from './periods.ts';
import { parametersFor } from './quota-words.ts';
import * as store from './quotas.store.ts';

type Hold = Pick<QuotaHoldRow, 'quota' | 'quota_limit' | 'used' | 'until'>;

interface WorkspaceRef {
  organizationId: string;
  workspaceId: string;
}

/** The longest periods first: a month outlasts a day. */
const amounts = ['rows_per_month', 'bytes_per_month', 'rows_per_day', 'bytes_per_day'] as const;

function holdFor(limits: Quotas, synced: store.Synced | undefined, periods: Periods): Hold | undefined {
  for (const quota of amounts) {
    const [limit, used] = [limits[quota], synced?.[quota] ?? 0];
    if (limit === null || used < limit) continue;
    return { quota, quota_limit: limit, used, until: quota.endsWith('month') ? periods.nextMonth : periods.nextDay };
  }
  return undefined;
}

/**
 * Compares a workspace with its limits. True if the platform has to be updated after the transaction commits.
 * `hasEnded`: one of its syncs has just ended.
 */
export async function reviewWorkspace(
  ctx: WorkspacesContext,
  tx: Db,
  { organizationId, workspaceId }: WorkspaceRef,
  hasEnded = false,
): Promise<boolean> {
  if (hasEnded) {
    const unlocked = await limitsOf(tx, organizationId, workspaceId);
    // Most workspaces: nobody has to lock them.
    if (amounts.every((quota) => unlocked[quota] === null) && !(await store.findHold(tx, workspaceId))) return false;
  }
  const workspace = await lockLiveWorkspace(tx, organizationId, workspaceId);
  if (!workspace) {
    await store.removeHold(tx, workspaceId);
    return false;
  }
  const limits = await limitsOf(tx, organizationId, workspaceId);
  if (!hasEnded) await ctx.contents.followQuotas(tx, workspaceId, limits);
  const isLimitNew = !hasEnded && (await recordSyncLimit(ctx, tx, workspace, limits.concurrent_syncs));
  const periods = periodsAt(await databaseTime(tx));
  const synced = (await store.sumUse(tx, [workspaceId], periods)).get(workspaceId);
  await tellOfAmounts(ctx, tx, { organizationId, workspaceId }, { limits, synced, periods });
  const hold = holdFor(limits, synced, periods);
  const isHeld = workspace.held_since !== null;
  if (hold) await store.putHold(tx, organizationId, workspaceId, hold);
  else await store.removeHold(tx, workspaceId);
  if (isHeld !== (hold !== undefined)) {
    await recordHold(ctx, tx, workspace, hold !== undefined);
    return true;
  }
  if (!hold) return isLimitNew;
  // Its health says how much is used.
  await ctx.contents.followStatus(ctx.journal, tx, workspaceId);
  if (hasEnded) await openStatusOperation(ctx, tx, organizationId, workspaceId);
  return hasEnded || isLimitNew;
}

/** Before a workspace gets a connection: the platform has its limits, whatever else has happened since they were set. */
export async function tellSyncLimit(ctx: WorkspacesContext, ref: WorkspaceRef): Promise<void> {
  const { organizationId, workspaceId } = ref;
  const { db } = ctx.store;
  const workspace = await readWorkspace(db, organizationId, workspaceId);
  const { concurrent_syncs: limit } = await limitsOf(db, organizationId, workspaceId);
  if (!workspace || hasSyncLimit(workspace, limit)) return;
  const isToTell = await ctx.store.transaction((tx) => reviewWorkspace(ctx, tx, ref));
  if (isToTell) await driveOperation(ctx, { ...ref, kind: 'status' });
}

/**
 * Why syncs of some workspaces are queued: the quota of concurrent syncs is used up. A platform that does not support
 * limits has other reasons.
 */
export async function findWaitReasons(db: Db, workspaceIds: readonly string[]): Promise<WaitReasons> {
  const limits = await store.listKeptSyncLimits(db, workspaceIds);
  const counts = await store.countSyncs(db, [...limits.keys()]);
  return (workspaceId, audience) => {
    const [limit, used] = [limits.get(workspaceId), counts.get(workspaceId) ?? 0];
    if (limit === undefined || used < limit) return undefined;
    const parameters = parametersFor({ quota: 'concurrent_syncs', limit, used }, audience);
    return { code: 'quota_waiting', parameters };
  };
}

/** Undefined where no quota is the reason. */
export type WaitReasons = (workspaceId: string, audience: Audience) => Reason<'quota_waiting'> | undefined;

/** Says once in a period that a workspace comes near a limit, and once that it has reached it. */
async function tellOfAmounts(
  { journal }: WorkspacesContext,
  tx: Db,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  { limits, synced, periods }: { limits: Quotas; synced: store.Synced | undefined; periods: Periods },
): Promise<void> {
  for (const quota of amounts) {
    const [limit, used] = [limits[quota], synced?.[quota] ?? 0];
    const level = limit === null ? undefined : levelOf(used, limit);
    if (limit === null || level === undefined) continue;
    const [period, end] = quota.endsWith('month') ? [periods.month, periods.nextMonth] : [periods.day, periods.nextDay];
    const notice = { quota, level, quota_limit: limit, period };
    if (!(await store.insertNotice(tx, organizationId, workspaceId, notice))) continue;
    const data = { quota, limit, used, period_ends_at: isoTime(end) };
    await journal.record(tx, organizationId, { type: `quota.${level}`, workspaceId, data });
  }
}

type HoldReason = Reason<'quota_paused'>;

/** Why no sync runs in a workspace, for both audiences; undefined when no quota holds it back. */
export async function findHoldReasons(
  db: Db,
  workspaceId: string,
): Promise<(Record<Audience, string> & { reasons: Record<Audience, HoldReason>; until: number }) | undefined> {
  const hold = await store.findHold(db, workspaceId);
  if (!hold) return undefined;
  const { quota, quota_limit: limit, used, until } = hold;
  const reasonFor = (audience: Audience): HoldReason => ({
    code: 'quota_paused',
    parameters: { ...parametersFor({ quota, limit, used }, audience), until: isoTime(until) },
  });
  const reasons = { operator: reasonFor('operator'), customer: reasonFor('customer') };
  return {
    operator: sayReason(reasons.operator, 'operator'),
    customer: sayReason(reasons.customer, 'customer'),
    reasons,
    until,
  };
}

/** Throws if a quota holds the workspace back. */
export async function assertNotHeld(ctx: WorkspacesContext, workspaceId: string, audience: Audience): Promise<void> {
  const hold = await findHoldReasons(ctx.store.db, workspaceId);
  if (!hold) return;
  const retryAfterSeconds = (hold.until - (await ctx.store.now())) / 1000;
  const { parameters } = hold.reasons[audience];
  throw new AppError('quota_reached', { words: hold[audience], ...parameters, retryAfterSeconds });
}
