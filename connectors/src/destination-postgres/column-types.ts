/*
 * Which type a column gets from a property's JSON Schema or from a value, and what becomes of a column that gets values
 * of another type: it is widened to a type that holds the old and the new values without loss. It is never narrowed.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';
import { ExactNumber } from '../kit/json.ts';
import { fitsBigint, fitsDouble, fitsNumeric, isSpecialNumber } from './numbers.ts';

/** As PostgreSQL spells them. */
const columnTypes = [
  'text',
  'boolean',
  'bigint',
  'double precision',
  'numeric',
  'date',
  'timestamp without time zone',
  'timestamp with time zone',
  'time without time zone',
  'time with time zone',
  'bytea',
  'jsonb',
] as const;
export type ColumnType = (typeof columnTypes)[number];

export function isColumnType(type: string): type is ColumnType {
  return (columnTypes as readonly string[]).includes(type);
}

export function columnTypeOf(schema: JsonSchema): ColumnType {
  const types = [schema.type].flat().filter((type) => type !== 'null');
  // More than one type, or none: JSON can be anything.
  if (types.length !== 1) return 'jsonb';
  const kind = schema.airbyte_type;
  const isExact = kind === 'big_integer' || kind === 'big_number';
  switch (types[0]) {
    case 'boolean':
      return 'boolean';
    case 'integer':
      return isExact ? 'numeric' : 'bigint';
    case 'number':
      return isExact ? 'numeric' : kind === 'integer' ? 'bigint' : 'double precision';
    case 'string':
      return isExact ? 'numeric' : stringTypeOf(schema);
    default:
      return 'jsonb';
  }
}

function stringTypeOf({ format, airbyte_type: kind, contentEncoding }: JsonSchema): ColumnType {
  if (contentEncoding === 'base64') return 'bytea';
  if (format === 'date') return 'date';
  if (format === 'date-time') {
    return kind === 'timestamp_without_timezone' ? 'timestamp without time zone' : 'timestamp with time zone';
  }
  if (format === 'time') {
    return kind === 'time_with_timezone' ? 'time with time zone' : 'time without time zone';
  }
  return 'text';
}

/** The narrowest type that holds this value of a field, next to a column that does not. */
export function columnTypeFor(value: unknown): ColumnType {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number' || value instanceof ExactNumber || isSpecialNumber(value)) {
    const text = String(value);
    return fitsBigint(text) ? 'bigint' : fitsNumeric(text) ? 'numeric' : 'text';
  }
  return typeof value === 'object' ? 'jsonb' : 'text';
}

/** The type of a column for a field of which nothing is known but its first value. */
export function firstColumnType(value: unknown): ColumnType {
  const type = columnTypeFor(value);
  return type === 'numeric' && typeof value === 'number' && fitsDouble(String(value)) ? 'double precision' : type;
}

/** How many bytes of a row a value takes at the most, and on which multiples it begins. */
export function widthOf(type: ColumnType): { bytes: number; alignment: number } {
  switch (type) {
    case 'boolean':
      return { bytes: 1, alignment: 1 };
    case 'date':
      return { bytes: 4, alignment: 4 };
    case 'time with time zone':
      return { bytes: 12, alignment: 8 };
    case 'bigint':
    case 'double precision':
    case 'timestamp with time zone':
    case 'timestamp without time zone':
    case 'time without time zone':
      return { bytes: 8, alignment: 8 };
    default:
      // PostgreSQL moves what is longer out of the row, if the row is too long otherwise.
      return { bytes: 24, alignment: 1 };
  }
}

const numbers: readonly ColumnType[] = ['bigint', 'double precision', 'numeric'];

/** The type a column of type `existing` needs so that it holds values of type `wanted` as well. */
export function widerType(existing: ColumnType, wanted: ColumnType): ColumnType {
  if (existing === wanted) return existing;
  if (existing === 'jsonb' || wanted === 'jsonb') return 'jsonb';
  if (numbers.includes(existing) && numbers.includes(wanted)) return 'numeric';
  return 'text';
}

/** Whether values of a column that was widened still have the order that they had before. */
export function keepsOrder(before: ColumnType, after: ColumnType): boolean {
  return before === after || after === 'numeric';
}

/** The SQL that turns the values of a column into ones of a wider type. */
export function conversion(column: string, from: ColumnType, to: ColumnType): string {
  // A cast of double precision to numeric would round to 15 digits.
  if (to === 'numeric') return `${column}::text::numeric`;
  if (from === 'bytea') {
    const base64 = `translate(encode(${column}, 'base64'), E'\\n', '')`;
    return to === 'jsonb' ? `to_jsonb(${base64})` : base64;
  }
  if (to === 'jsonb') return `to_jsonb(${column})`;
  // As JSON writes it: dates and times in ISO 8601, which is how records bring them.
  return `to_jsonb(${column}) #>> '{}'`;
}
