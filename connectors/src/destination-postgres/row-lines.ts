/*
 * Which columns of a table take the values of rows in blocks as they are. For any other, records are made of the rows
 * (record-text.ts), so that a table has the same content however its rows came.
 */

import { damagedRows, UnparsedRecord } from '@inlay/protocol/input';
import type { RowColumn } from '@inlay/protocol/protocol';
import type { RowBlock } from '@inlay/protocol/row-blocks';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import { columnValue } from '../postgres/column-values.ts';
import { RecordText } from '../postgres/record-text.ts';
import type { ColumnType } from './column-types.ts';
import { deletedAtField } from './identifiers.ts';
import type { Column } from './place.ts';

/** The columns whose text means the same value; a type that is not named here is a text. */
const sameText: Record<string, readonly ColumnType[]> = {
  int2: ['bigint'],
  int4: ['bigint'],
  int8: ['bigint'],
  float4: ['double precision'],
  float8: ['double precision'],
  numeric: ['numeric'],
  bool: ['boolean'],
  date: ['date'],
  timestamp: ['timestamp without time zone', 'timestamp with time zone'],
  timestamptz: ['timestamp with time zone'],
  time: ['time without time zone'],
  bytea: ['bytea'],
  jsonb: ['jsonb'],
};
/** Without a text that means the same. */
const converted = new Set(['json', 'timetz']);

/** The quoted names of the columns for these values, in their order. Undefined if records are needed. */
export function columnsFor(
  values: readonly RowColumn[],
  byProperty: ReadonlyMap<string, Column>,
): readonly string[] | undefined {
  const names = values.flatMap((value) => {
    const column = byProperty.get(value.name);
    // A row that was deleted is looked at more closely.
    return column && value.name !== deletedAtField && takesAsIs(column, value) ? [column.name] : [];
  });
  return names.length === values.length && new Set(names).size === names.length ? names : undefined;
}

function takesAsIs({ type, was = [] }: Column, { type: name, is_array }: RowColumn): boolean {
  // A widened column spells values as before; instants have no spelling.
  if (was.length > 0 && type !== 'timestamp with time zone') return false;
  if (is_array) return type === 'jsonb';
  if (converted.has(name)) return false;
  return Object.hasOwn(sameText, name) ? (sameText[name] ?? []).includes(type) : type === 'text';
}

const newline = 10;

/** The rows of each block, each after the same beginning. */
export function* withBeginning(blocks: readonly RowBlock[], beginning: Buffer): Generator<Buffer> {
  for (const { rows, pieces } of blocks) {
    const out = Buffer.allocUnsafe(rows.length + rows.count * beginning.length);
    // First all rows at the end; then each moves to its place, which takes half the time of copying each.
    let start = out.length - rows.length;
    for (let place = start, index = 0; index < pieces.length; index++) {
      place += (pieces[index] as Buffer).copy(out, place);
    }
    for (let at = 0; start < out.length; ) {
      const end = out.indexOf(newline, start) + 1;
      for (let index = 0; index < beginning.length; index++) out[at++] = beginning[index] as number;
      out.copyWithin(at, start, end);
      at += end - start;
      start = end;
    }
    yield out;
  }
}

/** Passes on the rows of a block as records. */
export function recordsOf({ rows, pieces }: RowBlock, take: (record: UnparsedRecord) => void): void {
  const { stream: name, namespace, emitted_at: emittedAt, columns } = rows;
  const text = new RecordText(
    columns.map(({ name, type, is_array: isArray = false }) => ({
      name,
      ...columnValue({ name: type, isArray }, true),
    })),
  );
  const data = new TextBuffer(rows.bytes);
  const ends: number[] = [];
  for (const lines of pieces) {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(newline, start);
      const next = text.add(data, lines, start, end);
      if (next !== end + 1) throw damagedRows(name, 'a row has other fields than its header names');
      ends.push(data.length);
      start = next;
    }
  }
  const all = data.take();
  let start = 0;
  for (const end of ends) {
    take(new UnparsedRecord({ name, namespace, emittedAt }, all, start, end));
    start = end;
  }
}
