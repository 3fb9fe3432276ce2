/*
 * Reads one stream: whole, or from the position of its cursor on. A state is emitted at least every 10,000 records and
 * at the end, each after the records it covers. Needs an open transaction.
 */
import pg from 'pg';
import { type ConfiguredStream, type State, type StreamDescriptor, streamKey } from '../../src/protocol.ts';
import { ConnectorError, type Emitter } from '../kit/connector.ts';
import { isCursorType, isEndOfOrder } from './column-values.ts';
import { Position, type Row } from './position.ts';
import { readRows } from './rows.ts';
import type { Column, Table } from './tables.ts';

const recordsPerState = 10_000;

export interface Reading {
  stream: StreamDescriptor;
  table: Table;
  columns: Column[];
  incremental: { cursor: Column; position: Position } | undefined;
}

export function readingOf(
  { stream, ...configured }: ConfiguredStream,
  tables: readonly Table[],
  states: readonly State[],
) {
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

export async function readStream(client: pg.Client, { stream, table, columns, incremental }: Reading, emit: Emitter) {
  await emit.status(stream, 'STARTED');
  const name = `${pg.escapeIdentifier(table.schema)}.${pg.escapeIdentifier(table.name)}`;
  const list = columns.map((column) => column.expression(pg.escapeIdentifier(column.name)));
  const makeRecord = recordMaker(columns);
  try {
    if (incremental) await readIncrement(client, { stream, name, list, makeRecord, ...incremental }, emit);
    else await readAll(client, { stream, name, list, makeRecord }, emit);
  } catch (error) {
    throw explainTable(error, stream.name);
  }
  await emit.status(stream, 'COMPLETE');
}

/** A view may divide by zero, a foreign table may be offline: what the server says is for the owner of the table. */
function explainTable(error: unknown, table: string): unknown {
  const isOfTable = error instanceof pg.DatabaseError && /^(22|38|39|42(?!501)|55000|HV|P0)/.test(error.code ?? '');
  return isOfTable ? new ConnectorError(`${table} cannot be read: ${error.message}.`, { cause: error }) : error;
}

interface Selection {
  stream: StreamDescriptor;
  /** Of the table, quoted. */
  name: string;
  /** What is selected, and how it becomes a record. */
  list: string[];
  makeRecord: ReturnType<typeof recordMaker>;
}

async function readAll(client: pg.Client, { stream, name, list, makeRecord }: Selection, emit: Emitter): Promise<void> {
  for await (const rows of readRows(client, `select ${list.join(', ')} from ${name}`, [])) {
    for (const row of rows) {
      const isBehind = emit.record(stream, makeRecord(row));
      if (isBehind) await isBehind;
    }
  }
}

interface Increment extends Selection {
  cursor: Column;
  position: Position;
}

async function readIncrement(
  client: pg.Client,
  { stream, name, list, makeRecord, cursor, position }: Increment,
  emit: Emitter,
): Promise<void> {
  // By the table's name: a bare name in "order by" would mean what is selected under it, which may be another form.
  const column = `inlay_table.${pg.escapeIdentifier(cursor.name)}`;
  const query =
    `select ${[...list, `${column}::text`].join(', ')} from ${name} as inlay_table ` +
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
      const isBehind = emit.record(stream, makeRecord(row));
      if (isBehind) await isBehind;
      records += 1;
      if (records % recordsPerState === 0) await emitState(false);
    }
  }
  await emitState(true);
}

function recordMaker(columns: readonly Column[]): (row: Row) => Record<string, unknown> {
  // On an ordinary object, which is the faster one, this name would set the prototype.
  const isPlain = columns.every(({ name }) => name !== '__proto__');
  return (row) => {
    const record: Record<string, unknown> = isPlain ? {} : Object.create(null);
    for (let index = 0; index < columns.length; index += 1) {
      const column = columns[index] as Column;
      const text = row[index] ?? null;
      record[column.name] = text === null ? null : column.convert(text);
    }
    return record;
  };
}
