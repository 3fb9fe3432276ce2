/** Live workspaces for what is inside them: looked up, held while something is added, and told of a new connection. */
import type { Db } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import type { WorkspacesContext } from './context.ts';
import * as workspaces from './workspaces.store.ts';

export async function findLiveWorkspace(
  { store }: WorkspacesContext,
  organizationId: string,
  id: string,
): Promise<WorkspaceRow | undefined> {
  const row = await workspaces.findWorkspace(store.db, organizationId, id);
  return row?.lifecycle === 'live' ? row : undefined;
}

/** Keeps it from being deleted or (de)activated until the transaction ends. */
export async function holdLiveWorkspace(tx: Db, organizationId: string, id: string): Promise<WorkspaceRow> {
  const row = await workspaces.lockWorkspace(tx, organizationId, id);
  if (!row || row.lifecycle === 'deleted') throw new AppError('workspace_not_found');
  if (row.lifecycle === 'deleting') throw new AppError('workspace_being_deleted');
  return row;
}

/**
 * A new connection of an inactive workspace is enabled with it, as those that were there before. Records nothing if the
 * workspace is no longer as it was read: the caller looks again.
 */
export async function recordNewConnection(
  { store }: WorkspacesContext,
  { organization_id: organizationId, id, status, gen }: WorkspaceRow,
  connectionId: string,
): Promise<void> {
  await store.transaction(async (tx) => {
    const present = await workspaces.lockWorkspace(tx, organizationId, id);
    if (present?.lifecycle !== 'live' || present.gen !== gen) return;
    if (status === 'inactive') await workspaces.rememberPaused(tx, id, [connectionId]);
    else await workspaces.forgetPaused(tx, id, connectionId);
  });
}
