/*
 * Which type a column gets from a property's JSON Schema or from a value, and how a column handles values of another
 * type: it is widened to a type that fits old and new values without loss. Columns are never narrowed.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { ExactNumber } from '@inlay/protocol/json';
import { fitsTimestamp } from './date-values.ts';
import { fitsBigint, fitsDouble, fitsNumeric, isNegativeZero, isSpecialNumber } from './numbers.ts';

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

/** The narrowest type that fits this value of a field whose column does not. */
export function columnTypeFor(value: unknown, column?: ColumnType): ColumnType {
  if (column === 'timestamp without time zone' && typeof value === 'string' && fitsTimestamp(value, 'with zone')) {
    return 'timestamp with time zone';
  }
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
  const isDouble = isNegativeZero(String(value)) || (type === 'numeric' && fitsDouble(String(value)));
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  return isNumber && isDouble ? 'double precision' : type;
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
const timestamps: readonly ColumnType[] = ['timestamp without time zone', 'timestamp with time zone'];

/** The type that a column of type `existing` needs to fit values of type `wanted` too. */
export function widerType(existing: ColumnType, wanted: ColumnType): ColumnType {
  if (existing === wanted) return existing;
  if (existing === 'jsonb' || wanted === 'jsonb') return 'jsonb';
  if (numbers.includes(existing) && numbers.includes(wanted)) return 'numeric';
  if (timestamps.includes(existing) && timestamps.includes(wanted)) return 'timestamp with time zone';
  return 'text';
}

/** Whether such a conversion takes the sign of a negative zero, which only doubles and texts have. */
export function losesSigns(from: ColumnType, to: ColumnType): boolean {
  return from === 'double precision' && (to === 'numeric' || to === 'jsonb');
}

/**
 * The SQL that converts a column's values to a wider type. The result equals that of spelling.ts for later values, so
 * that a value sent again matches itself.
 */
export function conversion(column: string, from: ColumnType, to: ColumnType, isKey: boolean): string {
  // A cast of double precision to numeric would round to 15 digits.
  if (to === 'numeric') return `${column}::text::numeric`;
  if (to === 'timestamp with time zone') return `${column} at time zone 'UTC'`;
  if (to === 'text') return textOf(column, from, isKey);
  if (from === 'numeric') return `to_jsonb((${textOf(column, from, isKey)})::numeric)`;
  const isJsonType = from === 'boolean' || numbers.includes(from);
  return `to_jsonb(${isJsonType ? column : textOf(column, from, isKey)})`;
}

/** Dates and times in ISO 8601, bytes in base64, numbers as JavaScript writes them: as records bring them. */
function textOf(column: string, from: ColumnType, isKey: boolean): string {
  switch (from) {
    case 'double precision': {
      const text = isKey ? `(${column} + 0)::text` : `${column}::text`;
      return `case when abs(${column}) >= 1e-6 and abs(${column}) < 1e21 then ${text}::numeric::text
        else replace(${text}, 'e-0', 'e-') end`;
    }
    case 'numeric':
      // Equal numbers are one key, whatever zeros they end with.
      return isKey
        ? `case when ${column}::text like '%.%' then rtrim(rtrim(${column}::text, '0'), '.') else ${column}::text end`
        : `${column}::text`;
    case 'bytea':
      return `translate(encode(${column}, 'base64'), E'\\n', '')`;
    case 'timestamp with time zone':
      return `replace(to_jsonb(${column}) #>> '{}', '+00:00', 'Z')`;
    case 'time with time zone':
      return `replace(regexp_replace(${column}::text, '([+-][0-9][0-9])$', '\\1:00'), '+00:00', 'Z')`;
    default:
      return `to_jsonb(${column}) #>> '{}'`;
  }
}
