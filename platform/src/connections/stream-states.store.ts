/**
 * The SQL of what a connection knows of its streams: `connection_streams`, `connection_states` and `connection_catalogs`.
 * These tables name no workspace, so a row is found, and made, through the connection it belongs to.
 */

import { isSqlite } from '@inlay/database/is-sqlite';
import type { StreamDescriptor } from '@inlay/protocol/protocol';
import { Pieces } from '@inlay/schedule/pieces';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { ConnectionStreamRow, Tables } from '../db/tables.ts';

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

export type StreamRow = Omit<ConnectionStreamRow, 'connection_id'>;

/** So many that one statement takes a few milliseconds. */
const rowsAtATime = 500;

/** A connection may have thousands of streams, so many rows are given to one statement. */
export async function putStreams(tx: Db, connection: ConnectionRef, rows: readonly StreamRow[]): Promise<void> {
  const pieces = new Pieces();
  for (let from = 0; from < rows.length; from += rowsAtATime) {
    const given = rows.slice(from, from + rowsAtATime).map((row) => streamColumns.map((column) => row[column]));
    await tx
      .insertInto('connection_streams')
      .columns(['connection_id', ...streamColumns])
      .expression((eb) =>
        ofConnection(connection)(eb)
          .innerJoin(elementsOf(tx, JSON.stringify(given)), (join) => join.onTrue())
          .select(
            streamColumns.map((column, index) => {
              const value = sql`given.value ->> ${sql.lit(index)}`;
              return (column === 'generation_id' ? sql`cast(${value} as bigint)` : value).as(column);
            }),
          ),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['connection_id', 'namespace', 'name'])
          .doUpdateSet(({ ref }) =>
            Object.fromEntries(streamColumns.slice(2).map((column) => [column, ref(`excluded.${column}`)])),
          ),
      )
      .execute();
    if (pieces.isPauseDue) await pieces.pause();
  }
}

const elementsOf = (db: Db, json: string) =>
  isSqlite(db)
    ? sql`json_each(${json})`.as<'given'>(sql`given`)
    : sql`json_array_elements(${json}::json)`.as<'given'>(sql`given(value)`);

/** The first two name the stream. */
const streamColumns = [
  'namespace',
  'name',
  'configured',
  'generation_id',
  'state',
  'held',
  'fields',
  'place',
  'anew_because',
] as const;

export async function putStreamState(
  tx: Db,
  connection: ConnectionRef,
  { name, namespace }: StreamDescriptor,
  known: Partial<Pick<ConnectionStreamRow, 'state' | 'held'>>,
): Promise<void> {
  await tx
    .updateTable('connection_streams')
    .set(known)
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

/** Includes their states. */
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
