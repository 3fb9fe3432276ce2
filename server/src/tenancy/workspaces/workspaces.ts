/**
 * Workspaces: one per customer, in the local store and on the platform under the same id. This file owns reading,
 * listing, counting, renaming, (de)activating and deleting them; creation.ts creates, sync.ts imports, operations.ts
 * applies changes on the platform.
 *
 * Invariants: every change is recorded here first and applied on the platform afterwards, so a crash loses nothing; a
 * deleted workspace is never visible again; `updated_at` only grows.
 */
import type { UpdateWorkspaceRequest, Workspace, WorkspaceStatistics } from '@inlay/contract/tenancy/workspaces';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import * as claims from './claims.store.ts';
import type { WorkspacesContext } from './context.ts';
import { nameRefused } from './creation.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { nameIdentity } from './names.ts';
import * as operations from './operations.store.ts';
import { delayOf, finishOperation, operationLease, Refused } from './operations.ts';
import { searchWorkspaces } from './search.store.ts';
import * as workspaces from './workspaces.store.ts';

export async function getWorkspace(
  { store }: { store: Store },
  organizationId: string,
  id: string,
): Promise<WorkspaceRow> {
  const row = await workspaces.findWorkspace(store.db, organizationId, id);
  if (!row) throw new AppError('workspace_not_found');
  return row;
}

/** As the API shows it. */
export async function showWorkspace(
  { store }: { store: Store },
  organizationId: string,
  id: string,
): Promise<Workspace> {
  const row = await workspaces.findShown(store.db, organizationId, id);
  if (!row) throw new AppError('workspace_not_found');
  return presentWorkspace(row);
}

/** For the widget page, whose address is signed and names the workspace without its organization. */
export async function isLiveWorkspace(ctx: WorkspacesContext, id: string): Promise<boolean> {
  return await workspaces.isLive(ctx.store.db, id);
}

interface ListRequest {
  nameContains?: string | undefined;
  status?: 'active' | 'inactive' | undefined;
  limit: number;
  cursor?: string | undefined;
}

interface WorkspaceRows {
  rows: workspaces.ShownWorkspace[];
  /** Cursor of the next page, if there is one. */
  next: string | undefined;
}

export async function listWorkspaces(
  ctx: WorkspacesContext,
  organizationId: string,
  { nameContains, status, limit, cursor }: ListRequest,
): Promise<WorkspaceRows> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  // One more than requested shows whether there is a next page.
  const [db, filter] = [ctx.store.db, { status, after }];
  const found = nameContains
    ? await searchWorkspaces(db, organizationId, nameContains, filter, limit + 1)
    : await workspaces.listWorkspaces(db, organizationId, filter, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? encodeCursor({ createdAt: last.created_at, id: last.id }) : undefined;
  return { rows, next };
}

export async function countWorkspaces(ctx: WorkspacesContext, organizationId: string): Promise<WorkspaceStatistics> {
  const { active, inactive } = await workspaces.countByStatus(ctx.store.db, organizationId);
  return { active_count: active, inactive_count: inactive, total_count: active + inactive };
}

export async function updateWorkspace(
  ctx: WorkspacesContext,
  organizationId: string,
  id: string,
  { name, status }: UpdateWorkspaceRequest,
): Promise<WorkspaceRow> {
  let failure: AppError | undefined;
  // The name first: if the platform refuses it, nothing else of the request has happened either.
  if (name !== undefined) failure = await renameWorkspace(ctx, organizationId, id, name);
  if (status !== undefined) failure = (await setStatus(ctx, organizationId, id, status)) ?? failure;
  const row = await getWorkspace(ctx, organizationId, id);
  // Deleted meanwhile: nothing of the request matters any more.
  assertLive(row);
  if (failure) throw failure;
  return row;
}

