/*
 * The source `postgres`. A sync reads all its streams as of one moment, in one transaction, through cursors of the
 * server, a few megabytes at a time: memory does not grow with the tables. Incremental streams are read in the order of
 * the cursor column that was chosen; see position.ts.
 */
import pg from 'pg';
import { type ConfiguredStream, type State, streamKey } from '../../src/protocol.ts';
import { type Configuration, ConnectorError, type Emitter, type SourceConnector } from '../kit/connector.ts';
import { inTransaction, withConnection } from '../postgres/connection.ts';
import { readServer } from '../postgres/server.ts';
import { isCursorType, isEndOfOrder } from './column-values.ts';
import { Position, type Row } from './position.ts';
import { readRows } from './rows.ts';
import { specification } from './specification.ts';
import { type Column, catalogOf, listTables, type Table } from './tables.ts';

const metadataTimeoutMs = 60_000;
/** A table may have to be sorted before its first row comes. */
const readTimeoutMs = 3_600_000;
const recordsPerState = 10_000;

export const connector: SourceConnector = {
  kind: 'source',
  specification,

  async check(config, surroundings) {
    const server = readServer(config);
    await withConnection(server, surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: metadataTimeoutMs }, async () => {
        for (const schema of schemasOf(config)) await checkSchema(client, schema, server.username);
      }),
    );
  },

  async discover(config, surroundings) {
    const tables = await withConnection(readServer(config), surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: metadataTimeoutMs }, () =>
        listTables(client, schemasOf(config)),
      ),
    );
    return catalogOf(tables);
  },

  async read(config, catalog, state, emit, surroundings) {
    await withConnection(readServer(config), surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: readTimeoutMs }, async () => {
        const tables = await listTables(client, schemasOf(config));
        // All streams first: a mistake in the last one is known before hours were spent on the others.
        const readings = catalog.streams.map((stream) => readingOf(stream, tables, state));
        for (const reading of readings) await readStream(client, reading, emit);
      }),
    );
  },
};

function schemasOf(config: Configuration): string[] {
  const { schemas } = config;
  return Array.isArray(schemas) && schemas.length > 0 ? schemas.map(String) : ['public'];
}

async function checkSchema(client: pg.Client, schema: string, username: string): Promise<void> {
  const { rows } = await client.query<{ isUsable: boolean }>(
    `select has_schema_privilege(oid, 'usage') as "isUsable" from pg_catalog.pg_namespace where nspname = $1`,
    [schema],
  );
  if (!rows[0]) throw new ConnectorError(`There is no schema ${schema} in the database. Check its spelling.`);
  const name = pg.escapeIdentifier(schema);
  const user = pg.escapeIdentifier(username);
  if (!rows[0].isUsable) {
    throw new ConnectorError(
      `The user ${username} may not use the schema ${schema}. Run: grant usage on schema ${name} to ${user}`,
    );
  }
  if ((await listTables(client, [schema])).length === 0) {
    throw new ConnectorError(
      `The schema ${schema} has no table that the user ${username} may read. ` +
        `If it has tables, run: grant select on all tables in schema ${name} to ${user}`,
    );
  }
}

interface Reading {
  stream: { name: string; namespace?: string };
  table: Table;
  columns: Column[];
  incremental: { cursor: Column; position: Position } | undefined;
}

function readingOf({ stream, ...configured }: ConfiguredStream, tables: readonly Table[], states: readonly State[]) {
  const table = tables.find(({ schema, name }) => name === stream.name && schema === (stream.namespace ?? 'public'));
  if (!table) {
    throw new ConnectorError(
      `The table ${stream.name} is not there any more, or may no longer be read. Refresh the list of streams.`,
    );
  }
  const wanted = (stream.json_schema.properties ?? {}) as Record<string, unknown>;
  const columns = table.columns.filter(({ name }) => Object.hasOwn(wanted, name));
  const { name, namespace } = stream;
  const descriptor = namespace === undefined ? { name } : { name, namespace };
  const reading: Reading = { stream: descriptor, table, columns, incremental: undefined };
  if (configured.sync_mode === 'incremental') {
    const cursor = cursorOf(table, configured.cursor_field);
    const saved = states.find(
      (state) => state.stream && streamKey(state.stream.stream_descriptor) === streamKey(stream),
    );
    reading.incremental = { cursor, position: new Position(cursor.name, saved?.stream?.stream_state) };
  }
  return reading;
}

function cursorOf(table: Table, field: readonly string[] | undefined): Column {
  const name = field?.[0];
  if (name === undefined || field?.length !== 1) {
    throw new ConnectorError(`Choose a column as the cursor of the table ${table.name}.`);
  }
  const column = table.columns.find((known) => known.name === name);
  if (!column) throw new ConnectorError(`The table ${table.name} has no column ${name}, which is its cursor.`);
  if (!isCursorType(column.type)) {
    throw new ConnectorError(`The column ${name} of the table ${table.name} has no order that a cursor could follow.`);
  }
  return column;
}

async function readStream(client: pg.Client, { stream, table, columns, incremental }: Reading, emit: Emitter) {
  await emit.status(stream, 'STARTED');
  const name = `${pg.escapeIdentifier(table.schema)}.${pg.escapeIdentifier(table.name)}`;
  const list = columns.map((column) => column.expression(pg.escapeIdentifier(column.name)));
  if (incremental) {
    await readIncrement(client, { stream, name, list, columns, ...incremental }, emit);
  } else {
    for await (const rows of readRows(client, `select ${list.join(', ')} from ${name}`, [])) {
      for (const row of rows) {
        const isBehind = emit.record(stream, recordOf(columns, row));
        if (isBehind) await isBehind;
      }
    }
  }
  await emit.status(stream, 'COMPLETE');
}

interface Increment {
  stream: Reading['stream'];
  /** Of the table, quoted. */
  name: string;
  /** What is selected for each of `columns`. */
  list: string[];
  columns: Column[];
  cursor: Column;
  position: Position;
}

async function readIncrement(
  client: pg.Client,
  { stream, name, list, columns, cursor, position }: Increment,
  emit: Emitter,
): Promise<void> {
  const column = pg.escapeIdentifier(cursor.name);
  const query =
    `select ${[...list, `${column}::text`].join(', ')} from ${name} ` +
    `${position.condition(column)} order by ${column} nulls first`;
  const emitState = (isAtEnd: boolean) =>
    emit.state({
      type: 'STREAM',
      stream: { stream_descriptor: stream, stream_state: position.saved(isAtEnd) },
    });
  let records = 0;
  for await (const rows of readRows(client, query, position.parameters)) {
    for (const row of rows) {
      const value = row.pop() ?? null;
      // Infinity would be a position that nothing comes after: such rows are read each time.
      const isNew = (value !== null && isEndOfOrder(cursor.type, value)) || position.advance(value, row);
      if (!isNew) continue;
      const isBehind = emit.record(stream, recordOf(columns, row));
      if (isBehind) await isBehind;
      records += 1;
      if (records % recordsPerState === 0) await emitState(false);
    }
  }
  await emitState(true);
}

function recordOf(columns: readonly Column[], row: Row): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index] as Column;
    const text = row[index] ?? null;
    record[column.name] = text === null ? null : column.convert(text);
  }
  return record;
}
