/**
 * Create-on-demand: a token request names a workspace, and exactly one workspace is created, here and on the platform.
 * This holds however many replicas ask at once, and wherever one of them dies.
 *
 * What always holds: a create is sent only by the holder of the name's lease, only after that intent is on disk, and
 * never while an earlier create may still take effect (the settle window). Binding a name to an id is
 * first-writer-wins; our workspace that came second is deleted. A create without an answer is remembered with its name
 * until someone has looked for its outcome. The name of every live workspace is claimed. So a rename can never take a
 * name that one of our workspaces has or may still get. No transaction is open during a call to the platform.
 */

import type { Db } from '../../kernel/db/open.ts';
import type { NameClaimRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { createTimeoutMs } from '../../kernel/platform/calls.ts';
import { PlatformError, type PlatformWorkspace } from '../../kernel/platform/platform-port.ts';
import type { Journal } from '../../log/events/journal.ts';
import { getPlatformOrganizationId } from '../organizations/organizations.ts';
import { shownForAudit } from './audited.ts';
import * as claims from './claims.store.ts';
import type { WorkspacesContext } from './context.ts';
import { nameIdentity } from './names.ts';
import { openOperation } from './operations.store.ts';
import * as workspaces from './workspaces.store.ts';

export const leaseMs = 20_000;
const patienceMs = 25_000;
const settlePollMs = 2_000;

export interface WorkspaceRequest {
  organizationId: string;
  name: string;
  regionId: string;
}

/**
 * The live workspace with that name; it is created if there is none. A known name costs one read, no write and no call
 * to the platform.
 */
export async function ensureWorkspace(
  ctx: WorkspacesContext,
  request: WorkspaceRequest,
): Promise<claims.NamedWorkspace> {
  const identity = nameIdentity(request.name);
  const known = await findLive(ctx, request.organizationId, identity);
  if (known) return known;
  return await ctx.joinable.startOrJoin(`create ${request.organizationId} ${identity}`, () =>
    create(ctx, request, identity),
  );
}

async function findLive(
  { store }: WorkspacesContext,
  organizationId: string,
  identity: string,
): Promise<claims.NamedWorkspace | undefined> {
  const row = await claims.findWorkspaceByName(store.db, organizationId, identity);
  if (row?.lifecycle === 'deleting') throw new AppError('workspace_being_deleted');
  return row;
}

async function create(
  ctx: WorkspacesContext,
  request: WorkspaceRequest,
  identity: string,
): Promise<claims.NamedWorkspace> {
  const { runtime, store } = ctx;
  const deadline = runtime.elapsed() + patienceMs;
  for (;;) {
    const lease = { organizationId: request.organizationId, name: identity, leaseId: runtime.newId() };
    const claim = await claims.takeLease(store.db, lease, leaseMs);
    if (claim) {
      const created = await createAsOwner(ctx, request, lease, claim, deadline);
      if (created) return created;
    }
    const known = await findLive(ctx, request.organizationId, identity);
    if (known) return known;
    if (runtime.elapsed() >= deadline) throw new AppError('creation_pending');
    await runtime.sleep(100 + runtime.random() * 400);
  }
}

/** Undefined when the lease was lost meanwhile, or when another process bound the name. */
async function createAsOwner(
  ctx: WorkspacesContext,
  request: WorkspaceRequest,
  lease: claims.Lease,
  claim: { no_post_before: number; now: number },
  deadline: number,
): Promise<WorkspaceRow | undefined> {
  const { runtime, store, platform } = ctx;
  const platformOrganizationId = await getPlatformOrganizationId(ctx.store, request.organizationId);
  let waitMs = Math.max(0, claim.no_post_before - claim.now);
  try {
    for (;;) {
      const adopted = await adopt(ctx, request.organizationId, platformOrganizationId, lease.name);
      if (adopted) return adopted;
      if (waitMs === 0) break;
      ctx.metrics.workspaceEvent('settle_wait');
      const pauseMs = Math.min(settlePollMs, waitMs);
      if (runtime.elapsed() + pauseMs > deadline) {
        await claims.releaseLease(store.db, lease, 'waiting for an unconfirmed create to settle');
        throw new AppError('creation_pending', { retryAfterSeconds: Math.max(2, waitMs / 1000) });
      }
      await runtime.sleep(pauseMs);
      const renewed = await claims.renewLease(store.db, lease, leaseMs);
      if (!renewed) return undefined;
      waitMs = renewed.waitMs;
    }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    // No create was sent this time. If none was ever sent, the claim is needed only when a live workspace has the name.
    if (claim.no_post_before === 0) await store.transaction((tx) => claims.dropUnboundClaim(tx, lease));
    else await claims.releaseLease(store.db, lease, error.message);
    throw refusal(error, 'reading');
  }

  if (!(await prepareToSend(ctx, lease))) return undefined;
  let created: PlatformWorkspace;
  try {
    created = await platform.createWorkspace({
      organizationId: platformOrganizationId,
      name: request.name,
      regionId: request.regionId,
    });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.failure === 'unknown') await claims.releaseLease(store.db, lease, error.message);
    else await store.transaction((tx) => claims.dropUnboundClaim(tx, lease));
    throw refusal(error, 'creating');
  }
  ctx.metrics.workspaceEvent('workspace_created');
  return await store.transaction((tx) => bindCreated(ctx, tx, request, lease, created.id));
}

