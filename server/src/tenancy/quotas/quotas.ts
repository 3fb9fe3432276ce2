/**
 * Quotas: what a workspace may have and move. The organization has limits for each of its workspaces; a workspace may
 * have its own in place of any of them.
 *
 * What always holds: a limit on how many sources or connections there are is compared while the workspace is locked, so
 * parallel requests on any number of replicas never make more. A sync counts from the transaction that accepts it. Amounts
 * are counted in the transaction that records the end of a sync, so a sync counts once. A lower limit takes nothing away: it
 * only stops what would come next.
 */
import type { Audience } from '@inlay/contract/pipelines/health';
import type {
  LimitedQuota,
  PutQuotasRequest,
  PutWorkspaceQuotasRequest,
  Quotas,
  Usage,
  WorkspaceQuotas,
} from '@inlay/contract/tenancy/quotas';
import type { Db } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import { lockLiveWorkspace } from '../workspaces/holds.ts';
import { driveOperation } from '../workspaces/operations.ts';
import { getWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { reviewWorkspace } from './holds.ts';
import { combine, type Given, levelOf, limitsOf, parse, readGiven } from './limits.ts';
import { dayOf, type Periods, periodsAt } from './periods.ts';
import { parametersFor, refusalWords, tooSoonWords } from './quota-words.ts';
import * as store from './quotas.store.ts';

export async function getQuotas(ctx: WorkspacesContext, organizationId: string): Promise<Quotas> {
  return await limitsOf(ctx.store.db, organizationId, organizationId);
}

export async function putQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  request: PutQuotasRequest,
): Promise<Quotas> {
  const given = readGiven(request);
  await ctx.store.transaction(async (tx) => {
    const before = parse((await store.findLimits(tx, organizationId, organizationId)).get(organizationId));
    await store.putLimits(tx, organizationId, organizationId, JSON.stringify(given));
    const change = { before, after: given };
    await ctx.journal.record(tx, organizationId, { type: 'quota.updated', data: { quotas: given }, change });
  });
  return await getQuotas(ctx, organizationId);
}

export async function deleteQuotas(ctx: WorkspacesContext, organizationId: string): Promise<Quotas> {
  // Kept without limits, so that its workspaces are reviewed.
  return await putQuotas(ctx, organizationId, {});
}

export async function getWorkspaceQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaceId: string,
): Promise<WorkspaceQuotas> {
  const { id } = await getWorkspace(ctx, organizationId, workspaceId);
  const found = await store.findLimits(ctx.store.db, organizationId, id);
  const own = parse(found.get(id));
  return { own, quotas: combine(parse(found.get(organizationId)), own) };
}

export async function putWorkspaceQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaceId: string,
  request: PutWorkspaceQuotasRequest,
): Promise<WorkspaceQuotas> {
  const { id } = await getWorkspace(ctx, organizationId, workspaceId);
  const given = readGiven(request);
  await change(ctx, organizationId, id, given, (tx) => store.putLimits(tx, organizationId, id, JSON.stringify(given)));
  return await getWorkspaceQuotas(ctx, organizationId, id);
}

export async function deleteWorkspaceQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaceId: string,
): Promise<WorkspaceQuotas> {
  const { id } = await getWorkspace(ctx, organizationId, workspaceId);
  await change(ctx, organizationId, id, {}, (tx) => store.removeLimits(tx, organizationId, id));
  return await getWorkspaceQuotas(ctx, organizationId, id);
}

/** The workspace follows its new limits at once. */
async function change(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaceId: string,
  quotas: Given,
  work: (tx: Db) => Promise<void>,
): Promise<void> {
  const ref = { organizationId, workspaceId };
  const isToTell = await ctx.store.transaction(async (tx) => {
    const before = parse((await store.findLimits(tx, organizationId, workspaceId)).get(workspaceId));
    await work(tx);
    const change = { before, after: quotas };
    await ctx.journal.record(tx, organizationId, { type: 'quota.updated', workspaceId, data: { quotas }, change });
    return await reviewWorkspace(ctx, tx, ref);
  });
  if (isToTell) await driveOperation(ctx, { ...ref, kind: 'status' });
}

