/**
 * Effects of quotas on a workspace's platform state. A quota can hold the syncs of an active workspace. Its connections
 * are then disabled by the same operation as for an inactive workspace, which remembers them and re-enables exactly
 * those once nothing holds the workspace and it is active. Connections that a person paused stay paused. The same
 * operation sets the platform's limit of concurrent syncs.
 */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { Db } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import type { WorkspacesContext } from './context.ts';
import * as operations from './operations.store.ts';
import * as workspaces from './workspaces.store.ts';

/** Whether the connections of a workspace may run. */
export function runStatus({ status, held_since }: Pick<WorkspaceRow, 'status' | 'held_since'>): WorkspaceStatus {
  return held_since === null ? status : 'inactive';
}

/** The workspace, which is locked until the transaction ends; undefined when it is not live. */
export async function lockLiveWorkspace(
  tx: Db,
  organizationId: string,
  workspaceId: string,
): Promise<WorkspaceRow | undefined> {
  const row = await workspaces.lockWorkspace(tx, organizationId, workspaceId);
  return row?.lifecycle === 'live' ? row : undefined;
}

/** Begins or ends a hold. The caller has locked the workspace, and drives the operation once this is committed. */
export async function recordHold(
  ctx: WorkspacesContext,
  tx: Db,
  { organization_id: organizationId, id }: WorkspaceRow,
  isHeld: boolean,
): Promise<void> {
  await workspaces.recordHold(tx, organizationId, id, isHeld);
  await ctx.contents.followStatus(ctx.journal, tx, id);
  await openStatusOperation(ctx, tx, organizationId, id);
}

/**
 * Lowers or raises the platform's limit of concurrent syncs. Null: as many as it allows. False if unchanged. The caller
 * has locked the workspace and drives the operation after the commit.
 */
export async function recordSyncLimit(
  ctx: WorkspacesContext,
  tx: Db,
  { organization_id: organizationId, id, sync_limit }: WorkspaceRow,
  limit: number | null,
): Promise<boolean> {
  if (hasSyncLimit({ sync_limit }, limit)) return false;
  await workspaces.recordSyncLimit(tx, organizationId, id, limit ?? 0);
  await openStatusOperation(ctx, tx, organizationId, id);
  return true;
}

export function hasSyncLimit({ sync_limit }: Pick<WorkspaceRow, 'sync_limit'>, limit: number | null): boolean {
  return (sync_limit ?? 0) === (limit ?? 0);
}

/** Updates the platform again, because a sync that was left running has ended. */
export async function openStatusOperation(
  ctx: WorkspacesContext,
  tx: Db,
  organizationId: string,
  workspaceId: string,
): Promise<void> {
  const nobody = { leaseId: ctx.runtime.newId(), leaseMs: 0, lingerMs: 0 };
  await operations.openOperation(tx, { organizationId, workspaceId, kind: 'status' }, nobody);
}
