/*
 * Reads rows that are sent in blocks, without converting them: how long the messages of their records would be, and
 * whether a date or time in them is unusual. Everything that record-text.ts does to a value shows here in its length.
 */

import type { StreamDescriptor } from '@inlay/protocol/protocol';
import { envelopeBytes } from '@inlay/protocol/row-blocks';
import type { ColumnType, TextForm } from './column-values.ts';

export interface MeasuredColumn {
  name: string;
  type: ColumnType;
  form: TextForm;
}

/** `text` is copied to a JSON string, a `document` to JSON; the others are named as their types. */
type Kind = 'number' | 'text' | 'boolean' | 'date' | 'timestamp' | 'bytea' | 'document';

const code = (character: string) => character.charCodeAt(0);
const tab = 9;
const newline = 10;
const space = 32;
const [quotationMark, backslash, minus, plus] = [...'"\\-+'].map(code) as [number, number, number, number];
const [capitalN, capitalI, capitalC, smallT, smallV] = [...'NICtv'].map(code) as [
  number,
  number,
  number,
  number,
  number,
];
const endOfDay = 'YYYY-MM-DD'.length;
const endOfSecond = 'YYYY-MM-DD hh:mm:ss'.length;

/** Lookup table: 1 for bytes that take as much room in JSON as in COPY's text. */
const isOrdinary = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= space && byte !== quotationMark && byte !== backslash ? 1 : 0,
);

/** Arrays that the server writes as JSON, and in which no number loses anything in a column of the type jsonb. */
const arrays = new Set(['int2', 'int4', 'int8', 'bool', 'text', 'varchar', 'bpchar', 'inet']);

/** Undefined for values of which a destination has to see the record. */
function kindOf({ type: { name, isArray }, form }: Omit<MeasuredColumn, 'name'>): Kind | undefined {
  if (isArray) return arrays.has(name) ? 'document' : undefined;
  switch (form) {
    case 'quoted':
      return name === 'date' ? 'date' : 'text';
    case 'timestamptz':
      return 'timestamp';
    case 'document':
      return name === 'jsonb' ? 'document' : undefined;
    case 'other':
      return name === 'bytea' ? 'bytea' : undefined;
    default:
      return form;
  }
}

/** What to select instead of the expression for a record: the null of JSON is no value. */
export function rowExpression({ type }: { type: ColumnType }, expression: string): string {
  return type.name === 'jsonb' && !type.isArray ? `nullif(${expression}, 'null')` : expression;
}

export class RowMeasure {
  /** Of the rows so far. The caller sets both back. */
  bytes = 0;
  hasFarTimes = false;
  readonly #kinds: readonly Kind[];
  /** Of a record without its values. */
  readonly #frameBytes: number;

  private constructor(stream: StreamDescriptor, columns: readonly MeasuredColumn[], kinds: readonly Kind[]) {
    this.#kinds = kinds;
    const names = columns.reduce((sum, { name }) => sum + Buffer.byteLength(JSON.stringify(name)) + ',:'.length, 0);
    this.#frameBytes = envelopeBytes(stream) + names + '}'.length;
  }

  /** Undefined where rows cannot be sent in blocks. */
  static of(stream: StreamDescriptor, columns: readonly MeasuredColumn[]): RowMeasure | undefined {
    const kinds = columns.flatMap((column) => kindOf(column) ?? []);
    if (columns.length === 0 || kinds.length < columns.length) return undefined;
    return new RowMeasure(stream, columns, kinds);
  }

  /** Adds the row from `start` to `end`, and returns where the fields start that are not part of its record. */
  add(lines: Buffer, start: number, end: number): number {
    const kinds = this.#kinds;
    let bytes = this.#frameBytes;
    let at = start;
    for (let index = 0; index < kinds.length; index++) {
      if (at > end) throw otherFields();
      if (lines[at] === backslash && lines[at + 1] === capitalN) {
        bytes += 'null'.length;
        at += '\\N\t'.length;
        continue;
      }
      const from = at;
      switch (kinds[index]) {
        case 'number': {
          const first = lines[at] === minus ? lines[at + 1] : lines[at];
          while (!isEndOfField(lines[at])) at++;
          bytes += at - from + (first === capitalN || first === capitalI ? 2 : 0);
          break;
        }
        case 'boolean':
          bytes += lines[at] === smallT ? 'true'.length : 'false'.length;
          at++;
          break;
        case 'date':
          if (lines[at + 4] === minus && isEndOfField(lines[at + endOfDay])) at += endOfDay;
          else at = this.#addFarTime(lines, at);
          bytes += at - from + 2;
          break;
        case 'timestamp': {
          if (lines[at + 4] === minus) at += endOfSecond;
          while (!isEndOfField(lines[at])) at++;
          if (lines[from + 4] !== minus || lines[at - 1] === capitalC) this.#addFarTime(lines, from);
          const zoneAt = lines[at - 1] === capitalC ? at - '+00 BC'.length : at - '+00'.length;
          // Z instead.
          bytes += at - from + (lines[zoneAt] === plus ? 0 : 2);
          break;
        }
        case 'bytea': {
          while (!isEndOfField(lines[at])) at++;
          bytes += 4 * Math.ceil((at - from - '\\\\x'.length) / 2 / 3) + 2;
          break;
        }
        case 'document':
          for (; !isEndOfField(lines[at]); at++) {
            if (lines[at] === backslash) at++;
            bytes++;
          }
          break;
        default:
          for (;;) {
            while (isOrdinary[lines[at] as number] === 1) at++;
            if (isEndOfField(lines[at])) break;
            if (lines[at] === backslash) {
              // All others have a letter in JSON, too.
              if (lines[at + 1] === smallV) bytes += 4;
              at += 2;
            } else {
              bytes += lines[at] === quotationMark ? 1 : 5;
              at++;
            }
          }
          bytes += at - from + 2;
      }
      at++;
    }
    if (at > end + 1) throw otherFields();
    this.bytes += bytes;
    return at;
  }

  /** Returns its end. */
  #addFarTime(lines: Buffer, start: number): number {
    this.hasFarTimes = true;
    let at = start;
    while (!isEndOfField(lines[at])) at++;
    return at;
  }
}

function otherFields(): Error {
  return new Error('The server sent a row with different fields than requested.');
}

/** Also behind the last line. */
function isEndOfField(byte: number | undefined): boolean {
  return byte === tab || byte === newline || byte === undefined;
}