/**
 * Throws if the workspace may not have so many more. The caller has locked the workspace, and adds them in this transaction:
 * if that takes the workspace near a limit, or to it, the log says so.
 */
export async function takeRoom(
  journal: Journal,
  tx: Db,
  { organizationId, workspaceId, audience }: { organizationId: string; workspaceId: string; audience: Audience },
  more: Partial<Record<'sources' | 'connections', number>>,
): Promise<void> {
  const limits = await limitsOf(tx, organizationId, workspaceId);
  const bounded = (['sources', 'connections'] as const).flatMap((quota) => {
    const [limit, wanted] = [limits[quota], more[quota] ?? 0];
    return limit === null || wanted === 0 ? [] : [{ quota, limit, wanted }];
  });
  if (bounded.length === 0) return;
  const most = (name: string) => bounded.find(({ quota }) => quota === name)?.limit ?? 0;
  // One more than the limit: a limit may have been lowered below what there is.
  const wish = { sources: most('sources') + 1, connections: most('connections') + 1 };
  const counts = await store.countUpTo(tx, workspaceId, wish);
  for (const { quota, limit, wanted } of bounded) {
    const used = counts[quota];
    if (used + wanted > limit) throw reached({ quota, limit, used }, audience);
    const level = levelOf(used + wanted, limit);
    if (level === undefined || level === levelOf(used, limit)) continue;
    const data = { quota, limit, used: used + wanted, period_ends_at: null };
    await journal.record(tx, organizationId, { type: `quota.${level}`, workspaceId, data });
  }
}

function reached(facts: { quota: LimitedQuota; limit: number; used: number }, audience: Audience) {
  return new AppError('quota_reached', { words: refusalWords(facts, audience), ...parametersFor(facts, audience) });
}

/**
 * Accepts a sync of a connection, which counts from now on, or throws if it may not start now. `last`: when its latest
 * sync started. True if the caller must call `endStart` once the outcome is known.
 */
export async function acceptSync(
  ctx: WorkspacesContext,
  scope: { organizationId: string; workspaceId: string; audience: Audience },
  connectionId: string,
  last: number | undefined,
): Promise<boolean> {
  const { organizationId, workspaceId, audience } = scope;
  const { concurrent_syncs: limit, shortest_interval_seconds: seconds } = await limitsOf(
    ctx.store.db,
    organizationId,
    workspaceId,
  );
  if (seconds !== null && last !== undefined) {
    const from = last + seconds * 1000;
    const waitMs = from - (await ctx.store.now());
    // A sync that was started in the future was started before the clock was set back.
    if (waitMs > 0 && waitMs <= seconds * 1000) {
      const words = tooSoonWords(seconds, from, audience);
      const reached = { quota: 'shortest_interval_seconds', limit: seconds, until: isoTime(from) } as const;
      throw new AppError('quota_reached', { words, ...reached, retryAfterSeconds: waitMs / 1000 });
    }
  }
  if (limit === null) return false;
  const used = await reserveSync(ctx, scope, connectionId, limit);
  if (used !== undefined) throw reached({ quota: 'concurrent_syncs', limit, used }, audience);
  return true;
}

/** Longer than the platform takes to answer. */
const startingMs = 30_000;

/**
 * Undefined when the sync counts from now on; otherwise how many others do. The workspace is locked, so parallel requests on
 * any number of replicas never accept more than the limit.
 */
async function reserveSync(
  ctx: WorkspacesContext,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  connectionId: string,
  limit: number,
): Promise<number | undefined> {
  return await ctx.store.transaction(async (tx) => {
    await lockLiveWorkspace(tx, organizationId, workspaceId);
    const { count, isStarting } = await store.countAccepted(tx, workspaceId, connectionId);
    if (isStarting) throw new AppError('sync_already_running');
    if (count >= limit) return count;
    await store.putStarting(tx, workspaceId, connectionId, startingMs + ctx.settleMs);
    return undefined;
  });
}

