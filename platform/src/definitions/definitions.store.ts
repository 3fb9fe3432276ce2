/** The SQL of `registered_definitions`. They belong to the machine and to no workspace. */
import type { Db } from '../db/open.ts';
import type { RegisteredDefinitionRow } from '../db/tables.ts';

/** In registration order. */
export async function listRegistered(db: Db): Promise<RegisteredDefinitionRow[]> {
  return await db.selectFrom('registered_definitions').selectAll().orderBy('seq').execute();
}

export async function findRegistered(db: Db, definitionId: string): Promise<RegisteredDefinitionRow | undefined> {
  return await db
    .selectFrom('registered_definitions')
    .selectAll()
    .where('definition_id', '=', definitionId)
    .executeTakeFirst();
}

export async function insertRegistered(db: Db, row: Omit<RegisteredDefinitionRow, 'seq'>): Promise<void> {
  await db.insertInto('registered_definitions').values(row).execute();
}

export interface StoredChange {
  change_id: string;
  action: 'created' | 'deleted';
  definition: string;
}

export async function insertChange(tx: Db, change: StoredChange): Promise<void> {
  await tx.insertInto('definition_changes').values(change).execute();
}

/** In creation order. */
export async function listChanges(db: Db): Promise<StoredChange[]> {
  return await db
    .selectFrom('definition_changes')
    .select(['change_id', 'action', 'definition'])
    .orderBy('seq')
    .execute();
}

export async function deleteChange(db: Db, changeId: string): Promise<void> {
  await db.deleteFrom('definition_changes').where('change_id', '=', changeId).execute();
}

/** Undefined if there is none. */
export async function deleteRegistered(tx: Db, definitionId: string): Promise<RegisteredDefinitionRow | undefined> {
  return await tx
    .deleteFrom('registered_definitions')
    .where('definition_id', '=', definitionId)
    .returningAll()
    .executeTakeFirst();
}
