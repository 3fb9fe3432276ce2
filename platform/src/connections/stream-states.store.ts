/**
 * The SQL of what a connection knows of its streams: `connection_streams`, `connection_states` and `connection_catalogs`.
 * These tables name no workspace, so a row is found, and made, through the connection it belongs to.
 */
import { type ExpressionBuilder, sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { ConnectionStreamRow, Tables } from '../db/tables.ts';
import type { StreamDescriptor } from '../protocol.ts';

export interface ConnectionRef {
  workspaceId: string;
  connectionId: string;
}

const ofConnection =
  ({ workspaceId, connectionId }: ConnectionRef) =>
  (eb: ExpressionBuilder<Tables, keyof Tables>) =>
    eb
      .selectFrom('connections')
      .select('connections.connection_id')
      .where('connections.workspace_id', '=', workspaceId)
      .where('connections.connection_id', '=', connectionId);

export async function listStreams(tx: Db, connection: ConnectionRef): Promise<ConnectionStreamRow[]> {
  return await tx
    .selectFrom('connection_streams')
    .selectAll()
    .where('connection_id', 'in', ofConnection(connection))
    .orderBy('namespace')
    .orderBy('name')
    .execute();
}

export async function putStream(
  tx: Db,
  connection: ConnectionRef,
  { namespace, name, ...row }: Omit<ConnectionStreamRow, 'connection_id'>,
): Promise<void> {
  await tx
    .insertInto('connection_streams')
    .columns(['connection_id', 'namespace', 'name', 'configured', 'generation_id', 'state'])
    .expression((eb) =>
      ofConnection(connection)(eb).select([
        sql<string>`${namespace}`.as('namespace'),
        sql<string>`${name}`.as('name'),
        sql<string>`${row.configured}`.as('configured'),
        sql<number>`${row.generation_id}`.as('generation_id'),
        sql<string | null>`${row.state}`.as('state'),
      ]),
    )
    .onConflict((conflict) => conflict.columns(['connection_id', 'namespace', 'name']).doUpdateSet(row))
    .execute();
}

export async function putStreamState(
  tx: Db,
  connection: ConnectionRef,
  { name, namespace }: StreamDescriptor,
  state: string | null,
): Promise<void> {
  await tx
    .updateTable('connection_streams')
    .set({ state })
    .where('connection_id', 'in', ofConnection(connection))
    // Connectors may write an absent namespace as null.
    .where('namespace', '=', namespace || '')
    .where('name', '=', name)
    .execute();
}

export async function clearStreamStates(tx: Db, connection: ConnectionRef): Promise<void> {
  await tx
    .updateTable('connection_streams')
    .set({ state: null })
    .where('connection_id', 'in', ofConnection(connection))
    .execute();
}

/** The state of a source that keeps one for all its streams together. */
export async function findWholeState(tx: Db, connection: ConnectionRef): Promise<string | undefined> {
  const row = await tx
    .selectFrom('connection_states')
    .select('state')
    .where('connection_id', 'in', ofConnection(connection))
    .executeTakeFirst();
  return row?.state;
}

export async function putWholeState(tx: Db, connection: ConnectionRef, state: string): Promise<void> {
  await tx
    .insertInto('connection_states')
    .columns(['connection_id', 'state'])
    .expression((eb) => ofConnection(connection)(eb).select(sql<string>`${state}`.as('state')))
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet({ state }))
    .execute();
}

export async function deleteWholeState(tx: Db, connection: ConnectionRef): Promise<void> {
  await tx.deleteFrom('connection_states').where('connection_id', 'in', ofConnection(connection)).execute();
}

/** With their states. */
export async function forgetStreams(tx: Db, connection: ConnectionRef): Promise<void> {
  await tx.deleteFrom('connection_streams').where('connection_id', 'in', ofConnection(connection)).execute();
  await deleteWholeState(tx, connection);
}

/** The source's catalog that the connection was last run with. */
export async function findAcceptedCatalog(db: Db, connection: ConnectionRef): Promise<string | undefined> {
  const row = await db
    .selectFrom('connection_catalogs')
    .select('catalog')
    .where('connection_id', 'in', ofConnection(connection))
    .executeTakeFirst();
  return row?.catalog;
}

export async function putAcceptedCatalog(tx: Db, connection: ConnectionRef, catalog: string): Promise<void> {
  await tx
    .insertInto('connection_catalogs')
    .columns(['connection_id', 'catalog'])
    .expression((eb) => ofConnection(connection)(eb).select(sql<string>`${catalog}`.as('catalog')))
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet({ catalog }))
    .execute();
}

export async function forgetAcceptedCatalog(tx: Db, connection: ConnectionRef): Promise<void> {
  await tx.deleteFrom('connection_catalogs').where('connection_id', 'in', ofConnection(connection)).execute();
}