/**
 * Puts the intent on disk. A process that was suspended meanwhile does it again, because it must send within its own
 * lease.
 */
async function prepareToSend({ runtime, store, settleMs }: WorkspacesContext, lease: claims.Lease): Promise<boolean> {
  for (;;) {
    const startedAt = runtime.elapsed();
    if (!(await claims.openSettleWindow(store.db, lease, leaseMs, createTimeoutMs + settleMs))) return false;
    if (runtime.elapsed() - startedAt < leaseMs - createTimeoutMs) return true;
  }
}

async function bindCreated(
  ctx: WorkspacesContext,
  tx: Db,
  { organizationId, name }: WorkspaceRequest,
  lease: claims.Lease,
  id: string,
): Promise<WorkspaceRow | undefined> {
  const identity = lease.name;
  const isNew = (await workspaces.insertMissing(tx, organizationId, [{ id, name }])).length > 0;
  const row = await workspaces.lockWorkspace(tx, organizationId, id);
  // Another process adopted the workspace and deleted it while we waited for the answer.
  if (row?.lifecycle !== 'live') return undefined;
  // Or another process adopted and renamed it: now it belongs to that name, and is no duplicate.
  if ((await withoutTaken(tx, organizationId, identity, [{ id, name }])).length === 0) return undefined;
  const boundTo = await claims.bindIfUnbound(tx, organizationId, identity, id);
  if (boundTo === id) {
    const change = { before: undefined, after: shownForAudit(row) };
    const created = { type: 'workspace.created', workspaceId: id, data: {}, change } as const;
    if (isNew) await ctx.journal.record(tx, organizationId, created);
    await claims.closeSettleWindow(tx, lease);
    return row;
  }
  // The name belongs to another workspace by now: ours is a duplicate that nobody has a token for.
  ctx.metrics.workspaceEvent('orphan_found');
  ctx.log.warn({ workspaceId: id, boundTo }, 'Deleting duplicate workspace');
  await workspaces.recordDeleted(tx, organizationId, id);
  // A duplicate that nobody has seen here comes and goes without an entry.
  const change = { before: shownForAudit(row), after: undefined };
  const deleted = { type: 'workspace.deleted', workspaceId: id, data: {}, change } as const;
  if (!isNew) await ctx.journal.record(tx, organizationId, deleted);
  const orphan = { organizationId, workspaceId: id, kind: 'orphan_delete' } as const;
  await openOperation(tx, orphan, { leaseId: ctx.runtime.newId(), leaseMs: 0, lingerMs: 0 });
  return undefined;
}

/**
 * Binds the name to a workspace that exists already: on the platform, if it may be ours, or only here. If the
 * platform's list lacks a workspace that we know, the workspace may still exist.
 */