/**
 * The same for the first sync of a connection, which nobody asked for. False when it has to wait until another one has
 * ended; undefined when nothing counts it, because no limit is set or the platform lets it wait for its turn.
 */
export async function acceptFirstSync(
  ctx: WorkspacesContext,
  workspace: Pick<WorkspaceRow, 'organization_id' | 'id' | 'sync_limit_kept'>,
  connectionId: string,
): Promise<boolean | undefined> {
  const scope = { organizationId: workspace.organization_id, workspaceId: workspace.id };
  const limit = workspace.sync_limit_kept === 1 ? null : await syncLimitOf(ctx.store.db, scope);
  return limit === null ? undefined : (await reserveSync(ctx, scope, connectionId, limit)) === undefined;
}

/** How many syncs of a workspace may run at the same time; null: as many as the platform allows. */
export async function syncLimitOf(
  tx: Db,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
): Promise<number | null> {
  return (await limitsOf(tx, organizationId, workspaceId)).concurrent_syncs;
}

/** The sync that was accepted is recorded, or was certainly not started. */
export async function endStart(tx: Db, workspaceId: string, connectionId: string): Promise<void> {
  await store.putStarting(tx, workspaceId, connectionId, 0);
}

/** A sync has ended. In the transaction that records that, so that it counts once. */
export async function countSync(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  sync: { endedAt: number; rows: number; bytes: number },
): Promise<void> {
  const { endedAt, rows, bytes } = sync;
  await store.addUse(tx, organizationId, workspaceId, { day: dayOf(endedAt), rows, bytes });
}

export async function getUsage(ctx: WorkspacesContext, organizationId: string, workspaceId: string): Promise<Usage> {
  const workspace = await getWorkspace(ctx, organizationId, workspaceId);
  const [usage] = await usageOf(ctx, organizationId, [workspace]);
  return usage as Usage;
}

export async function listUsage(
  ctx: WorkspacesContext,
  organizationId: string,
  page: { limit: number; cursor: string | undefined },
): Promise<{ data: Usage[]; next: string | undefined }> {
  const { rows, next } = await listWorkspaces(ctx, organizationId, page);
  return { data: await usageOf(ctx, organizationId, rows), next };
}

async function usageOf(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaces: readonly Pick<WorkspaceRow, 'id' | 'name'>[],
): Promise<Usage[]> {
  const { db } = ctx.store;
  const ids = workspaces.map(({ id }) => id);
  const periods = periodsAt(await ctx.store.now());
  const limits = await store.listLimits(db, organizationId, ids);
  const counts = await store.countAll(db, ids);
  const synced = await store.sumUse(db, ids, periods);
  return workspaces.map(({ id, name }) => {
    const quotas = combine(parse(limits.get(organizationId)), parse(limits.get(id)));
    const used = { ...nothingUsed, ...counts.get(id), ...synced.get(id) };
    return presentUsage({ id, name }, quotas, used, periods);
  });
}

type Used = store.Counts & store.Synced;

const nothingUsed: Used = {
  sources: 0,
  connections: 0,
  concurrent_syncs: 0,
  rows_per_day: 0,
  rows_per_month: 0,
  bytes_per_day: 0,
  bytes_per_month: 0,
};

function presentUsage({ id, name }: { id: string; name: string }, quotas: Quotas, used: Used, periods: Periods): Usage {
  const pair = (quota: keyof Used) => ({ used: used[quota], limit: quotas[quota] });
  return {
    workspace_id: id,
    workspace_name: name,
    sources: pair('sources'),
    connections: pair('connections'),
    concurrent_syncs: pair('concurrent_syncs'),
    rows_per_day: pair('rows_per_day'),
    rows_per_month: pair('rows_per_month'),
    bytes_per_day: pair('bytes_per_day'),
    bytes_per_month: pair('bytes_per_month'),
    shortest_interval_seconds: quotas.shortest_interval_seconds,
    day_ends_at: isoTime(periods.nextDay),
    month_ends_at: isoTime(periods.nextMonth),
  };
}
