/*
 * How a column's values are written as JSON, and the JSON Schema that says so. Nothing is lost that JSON can carry:
 * bigint and numeric are strings, since a JSON number keeps 53 bits; timestamps keep their microseconds; NaN and
 * Infinity, which JSON cannot write, are strings of that name; a type without a counterpart is its PostgreSQL text.
 * The exception is json and jsonb: numbers in them are as exact as JSON numbers are, and null alone is no value.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';

export interface ColumnType {
  /** Of the type itself, or of a domain's base type; a type that is not built in is `other`. */
  name: string;
  isArray: boolean;
}

export interface ColumnValue {
  schema: JsonSchema;
  /** What to select instead of the column, given its quoted name. */
  expression(column: string): string;
  /** From the text that PostgreSQL sends. */
  convert(text: string): unknown;
}

interface Scalar {
  schema: JsonSchema;
  convert(text: string): unknown;
}

const asIs = (text: string) => text;
const string = (more: JsonSchema = {}): JsonSchema => ({ type: 'string', ...more });
const dateTime = (kind: string): JsonSchema => string({ format: 'date-time', airbyte_type: kind });
const time = (kind: string): JsonSchema => string({ format: 'time', airbyte_type: kind });

const integer: Scalar = { schema: { type: 'integer' }, convert: Number };
const float: Scalar = {
  schema: { type: 'number' },
  convert: (text) => {
    const number = Number(text);
    return Number.isFinite(number) ? number : text;
  },
};
const json: Scalar = {
  schema: { type: ['object', 'array', 'string', 'number', 'boolean'] },
  convert: (text) => JSON.parse(text),
};

const scalars: Record<string, Scalar> = {
  int2: integer,
  int4: integer,
  int8: { schema: string({ airbyte_type: 'big_integer' }), convert: asIs },
  numeric: { schema: string({ airbyte_type: 'big_number' }), convert: asIs },
  float4: float,
  float8: float,
  // As a column `t`, as an element of a text array `true`.
  bool: { schema: { type: 'boolean' }, convert: (text) => text.startsWith('t') },
  date: { schema: string({ format: 'date' }), convert: asIs },
  timestamp: { schema: dateTime('timestamp_without_timezone'), convert: (text) => text.replace(' ', 'T') },
  timestamptz: {
    schema: dateTime('timestamp_with_timezone'),
    convert: (text) => text.replace(' ', 'T').replace('+00', 'Z'),
  },
  time: { schema: time('time_without_timezone'), convert: asIs },
  // RFC 3339 wants the minutes of an offset.
  timetz: { schema: time('time_with_timezone'), convert: (text) => text.replace(/[+-]\d\d$/, '$&:00') },
  uuid: { schema: string({ format: 'uuid' }), convert: asIs },
  json,
  jsonb: json,
  bytea: {
    schema: string({ contentEncoding: 'base64' }),
    convert: (text) => Buffer.from(text.slice(2), 'hex').toString('base64'),
  },
};

const other: Scalar = { schema: string(), convert: asIs };

export function columnValue({ name, isArray }: ColumnType, isNullable: boolean): ColumnValue {
  const scalar = Object.hasOwn(scalars, name) ? (scalars[name] ?? other) : other;
  if (!isArray) {
    return { schema: isNullable ? orNull(scalar.schema) : scalar.schema, expression: asIs, convert: scalar.convert };
  }
  const convertItems = (items: unknown): unknown =>
    Array.isArray(items) ? items.map(convertItems) : typeof items === 'string' ? scalar.convert(items) : items;
  const schema = { type: 'array', items: orNull(scalar.schema) };
  return {
    schema: isNullable ? orNull(schema) : schema,
    // As texts first, so that numbers in the array keep their digits.
    expression: (column) => `array_to_json(${column}::text[])::text`,
    convert: (text) => convertItems(JSON.parse(text)),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema.type, 'null'].flat() };
}

const endless = ['timestamp', 'timestamptz', 'date', 'numeric', 'float4', 'float8'];
const cursorTypes = new Set(
  [endless, 'int2', 'int4', 'int8', 'time', 'timetz', 'uuid', 'text', 'varchar', 'bpchar'].flat(),
);

/** Whether rows can be read in the order of such a column. */
export function isCursorType({ name, isArray }: ColumnType): boolean {
  return !isArray && cursorTypes.has(name);
}

/** Whether nothing comes after this value. */
export function isEndOfOrder({ name }: ColumnType, text: string): boolean {
  return endless.includes(name) && ['infinity', 'Infinity', 'NaN'].includes(text);
}