/** Returns the failure when the rename is recorded but not yet done; throws when it will never be done. */
async function renameWorkspace(
  ctx: WorkspacesContext,
  organizationId: string,
  id: string,
  name: string,
): Promise<AppError | undefined> {
  const ref = { organizationId, workspaceId: id, kind: 'rename' } as const;
  const leaseId = ctx.runtime.newId();
  const present = await getWorkspace(ctx, organizationId, id);
  let nameGen = present.name_gen;
  if (present.lifecycle !== 'live' || name !== (present.desired_name ?? present.name)) {
    nameGen = await ctx.store.transaction(async (tx) => {
      const row = await workspaces.lockWorkspace(tx, organizationId, id);
      assertLive(row);
      if (name === (row.desired_name ?? row.name)) return row.name_gen;
      const [wanted, current] = [nameIdentity(name), nameIdentity(row.name)];
      if (!(await claims.claimForWorkspace(tx, organizationId, wanted, id))) throw new AppError('workspace_name_taken');
      // A name that was wanted before and never became the name is free again.
      const dropped = row.desired_name === null ? undefined : nameIdentity(row.desired_name);
      if (dropped !== undefined && dropped !== wanted && dropped !== current) {
        await claims.dropClaims(tx, organizationId, id, dropped);
      }
      await operations.openOperation(tx, ref, operationLease(ctx, leaseId));
      const data = { wanted_name: name };
      const change = { before: { wanted_name: row.desired_name ?? row.name }, after: data };
      await ctx.journal.record(tx, organizationId, {
        type: 'workspace.rename_requested',
        workspaceId: id,
        data,
        change,
      });
      return await workspaces.recordDesiredName(tx, organizationId, id, name === row.name ? null : name);
    });
  } else if (!(await operations.isOpen(ctx.store.db, ref))) {
    return undefined;
  }

  const outcome = await finishOperation(ctx, ref, leaseId);
  const row = await getWorkspace(ctx, organizationId, id);
  assertLive(row);
  // The new name is in force, even if the operation stays open to write the name once more. Or a later rename has taken
  // over, and its own caller learns its outcome.
  if (row.name === name || row.name_gen !== nameGen) return undefined;
  const error = outcome.state === 'open' ? outcome.error : undefined;
  if (error instanceof Refused && error.failure === 'not_found') {
    throw new AppError('platform_lost_workspace', {}, { cause: error });
  }
  // The platform refused the name to us, or to another worker that did the operation for us.
  if (outcome.state === 'done' || error instanceof Refused) throw nameRefused('name');
  return new AppError('rename_recorded', { delay: delayOf(error) }, { cause: error });
}

async function setStatus(
  ctx: WorkspacesContext,
  organizationId: string,
  id: string,
  status: 'active' | 'inactive',
): Promise<AppError | undefined> {
  const ref = { organizationId, workspaceId: id, kind: 'status' } as const;
  const leaseId = ctx.runtime.newId();
  const present = await getWorkspace(ctx, organizationId, id);
  if (present.lifecycle !== 'live' || present.status !== status) {
    await ctx.store.transaction(async (tx) => {
      const row = await workspaces.lockWorkspace(tx, organizationId, id);
      assertLive(row);
      if (row.status === status) return;
      await workspaces.recordStatus(tx, organizationId, id, status);
      const type = status === 'active' ? 'workspace.activated' : 'workspace.deactivated';
      const change = { before: { status: row.status }, after: { status } };
      await ctx.journal.record(tx, organizationId, { type, workspaceId: id, data: {}, change });
      await ctx.contents.followStatus(ctx.journal, tx, id);
      await operations.openOperation(tx, ref, operationLease(ctx, leaseId));
    });
  } else if (!(await operations.isOpen(ctx.store.db, ref))) {
    return undefined;
  }

  const outcome = await finishOperation(ctx, ref, leaseId);
  if (outcome.state !== 'open') return undefined;
  // The remaining work then belongs to a later change, whose caller is notified.
  if ((await getWorkspace(ctx, organizationId, id)).status !== status) return undefined;
  const { error, pending, total } = outcome;
  if (pending !== undefined && total !== undefined) {
    const verb = status === 'inactive' ? 'disabled' : 'enabled';
    return new AppError('connections_pending', { pending, total, verb }, { cause: error });
  }
  return new AppError('status_recorded', { delay: delayOf(error) }, { cause: error });
}

