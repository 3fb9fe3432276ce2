/**
 * Quotas: what a workspace may have and move. The organization has limits for each of its workspaces; a workspace may
 * have its own in place of any of them.
 *
 * What always holds: a limit on how many sources or connections there are is compared while the workspace is locked, so
 * parallel requests on any number of replicas never make more. Amounts are counted in the transaction that records the end
 * of a sync, so a sync counts once. A lower limit takes nothing away: it only stops what would come next.
 */
import type { Audience } from '@inlay/contract/health';
import type { LimitedQuota } from '@inlay/contract/quota-words';
import type {
  PutQuotasRequest,
  PutWorkspaceQuotasRequest,
  Quotas,
  Usage,
  WorkspaceQuotas,
} from '@inlay/contract/quotas';
import type { Db } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import { driveOperation } from '../workspaces/operations.ts';
import { getWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { reviewWorkspace } from './holds.ts';
import { combine, type Given, levelOf, limitsOf, parse, readGiven } from './limits.ts';
import { dayOf, type Periods, periodsAt } from './periods.ts';
import { refusalWords, tooSoonWords } from './quota-words.ts';
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
  { journal }: Pick<WorkspacesContext, 'journal'>,
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
  return new AppError('quota_reached', { words: refusalWords(facts, audience) });
}

/** Throws if no sync of the connection may be started now. `last`: when its newest sync was started. */
export async function assertMaySync(
  ctx: WorkspacesContext,
  { organizationId, workspaceId, audience }: { organizationId: string; workspaceId: string; audience: Audience },
  last: number | undefined,
): Promise<void> {
  const { db } = ctx.store;
  const { concurrent_syncs: limit, shortest_interval_seconds: seconds } = await limitsOf(
    db,
    organizationId,
    workspaceId,
  );
  if (limit !== null) {
    const used = await store.countSyncsUpTo(db, workspaceId, limit);
    if (used >= limit) throw reached({ quota: 'concurrent_syncs', limit, used }, audience);
  }
  if (seconds === null || last === undefined) return;
  const from = last + seconds * 1000;
  const waitMs = from - (await ctx.store.now());
  if (waitMs <= 0) return;
  const words = tooSoonWords(seconds, from, audience);
  throw new AppError('quota_reached', { words, retryAfterSeconds: waitMs / 1000 });
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
  const moved = await store.sumUse(db, ids, periods);
  return workspaces.map(({ id, name }) => {
    const quotas = combine(parse(limits.get(organizationId)), parse(limits.get(id)));
    const used = { ...nothingUsed, ...counts.get(id), ...moved.get(id) };
    return presentUsage({ id, name }, quotas, used, periods);
  });
}

type Used = store.Counts & store.Moved;

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
