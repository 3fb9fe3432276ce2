/*
 * How a column's values are written as JSON, and the JSON Schema that says so. Nothing is lost that JSON can carry:
 * numbers have the digits that PostgreSQL writes, json and jsonb the very text that the database keeps, timestamps their
 * microseconds. numeric is a string, since it may be NaN, and readers of JSON round long numbers. NaN and Infinity, which
 * JSON cannot write, are strings of that name; a type without a counterpart is its PostgreSQL text. The value null of
 * json and jsonb and the absence of a value are both null.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export interface ColumnType {
  /** The type itself, or a domain's base type; a type that is not built in is `other`. */
  name: string;
  isArray: boolean;
}

/**
 * How a value's text becomes JSON. `number`: it is JSON already, unless it is NaN or an infinity. `quoted`: a string.
 * `document`: it is JSON, and may go over lines. The others by their own rules.
 */
export type TextForm = 'number' | 'quoted' | 'document' | 'boolean' | 'timestamp' | 'timestamptz' | 'other';

export interface ColumnValue {
  schema: JsonSchema;
  /** The conversion to JSON: the same for types that PostgreSQL casts to each other without a change. */
  reading: string;
  /** What to select instead of the column, given its quoted name. */
  expression(column: string): string;
  form: TextForm;
  /** Converts PostgreSQL's text to JSON text. Slower than by format, with the same result. */
  toJson(text: string): string;
}

interface Scalar {
  schema: JsonSchema;
  form: TextForm;
  toJson(text: string): string;
}

const asIs = (text: string) => text;
const quote = (text: string) => JSON.stringify(text);
const string = (more: JsonSchema = {}): Scalar => ({
  schema: { type: 'string', ...more },
  form: 'quoted',
  toJson: quote,
});

const integer: Scalar = { schema: { type: 'integer' }, form: 'number', toJson: asIs };
const float: Scalar = {
  schema: { type: 'number' },
  form: 'number',
  toJson: (text) => (/\d$/.test(text) ? text : quote(text)),
};
/** Within a JSON text, a line break is always white space: in a string it would be escaped. */
const document: Scalar = {
  schema: { type: ['object', 'array', 'string', 'number', 'boolean'] },
  form: 'document',
  toJson: (text) => text.replace(/[\n\r]/g, ' '),
};
const time = (kind: string) => string({ format: 'time', airbyte_type: kind });

const scalars: Record<string, Scalar> = {
  int2: integer,
  int4: integer,
  int8: integer,
  numeric: string({ airbyte_type: 'big_number' }),
  float4: float,
  float8: float,
  bool: { schema: { type: 'boolean' }, form: 'boolean', toJson: (text) => String(text.startsWith('t')) },
  date: string({ format: 'date' }),
  timestamp: {
    schema: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_without_timezone' },
    form: 'timestamp',
    toJson: (text) => quote(text.replace(' ', 'T')),
  },
  timestamptz: {
    schema: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
    form: 'timestamptz',
    toJson: (text) => quote(text.replace(' ', 'T').replace('+00', 'Z')),
  },
  time: time('time_without_timezone'),
  timetz: {
    ...time('time_with_timezone'),
    form: 'other',
    // RFC 3339 wants the minutes of an offset.
    toJson: (text) => quote(text.replace(/[+-]\d\d$/, '$&:00')),
  },
  uuid: string({ format: 'uuid' }),
  json: document,
  jsonb: document,
  bytea: {
    ...string({ contentEncoding: 'base64' }),
    form: 'other',
    toJson: (text) => quote(Buffer.from(text.slice(2), 'hex').toString('base64')),
  },
};

const other = string();

/** PostgreSQL itself writes arrays of these as the wanted JSON. A cast to text would change some of them. */
const jsonArrays = new Set(
  ['int2', 'int4', 'int8', 'float4', 'float8', 'bool', 'json', 'jsonb', 'text', 'varchar', 'bpchar', 'inet'].values(),
);

export function columnValue({ name, isArray }: ColumnType, isNullable: boolean): ColumnValue {
  const isKnown = Object.hasOwn(scalars, name);
  const scalar = isKnown ? (scalars[name] ?? other) : other;
  const reading = `${isKnown ? name : 'text'}${isArray ? '[]' : ''}`;
  const { form, toJson } = scalar;
  if (!isArray) {
    return { schema: isNullable ? orNull(scalar.schema) : scalar.schema, reading, expression: asIs, form, toJson };
  }
  const array = { type: 'array', items: orNull(scalar.schema) };
  const schema = isNullable ? orNull(array) : array;
  if (jsonArrays.has(name)) {
    return {
      schema,
      reading,
      expression: (column) => `array_to_json(${column})`,
      form: 'document',
      toJson: document.toJson,
    };
  }
  const itemsToJson = (items: unknown): string => {
    if (Array.isArray(items)) return `[${items.map(itemsToJson).join(',')}]`;
    return typeof items === 'string' ? toJson(items) : 'null';
  };
  return {
    schema,
    reading,
    expression: (column) => `array_to_json(${column}::text[])`,
    form: 'other',
    toJson: (text) => itemsToJson(JSON.parse(text)),
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
