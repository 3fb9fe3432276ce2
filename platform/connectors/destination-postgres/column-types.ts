/*
 * Which type a column gets from a property's JSON Schema, and what becomes of a column whose property changes its type:
 * the column is widened to a type that holds the old and the new values without loss. It is never narrowed.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';

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

const numbers: readonly ColumnType[] = ['bigint', 'double precision', 'numeric'];

/** The type a column of type `existing` needs so that it holds values of type `wanted` as well. */
export function widerType(existing: ColumnType, wanted: ColumnType): ColumnType {
  if (existing === wanted) return existing;
  if (existing === 'jsonb' || wanted === 'jsonb') return 'jsonb';
  if (numbers.includes(existing) && numbers.includes(wanted)) return 'numeric';
  return 'text';
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
