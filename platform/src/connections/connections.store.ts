/**
 * The SQL of `connections`. The API names them by id alone, so a look-up by id also returns the workspace; every change
 * is bound to that workspace.
 */
import { isListed } from '../db/listed-rows.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionRow } from '../db/tables.ts';
import type { ListQuery } from '../fields.ts';

export async function insertConnection(
  tx: Db,
  workspaceId: string,
  connection: Omit<ConnectionRow, 'seq' | 'workspace_id' | 'epoch'>,
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

/**
 * Connections of other workspaces to destinations of the same kind whose tables may have the same namespace.
 * `namespaceFormat`: the namespace of all tables, where it is known.
 */
export async function listConnectionsOfOthers(
  db: Db,
  workspaceId: string,
  { definitionId, namespaceFormat }: { definitionId: string; namespaceFormat: string | undefined },
): Promise<ConnectionRow[]> {
  let others = db
    .selectFrom('connections')
    .innerJoin('connectors', 'connectors.connector_id', 'connections.destination_id')
    .selectAll('connections')
    .where('connections.workspace_id', '!=', workspaceId)
    .where('connections.deleted_at', 'is', null)
    .where('connectors.definition_id', '=', definitionId);
  if (namespaceFormat !== undefined) {
    others = others.where((eb) =>
      eb.or([
        eb('connections.namespace_definition', '!=', 'custom_format'),
        eb('connections.namespace_format', '=', namespaceFormat),
        eb('connections.namespace_format', 'like', '%{SOURCE_NAMESPACE}%'),
      ]),
    );
  }
  return await others.execute();
}

/** Every stream that the connection has ever moved. */
export async function listMovedStreams(
  db: Db,
  workspaceId: string,
  connectionId: string,
): Promise<{ name: string; namespace: string }[]> {
  return await db
    .selectFrom('connection_streams')
    .innerJoin('connections', 'connections.connection_id', 'connection_streams.connection_id')
    .select(['connection_streams.name', 'connection_streams.namespace'])
    .where('connections.workspace_id', '=', workspaceId)
    .where('connections.connection_id', '=', connectionId)
    .execute();
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

/** Those of a workspace: all, or those with one of these ids. */
export type WhichConnections = Partial<Pick<ConnectionRow, 'connection_id' | 'source_id' | 'destination_id'>>;

/** Returns the ids of the deleted ones. */
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
