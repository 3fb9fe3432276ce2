/**
 * Live workspaces for the code of `pipelines/`: finding one, locking it while something is added, recording a new
 * connection. Their `status` says whether syncs may run in them: a workspace whose syncs a quota holds back is shown here
 * as inactive.
 */
import type { Db, Store } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { WorkspacesContext } from './context.ts';
import { runStatus } from './holds.ts';
import * as operations from './operations.store.ts';
import * as workspaces from './workspaces.store.ts';

export async function findLiveWorkspace(
  { store }: WorkspacesContext,
  organizationId: string,
  id: string,
): Promise<LiveWorkspace | undefined> {
  return await readWorkspace(store.db, organizationId, id);
}

/** For what needs a workspace and changes nothing in it. */
export const findOldestWorkspaceId = ({ db }: Pick<Store, 'db'>, organizationId: string): Promise<string | undefined> =>
  workspaces.findOldestLiveId(db, organizationId);

/** Locks the workspace, so that it is not deleted or (de)activated before the transaction ends. */
export async function holdLiveWorkspace(tx: Db, organizationId: string, id: string): Promise<LiveWorkspace> {
  const row = await workspaces.lockWorkspace(tx, organizationId, id);
  if (!row || row.lifecycle === 'deleted') throw new AppError('workspace_not_found');
  if (row.lifecycle === 'deleting') throw new AppError('workspace_being_deleted');
  return asRun(row);
}

export interface LiveWorkspace extends WorkspaceRow {
  /** It is inactive itself, whatever holds its syncs back besides. */
  isDeactivated: boolean;
}

function asRun(row: WorkspaceRow): LiveWorkspace {
  return { ...row, status: runStatus(row), isDeactivated: row.status === 'inactive' };
}

/**
 * A new connection of an inactive workspace is enabled together with the workspace, like the older connections. Records
 * nothing if the workspace has changed since it was read: then the caller looks again.
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

/** As the transaction sees it; undefined when it is not live. */
export async function readWorkspace(tx: Db, organizationId: string, id: string): Promise<LiveWorkspace | undefined> {
  const row = await workspaces.findWorkspace(tx, organizationId, id);
  return row?.lifecycle === 'live' ? asRun(row) : undefined;
}

/** The same, but undefined while the platform is being updated about the workspace's status. */
export async function readSettledWorkspace(
  tx: Db,
  organizationId: string,
  id: string,
): Promise<LiveWorkspace | undefined> {
  if (await operations.isOpen(tx, { organizationId, workspaceId: id, kind: 'status' })) return undefined;
  return await readWorkspace(tx, organizationId, id);
}

/** Whether no status update of the workspace is pending on the platform. */
export async function isStatusSettled(
  { store }: WorkspacesContext,
  organizationId: string,
  id: string,
): Promise<boolean> {
  return !(await operations.isOpen(store.db, { organizationId, workspaceId: id, kind: 'status' }));
}

/** A connection that is paused for itself is not enabled with its workspace; the others are. The caller holds the workspace. */
export async function recordOwnStatus(
  tx: Db,
  { id, status }: WorkspaceRow,
  { platformId, isPaused }: { platformId: string; isPaused: boolean },
): Promise<void> {
  if (isPaused) await workspaces.forgetPaused(tx, id, platformId);
  else if (status === 'inactive') await workspaces.rememberPaused(tx, id, [platformId]);
}