export async function adopt(
  ctx: WorkspacesContext,
  organizationId: string,
  platformOrganizationId: string,
  identity: string,
): Promise<WorkspaceRow | undefined> {
  const found = await ctx.platform.findWorkspacesByName(platformOrganizationId, identity);
  const here = await workspaces.listLiveByName(ctx.store.db, organizationId, identity);
  const free = await withoutTaken(ctx.store.db, organizationId, identity, found);
  const adoptable: workspaces.NewWorkspace[] = [
    ...free,
    ...here.filter(({ id }) => !free.some((workspace) => workspace.id === id)),
  ];
  if (adoptable.length > 1) {
    ctx.metrics.workspaceEvent('name_ambiguous');
    ctx.log.warn({ workspaceIds: adoptable.map(({ id }) => id) }, 'Several workspaces on the platform share a name');
  }
  for (const candidate of adoptable) {
    const adopted = await ctx.store.transaction(async (tx) => {
      const inserted = await workspaces.insertMissing(tx, organizationId, [candidate]);
      await recordAdopted(ctx.journal, tx, organizationId, inserted);
      const row = await workspaces.lockWorkspace(tx, organizationId, candidate.id);
      // The row is locked now, so look again: the workspace may be deleted, renamed, or of another organization.
      if (row?.lifecycle !== 'live') return undefined;
      const isCalledSo = nameIdentity(row.name) === identity;
      if (!isCalledSo && (await withoutTaken(tx, organizationId, identity, [candidate])).length === 0) return undefined;
      const boundTo = await claims.bindIfUnbound(tx, organizationId, identity, candidate.id);
      return boundTo === candidate.id ? row : await workspaces.findWorkspace(tx, organizationId, boundTo);
    });
    if (adopted) {
      ctx.metrics.workspaceEvent('workspace_adopted');
      return adopted;
    }
  }
  return undefined;
}

/**
 * For a name that was bound while a create for it was unanswered: if the create did make a workspace, it is recorded
 * next to the bound one. It is not deleted, because someone else may have created it.
 */
export async function recordLostCreate(ctx: WorkspacesContext, claim: NameClaimRow): Promise<void> {
  const { organization_id: organizationId, name } = claim;
  const platformOrganizationId = await getPlatformOrganizationId(ctx.store, organizationId);
  const found = await ctx.platform.findWorkspacesByName(platformOrganizationId, name);
  const recorded = await ctx.store.transaction(async (tx) => {
    const inserted = await workspaces.insertMissing(tx, organizationId, found);
    await recordAdopted(ctx.journal, tx, organizationId, inserted);
    // If the name was freed while we looked, it now belongs to this workspace.
    if (inserted[0]) await claims.bindIfUnbound(tx, organizationId, name, inserted[0].id);
    await claims.recordSettled(tx, claim.organization_id, claim);
    return inserted;
  });
  if (recorded.length === 0) return;
  ctx.metrics.workspaceEvent('name_ambiguous');
  ctx.log.warn(
    { workspaceIds: recorded.map(({ id }) => id), boundTo: claim.workspace_id },
    'Lost workspace creation took effect after its name was bound to another workspace',
  );
}

/** Workspaces that the platform had already, and that are known here from now on. */
export async function recordAdopted(
  journal: Journal,
  tx: Db,
  organizationId: string,
  adopted: readonly WorkspaceRow[],
): Promise<void> {
  const entries = adopted.map((row) => {
    const change = { before: undefined, after: shownForAudit(row) };
    return { type: 'workspace.adopted', workspaceId: row.id, data: {}, change } as const;
  });
  await journal.record(tx, organizationId, ...entries);
}

/** Leaves out workspaces that are deleted here, and workspaces that are bound to another name. */
async function withoutTaken(
  db: Db,
  organizationId: string,
  identity: string,
  found: workspaces.NewWorkspace[],
): Promise<workspaces.NewWorkspace[]> {
  const ids = found.map(({ id }) => id);
  const known = await workspaces.findByIds(db, organizationId, ids);
  const gone = new Set(known.filter((row) => row.lifecycle !== 'live').map((row) => row.id));
  const bound = await claims.claimsOf(db, organizationId, ids);
  const elsewhere = new Set(bound.filter((claim) => claim.name !== identity).map((claim) => claim.workspace_id));
  return found.filter(({ id }) => !gone.has(id) && !elsewhere.has(id));
}

function refusal(error: PlatformError, doing: 'reading' | 'creating'): AppError {
  const options = { cause: error };
  const retry = error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds };
  switch (error.failure) {
    case 'unknown':
      return new AppError(error.timedOut ? 'creation_timed_out' : 'creation_unconfirmed', {}, options);
    case 'throttled':
      return new AppError('platform_rate_limited', retry, options);
    case 'unauthorised':
      return new AppError('platform_credentials_rejected', {}, options);
    case 'rejected':
      if (doing === 'creating') return nameRefused('workspace_name');
      return new AppError('platform_refused', {}, options);
    case 'not_found':
      return new AppError('platform_refused', {}, options);
    case 'unavailable':
      return new AppError('platform_unavailable', retry, options);
  }
}

export function nameRefused(field: string): AppError {
  return invalidRequest({
    loc: ['body', field],
    msg: 'the platform does not accept this name',
    type: 'value_error.name',
  });
}
