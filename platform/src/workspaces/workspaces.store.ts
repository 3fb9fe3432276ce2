/** The SQL of `workspaces` and `organizations`. A workspace is the tenant: every change is bound to one. */

import { isListed } from '../db/listed-rows.ts';
import type { Db } from '../db/open.ts';
import type { WorkspaceRow } from '../db/tables.ts';
import type { ListQuery } from '../fields.ts';

export async function ensureOrganization(tx: Db, organizationId: string, createdAt: number): Promise<void> {
  await tx
    .insertInto('organizations')
    .values({ organization_id: organizationId, created_at: createdAt })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .execute();
}

/** Oldest first. */
export async function listOrganizationIds(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('organizations').select('organization_id').orderBy('seq').execute();
  return rows.map(({ organization_id }) => organization_id);
}

export async function insertWorkspace(
  tx: Db,
  organizationId: string,
  workspace: Omit<WorkspaceRow, 'seq' | 'organization_id' | 'last_turn'>,
): Promise<WorkspaceRow> {
  return await tx
    .insertInto('workspaces')
    .values({ organization_id: organizationId, ...workspace })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface WorkspaceFilter extends ListQuery {
  name?: string;
  organizationId?: string;
}

/** Oldest first. */
export async function listWorkspaces(db: Db, query: WorkspaceFilter): Promise<WorkspaceRow[]> {
  let rows = db.selectFrom('workspaces').selectAll().where(isListed(query));
  if (query.name !== undefined) rows = rows.where('name_nfc', '=', query.name.normalize('NFC'));
  if (query.organizationId !== undefined) rows = rows.where('organization_id', '=', query.organizationId.toLowerCase());
  return await rows.orderBy('seq').limit(query.limit).offset(query.offset).execute();
}

export async function findWorkspace(db: Db, workspaceId: string): Promise<WorkspaceRow | undefined> {
  return await db
    .selectFrom('workspaces')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

export async function updateWorkspace(
  tx: Db,
  workspaceId: string,
  changes: Pick<WorkspaceRow, 'name' | 'name_nfc' | 'data_residency' | 'notifications'>,
): Promise<WorkspaceRow> {
  return await tx
    .updateTable('workspaces')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateLimits(tx: Db, workspaceId: string, maxConcurrentSyncs: number | null): Promise<void> {
  await tx
    .updateTable('workspaces')
    .set({ max_concurrent_syncs: maxConcurrentSyncs })
    .where('workspace_id', '=', workspaceId)
    .execute();
}

export async function updatePlacement(tx: Db, workspaceId: string, labels: string | null): Promise<void> {
  await tx.updateTable('workspaces').set({ worker_labels: labels }).where('workspace_id', '=', workspaceId).execute();
}

export async function recordWorkspaceDeleted(tx: Db, workspaceId: string, deletedAt: number): Promise<void> {
  await tx.updateTable('workspaces').set({ deleted_at: deletedAt }).where('workspace_id', '=', workspaceId).execute();
}