/** A request while a deletion runs joins it; a request after it gets not-found. */
export async function deleteWorkspace(
  ctx: WorkspacesContext,
  organizationId: string,
  id: string,
): Promise<WorkspaceRow> {
  const ref = { organizationId, workspaceId: id, kind: 'delete' } as const;
  const leaseId = ctx.runtime.newId();
  await ctx.store.transaction(async (tx) => {
    const row = await workspaces.lockWorkspace(tx, organizationId, id);
    if (!row || row.lifecycle === 'deleted') throw new AppError('workspace_not_found');
    if (row.lifecycle === 'deleting') return;
    await recordDeletion(ctx, tx, row, operationLease(ctx, leaseId));
  });
  ctx.scopedTokens.forget();

  const outcome = await finishOperation(ctx, ref, leaseId);
  const row = await workspaces.findAnyWorkspace(ctx.store.db, organizationId, id);
  if (row?.lifecycle === 'deleted') return row;
  const error = outcome.state === 'open' ? outcome.error : undefined;
  throw new AppError('deletion_recorded', { delay: delayOf(error) }, { cause: error });
}

async function recordDeletion(
  ctx: Pick<WorkspacesContext, 'journal'>,
  tx: Db,
  { organization_id: organizationId, id, lifecycle }: WorkspaceRow,
  lease: operations.OperationLease,
): Promise<void> {
  await workspaces.recordDeleting(tx, organizationId, id);
  await ctx.journal.record(tx, organizationId, {
    type: 'workspace.deletion_requested',
    workspaceId: id,
    data: {},
    change: { before: { lifecycle }, after: { lifecycle: 'deleting' } },
  });
  await operations.closeOtherOperations(tx, organizationId, id);
  await operations.openOperation(tx, { organizationId, workspaceId: id, kind: 'delete' }, lease);
}

/** Leaves the platform to the reconciler. False if there is nothing left to delete. */
export async function deleteLater(
  ctx: Pick<WorkspacesContext, 'store' | 'journal' | 'runtime'>,
  organizationId: string,
  id: string,
): Promise<boolean> {
  return await ctx.store.transaction(async (tx) => {
    const row = await workspaces.lockWorkspace(tx, organizationId, id);
    if (row?.lifecycle !== 'live') return false;
    await recordDeletion(ctx, tx, row, { leaseId: ctx.runtime.newId(), leaseMs: 0, lingerMs: 0 });
    return true;
  });
}

/** Revokes every token issued so far for the workspace. */
export async function revokeWorkspaceTokens(ctx: WorkspacesContext, organizationId: string, id: string): Promise<void> {
  if (!(await revokeIssuedTokens(ctx, organizationId, id))) throw new AppError('workspace_not_found');
  ctx.scopedTokens.forget();
}

/** The same where no process remembers tokens. False if there is no such workspace. */
export async function revokeIssuedTokens(
  ctx: Pick<WorkspacesContext, 'store' | 'journal'>,
  organizationId: string,
  id: string,
): Promise<boolean> {
  return await ctx.store.transaction(async (tx) => {
    const generation = await workspaces.bumpTokenGeneration(tx, organizationId, id);
    if (generation === undefined) return false;
    const data = { all: true, token_id: null };
    const change = { before: { token_generation: generation - 1 }, after: { token_generation: generation } };
    await ctx.journal.record(tx, organizationId, { type: 'token.revoked', workspaceId: id, data, change });
    return true;
  });
}

function assertLive(row: WorkspaceRow | undefined): asserts row is WorkspaceRow {
  if (!row || row.lifecycle === 'deleted') throw new AppError('workspace_not_found');
  if (row.lifecycle === 'deleting') throw new AppError('workspace_being_deleted');
}

export function presentWorkspace(row: workspaces.ShownWorkspace): Workspace {
  return {
    id: row.id,
    name: row.name,
    organization_id: row.organization_id,
    status: row.status,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
