/**
 * Quotas: what a workspace may have and move. The organization has limits for each of its workspaces; a workspace may
 * have its own in place of any of them.
 *
 * What always holds: a limit on how many sources or connections there are is compared while the workspace is locked, so
 * parallel requests on any number of replicas never make more. Amounts are counted in the transaction that records the end
 * of a sync, so a sync counts once. A lower limit takes nothing away: it only stops what would come next.
 */
import type { Audience } from '@inlay/contract/health';
import {
  type PutQuotasRequest,
  type PutWorkspaceQuotasRequest,
  type QuotaName,
  type Quotas,
  quotaNames,
  type Usage,
  type WorkspaceQuotas,
} from '@inlay/contract/quotas';
import type { Db } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import { getWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { dayOf, type Periods, periodsAt } from './periods.ts';
import { refusalWords } from './quota-words.ts';
import * as store from './quotas.store.ts';

type Given = PutWorkspaceQuotasRequest;

const nothing: Given = {};

/** What is set, without what is left out, in one order. */
function readGiven(request: PutQuotasRequest | PutWorkspaceQuotasRequest): Given {
  return Object.fromEntries(quotaNames.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])));
}

const parse = (limits: string | undefined): Given => (limits === undefined ? nothing : JSON.parse(limits));

function combine(organization: Given, workspace: Given): Quotas {
  const all = quotaNames.map((name) => {
    const own = workspace[name];
    return [name, own === undefined ? (organization[name] ?? null) : own];
  });
  return Object.fromEntries(all) as Quotas;
}

/** What a workspace may have: its own limits, and the organization's where it has none. */
export async function limitsOf(db: Db, organizationId: string, workspaceId: string): Promise<Quotas> {
  const found = await store.findLimits(db, organizationId, workspaceId);
  return combine(parse(found.get(organizationId)), parse(found.get(workspaceId)));
}

export async function getQuotas(ctx: WorkspacesContext, organizationId: string): Promise<Quotas> {
  return await limitsOf(ctx.store.db, organizationId, organizationId);
}

export async function putQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  request: PutQuotasRequest,
): Promise<Quotas> {
  await store.putLimits(ctx.store.db, organizationId, organizationId, JSON.stringify(readGiven(request)));
  return await getQuotas(ctx, organizationId);
}

export async function deleteQuotas(ctx: WorkspacesContext, organizationId: string): Promise<Quotas> {
  await store.removeLimits(ctx.store.db, organizationId, organizationId);
  return await getQuotas(ctx, organizationId);
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
  await store.putLimits(ctx.store.db, organizationId, id, JSON.stringify(readGiven(request)));
  return await getWorkspaceQuotas(ctx, organizationId, id);
}

export async function deleteWorkspaceQuotas(
  ctx: WorkspacesContext,
  organizationId: string,
  workspaceId: string,
): Promise<WorkspaceQuotas> {
  const { id } = await getWorkspace(ctx, organizationId, workspaceId);
  await store.removeLimits(ctx.store.db, organizationId, id);
  return await getWorkspaceQuotas(ctx, organizationId, id);
}

/** Throws if the workspace may not have so many more. The caller has locked the workspace. */
export async function assertRoom(
  tx: Db,
  { organizationId, workspaceId, audience }: { organizationId: string; workspaceId: string; audience: Audience },
  more: Partial<Record<'sources' | 'connections', number>>,
): Promise<void> {
  const limits = await limitsOf(tx, organizationId, workspaceId);
  for (const quota of ['sources', 'connections'] as const) {
    const [limit, wanted] = [limits[quota], more[quota] ?? 0];
    if (limit === null || wanted === 0) continue;
    const used = await store.countUpTo(tx, workspaceId, quota, limit + 1);
    if (used + wanted > limit) throw reached({ quota, limit, used }, audience);
  }
}

function reached(facts: { quota: QuotaName; limit: number; used: number }, audience: Audience) {
  return new AppError('quota_reached', { words: refusalWords(facts, audience) });
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
