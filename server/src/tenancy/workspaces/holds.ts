/**
 * What quotas mean for a workspace on the platform. A quota may hold the syncs of an active workspace back. Its connections are then disabled as those of an inactive
 * workspace are, by the same operation: it remembers what it has disabled, and enables exactly that when nothing holds the
 * workspace back any more and it is active. So a connection that a person has paused stays paused. The same
 * operation tells the platform how many syncs may run at the same time.
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
 * The platform is to let no more syncs run at the same time; null: as many as it allows. False when that is nothing new. The
 * caller has locked the workspace, and drives the operation once this is committed.
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

/** The platform is told again: a sync that was left to run to its end has ended. */
export async function openStatusOperation(
  ctx: WorkspacesContext,
  tx: Db,
  organizationId: string,
  workspaceId: string,
): Promise<void> {
  const nobody = { leaseId: ctx.runtime.newId(), leaseMs: 0, lingerMs: 0 };
  await operations.openOperation(tx, { organizationId, workspaceId, kind: 'status' }, nobody);
}
