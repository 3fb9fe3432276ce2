/** The SQL of `declarative_definitions`: sources that a workspace has as manifests. */
import type { Db } from '../db/open.ts';
import type { DeclarativeDefinitionRow } from '../db/tables.ts';

export interface DeclarativeDefinition extends DeclarativeDefinitionRow {
  specification: string;
}

function rowsOf(db: Db, workspaceId: string) {
  return db
    .selectFrom('declarative_definitions')
    .innerJoin('manifests', 'manifests.hash', 'declarative_definitions.manifest_hash')
    .selectAll('declarative_definitions')
    .select('manifests.specification')
    .where('workspace_id', '=', workspaceId);
}

/** In creation order. */
export async function listDeclarative(db: Db, workspaceId: string): Promise<DeclarativeDefinition[]> {
  return await rowsOf(db, workspaceId).orderBy('seq').execute();
}

export async function findDeclarative(
  db: Db,
  workspaceId: string,
  definitionId: string,
): Promise<DeclarativeDefinition | undefined> {
  return await rowsOf(db, workspaceId).where('definition_id', '=', definitionId).executeTakeFirst();
}

export async function insertDeclarative(
  tx: Db,
  workspaceId: string,
  row: Omit<DeclarativeDefinitionRow, 'seq' | 'workspace_id'>,
): Promise<void> {
  await tx
    .insertInto('declarative_definitions')
    .values({ ...row, workspace_id: workspaceId })
    .execute();
}

export async function updateDeclarative(
  tx: Db,
  workspaceId: string,
  definitionId: string,
  changes: Pick<DeclarativeDefinitionRow, 'version' | 'manifest_hash'>,
): Promise<void> {
  await tx
    .updateTable('declarative_definitions')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', '=', definitionId)
    .execute();
}

export async function deleteDeclarative(tx: Db, workspaceId: string, definitionId: string): Promise<void> {
  await tx
    .deleteFrom('declarative_definitions')
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', '=', definitionId)
    .execute();
}
