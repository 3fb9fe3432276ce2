/**
 * The SQL of `connections`. The API names them by id alone, so a look-up by id tells the workspace; every change is bound
 * to the workspace that was told.
 */
import { isListed } from '../db/listed-rows.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';
import type { ListQuery } from '../fields.ts';

export async function insertConnection(
  tx: Db,
  workspaceId: string,
  connection: Omit<ConnectionRow, 'seq' | 'workspace_id'>,
): Promise<ConnectionRow> {
  return await tx
    .insertInto('connections')
    .values({ workspace_id: workspaceId, ...connection })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Oldest first. */
export async function listConnections(db: Db, query: ListQuery): Promise<ConnectionRow[]> {
  return await db
    .selectFrom('connections')
    .selectAll()
    .where(isListed(query))
    .orderBy('seq')
    .limit(query.limit)
    .offset(query.offset)
    .execute();
}

/** Deleted ones included. */
export async function findConnectionById(db: Db, connectionId: string): Promise<ConnectionRow | undefined> {
  return await db.selectFrom('connections').selectAll().where('connection_id', '=', connectionId).executeTakeFirst();
}

export async function updateConnection(
  tx: Db,
  workspaceId: string,
  connectionId: string,
  changes: Partial<Omit<ConnectionRow, 'seq' | 'connection_id' | 'workspace_id'>>,
): Promise<ConnectionRow> {
  return await tx
    .updateTable('connections')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function replaceConfigurations(
  tx: Db,
  workspaceId: string,
  connectionId: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ configurations: after })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('configurations', '=', before)
    .execute();
}

/** Of a workspace: all, or those with one of these ids. */
export type WhichConnections = Partial<Pick<ConnectionRow, 'connection_id' | 'source_id' | 'destination_id'>>;

/** Gives the ids of those that were deleted. */
export async function recordConnectionsDeleted(
  tx: Db,
  workspaceId: string,
  which: WhichConnections,
  deletedAt: number,
): Promise<string[]> {
  const rows = await tx
    .updateTable('connections')
    .set({ status: 'deprecated', next_run_at: null, deleted_at: deletedAt })
    .where('workspace_id', '=', workspaceId)
    .where((eb) => eb.and(which))
    .where('deleted_at', 'is', null)
    .returning('connection_id')
    .execute();
  return rows.map(({ connection_id }) => connection_id);
}
