/*
 * Reads one stream: in full, or what was not sent before. In a table, rows that an earlier snapshot did not see are
 * found whatever their cursor (changes.ts); a view is read from a cursor on (position.ts). A state is emitted at least
 * every 10,000 records and at the end, each after the records it covers. Requires an open transaction.
 */

import { ConnectorError, type Emitter } from '@inlay/protocol/connector';
import { type ConfiguredStream, type State, type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import pg from 'pg';
import { isCursorType, isEndOfOrder } from '../postgres/column-values.ts';
import { fieldTexts, RecordText } from '../postgres/record-text.ts';
import { rowExpression } from '../postgres/row-measure.ts';
import { type OnFields, RowSender } from '../postgres/row-sender.ts';
import { Changes } from './changes.ts';
import { DamagedTexts } from './damaged-texts.ts';
import { type Definition, definitionsOf } from './definitions.ts';
import type { Moment } from './moment.ts';
import { Position } from './position.ts';
import { LongRow, readLines } from './rows.ts';
import { SkippedRows } from './skipped-rows.ts';
import { type Column, holdParts, type Table } from './tables.ts';

const recordsPerState = 10_000;
const newline = 10;
/** What stands behind the record of a row that has changed: its table, its place and its age. */
const fieldsOfChange = 3;

export interface Reading {
  stream: StreamDescriptor;
  table: Table;
  columns: Column[];
  /** Names of columns. */
  key: string[];
  /** Whether rows may be sent in blocks. */
  takesBlocks: boolean;
  /** Set if the table does not track changes. */
  incremental: { cursor: Column | undefined; saved: object | undefined } | undefined;
}

/** Undefined when the table is not there any more. */
export function readingOf(
  { stream, ...configured }: ConfiguredStream,
  tables: readonly Table[],
  states: readonly State[],
): Reading | undefined {
  const table = tables.find(({ schema, name }) => name === stream.name && schema === (stream.namespace ?? 'public'));
  if (!table) return undefined;
  const wanted = (stream.json_schema.properties ?? {}) as Record<string, unknown>;
  const columns = table.columns.filter(({ name }) => Object.hasOwn(wanted, name));
  const key = (configured.primary_key ?? stream.source_defined_primary_key ?? []).flatMap((path) => path.slice(0, 1));
  const takesBlocks = configured.inlay_row_blocks === rowFormat;
  const reading: Reading = { stream: descriptorOf(stream), table, columns, key, takesBlocks, incremental: undefined };
  if (configured.sync_mode === 'incremental') {
    const saved = states.find(
      (state) => state.stream && streamKey(state.stream.stream_descriptor) === streamKey(stream),
    );
    reading.incremental = { cursor: cursorOf(table, configured.cursor_field), saved: saved?.stream?.stream_state };
  }
  return reading;
}

export function descriptorOf({ name, namespace }: StreamDescriptor): StreamDescriptor {
  return namespace === undefined ? { name } : { name, namespace };
}

/** Undefined where there is none, and none is needed. */
function cursorOf(table: Table, field: readonly string[] = []): Column | undefined {
  const [name] = field;
  if (name === undefined && table.tellsChanges) return undefined;
  if (name === undefined || field.length !== 1) {
    throw new ConnectorError(`Choose a cursor column for the table ${table.name}.`);
  }
  const column = table.columns.find((known) => known.name === name);
  if (!column)
    throw new ConnectorError(
      `The table ${table.name} has no column ${name}, which is configured as its cursor. Choose another cursor.`,
    );
  if (!isCursorType(column.type)) {
    throw new ConnectorError(
      `The column ${name} of the table ${table.name} cannot be used as a cursor, because its values have no order.`,
    );
  }
  return column;
}

export async function readStream(client: pg.Client, reading: Reading, now: Moment, emit: Emitter): Promise<void> {
  const { stream, table, incremental } = reading;
  await emit.status(stream, 'STARTED');
  try {
    const selection = selectionOf(reading);
    const { damaged, skipped } = selection;
    const parts = table.isStored ? await holdParts(client, table) : [];
    const definitions = incremental ? await definitionsOf(client, table.id, reading.columns) : [];
    if (!incremental) {
      await readAll(client, selection, emit);
    } else if (table.tellsChanges) {
      const changes = { ...selection, ...incremental, now, extent: { parts, columns: reading.columns, definitions } };
      await readChanges(client, changes, emit);
    } else {
      const cursor = incremental.cursor as Column;
      await readFromCursor(client, { ...selection, ...incremental, cursor, definitions }, emit);
    }
    await skipped.report(emit);
    if (damaged.changes.length > 0) {
      emit.log('WARN', `${stream.name} contains invalid UTF-8. The invalid bytes were replaced.`);
      await emit.report({ stream_descriptor: stream, values_changed: damaged.changes });
    }
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
  /** The table's name, quoted. */
  name: string;
  /** What is selected, and how it becomes a record. */
  list: string[];
  record: RecordText;
  damaged: DamagedTexts;
  skipped: SkippedRows;
  /** Undefined: rows are sent as records. */
  rows: RowSender | undefined;
}

function selectionOf({ stream, table, columns, key, takesBlocks }: Reading): Selection {
  const rows = takesBlocks ? RowSender.of(stream, columns) : undefined;
  return {
    stream,
    rows,
    name: `${pg.escapeIdentifier(table.schema)}.${pg.escapeIdentifier(table.name)}`,
    // Qualified by the table: a bare name could refer to the selected expression, which may differ.
    list: columns.map((column) => {
      const expression = column.expression(columnName(column));
      return rows ? rowExpression(column, expression) : expression;
    }),
    record: new RecordText(columns),
    damaged: new DamagedTexts(columns),
    skipped: new SkippedRows(stream, columns, key),
  };
}

const alias = 'inlay_table';

function columnName({ name }: { name: string }): string {
  return `${alias}.${pg.escapeIdentifier(name)}`;
}

function queryOf({ name, list }: Selection, more: string[], clauses: string): string {
  return `select ${[...list, ...more].join(', ')} from ${name} as ${alias} ${clauses}`;
}

async function readAll(client: pg.Client, selection: Selection, emit: Emitter): Promise<void> {
  await emitLines(client, queryOf(selection, [], ''), selection, emit, undefined);
}

/** Emits a record for each line of the query. */
async function emitLines(
  client: pg.Client,
  query: string,
  { stream, record, damaged, skipped, rows }: Selection,
  emit: Emitter,
  onFields: OnFields | undefined,
): Promise<void> {
  let records = 0;
  for await (const read of readLines(client, query)) {
    if (read instanceof LongRow) {
      skipped.add(read, emit, onFields ? fieldsOfChange : 0);
      // The fields after the record show the progress, as for any other row.
      await onFields?.(read.tail, skipped.ownFieldsAt(read, fieldsOfChange), read.tail.length - 1)?.();
      continue;
    }
    const lines = damaged.mend(read, records);
    let start = 0;
    let end = 0;
    let fieldsAt = 0;
    const addData: Parameters<Emitter['recordOf']>[1] = (to) => {
      fieldsAt = record.add(to, lines, start, end);
    };
    while (start < lines.length) {
      const sent = rows?.send(lines, start, emit, onFields);
      if (sent && sent.count > 0) {
        start = sent.end;
        records += sent.count;
        if (sent.isBehind) await sent.isBehind;
        if (sent.due) await sent.due();
        continue;
      }
      end = lines.indexOf(newline, start);
      const isBehind = emit.recordOf(stream, addData);
      records += 1;
      if (isBehind) await isBehind;
      const due = onFields?.(lines, fieldsAt, end);
      if (due) await due();
      start = end + 1;
    }
  }
}

interface Following extends Selection {
  cursor: Column | undefined;
  saved: object | undefined;
  now: Moment;
  extent: ConstructorParameters<typeof Changes>[2];
}

/** With an index, or in parallel, rows would come out of physical order. */
const placeOrder = [
  ['enable_indexscan', 'off'],
  ['enable_indexonlyscan', 'off'],
  ['enable_bitmapscan', 'off'],
  ['synchronize_seqscans', 'off'],
  ['max_parallel_workers_per_gather', '0'],
] as const;

async function readChanges(client: pg.Client, following: Following, emit: Emitter): Promise<void> {
  const { stream, cursor, saved, now, extent } = following;
  const changes = new Changes(Changes.isSaved(saved) ? saved : undefined, now, extent);
  if (changes.startsAnewBecause !== undefined) {
    emit.log('WARN', startAnew(stream, changes.startsAnewBecause));
  }
  const emitState = (state: object) =>
    emit.state({ type: 'STREAM', stream: { stream_descriptor: stream, stream_state: state } });
  if (cursor && Position.isSaved(saved, cursor.name)) {
    // A state of an earlier version of this connector: from its cursor on, one last time.
    const { definitions } = extent;
    await readFromCursor(client, { ...following, cursor, saved, definitions, isLastTime: true }, emit);
    await emitState(changes.completeFromCursor());
    return;
  }
  for (const [setting, value] of placeOrder) await client.query(`set local ${setting} = ${value}`);
  for (let isBehind = true; isBehind; ) {
    isBehind = changes.isBehind;
    await sendPass(client, following, changes, emit, emitState);
    await emitState(changes.complete());
  }
  for (const [setting] of placeOrder) await client.query(`set local ${setting} to default`);
  if (changes.hasNewColumns) await emit.report({ stream_descriptor: stream, new_fields_sent: true });
  if (changes.hasForgotten) {
    emit.log(
      'INFO',
      `${stream.name}: a transaction stayed open while many others ended. Some rows will be sent again in the next sync.`,
    );
  }
}

function startAnew({ name }: StreamDescriptor, because: string): string {
  return `${name} is read from the start: ${because}.`;
}

async function sendPass(
  client: pg.Client,
  following: Following,
  changes: Changes,
  emit: Emitter,
  emitState: (state: object) => Promise<void> | undefined,
): Promise<void> {
  const { condition, rememberedAge } = changes.filter(pg.escapeLiteral, (name) => columnName({ name }));
  const age = `age(${alias}.xmin)`;
  const own = [`${alias}.tableoid`, `${alias}.ctid`, `case when ${age} between 0 and ${rememberedAge} then ${age} end`];
  const query = queryOf(following, own, condition === undefined ? '' : `where ${condition}`);
  const partStart = Buffer.alloc(16);
  let records = 0;
  await emitLines(client, query, following, emit, (lines, from, end) => {
    records += 1;
    const isStateDue = records % recordsPerState === 0;
    // Most rows are of the same part as the one before and written long ago: nothing is to be noted.
    if (!isStateDue && lines[end - 1] === capitalN && startsAlike(lines, from, partStart)) return undefined;
    const [part, ctid, age] = fieldTexts(lines, from, end) as [string, string, string | null];
    lines.copy(partStart, 0, from, from + part.length + 1);
    changes.noteSent(part, ctid, age);
    return isStateDue ? () => emitState(changes.saved()) : undefined;
  });
}

const tab = 9;
const capitalN = 'N'.charCodeAt(0);

/** Whether the field that begins at `from` is the one in `field`, both with the tab after it. */
function startsAlike(lines: Buffer, from: number, field: Buffer): boolean {
  for (let place = 0; field[place] === lines[from + place]; place++) if (field[place] === tab) return true;
  return false;
}

interface Increment extends Selection {
  cursor: Column;
  saved: object | undefined;
  definitions: readonly Definition[];
  /** Rows without a value are then read whatever the state says, since nothing else looks for them. */
  isLastTime?: boolean;
}

async function readFromCursor(client: pg.Client, increment: Increment, emit: Emitter): Promise<void> {
  const { stream, record, damaged, skipped, cursor, saved, definitions, isLastTime = false } = increment;
  if (!isLastTime) {
    emit.log(
      'WARN',
      `${stream.name} does not track row changes. A row is missed if it has no ${cursor.name}, or if it is ` +
        `committed after a row with a higher ${cursor.name} was read.`,
    );
  }
  const position = new Position(cursor.name, saved, definitions);
  if (position.startsAnewBecause !== undefined) emit.log('WARN', startAnew(stream, position.startsAnewBecause));
  const column = columnName(cursor);
  const condition = position.condition(column, pg.escapeLiteral);
  const query = queryOf(
    increment,
    [`${column}::text`],
    `where ${isLastTime ? `(${condition} or ${column} is null)` : condition} order by ${column} nulls first`,
  );
  const emitState = (isAtEnd: boolean) =>
    emit.state({
      type: 'STREAM',
      stream: { stream_descriptor: stream, stream_state: position.saved(isAtEnd) },
    });
  let records = 0;
  for await (const read of readLines(client, query)) {
    if (read instanceof LongRow) {
      const [value = null] = fieldTexts(read.tail, skipped.ownFieldsAt(read, 1), read.tail.length - 1);
      // Identified by the part of it that is kept.
      const isOutsideOrder = value === null ? isLastTime : isEndOfOrder(cursor.type, value);
      const kept = [String(read.bytes), read.head.toString('latin1'), read.tail.toString('latin1')];
      if (isOutsideOrder || position.advance(value, kept)) skipped.add(read, emit, 1);
      continue;
    }
    const lines = damaged.mend(read, records);
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(newline, start);
      const row = fieldTexts(lines, start, end);
      const value = row.pop() ?? null;
      // Infinity would be a position that nothing comes after: such rows are read each time.
      const isOutsideOrder = value === null ? isLastTime : isEndOfOrder(cursor.type, value);
      if (!isOutsideOrder && !position.advance(value, row)) continue;
      const isBehind = emit.recordOf(stream, (to) => void record.add(to, lines, start, end));
      if (isBehind) await isBehind;
      records += 1;
      if (records % recordsPerState === 0) await emitState(false);
    }
  }
  if (!isLastTime) await emitState(true);
}
