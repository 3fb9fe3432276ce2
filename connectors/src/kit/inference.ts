/*
 * Infers a JSON Schema from a sample of records. The schema describes and never forbids: every field may be null or
 * missing, more fields may come, and a format is set only if the whole sample has it.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { ExactNumber, isJsonObject } from '@inlay/protocol/json';

const maxDepth = 5;
/**
 * An object within a record with more keys than this is treated as a map, for example by id, and its keys are not
 * fields.
 */
const maxProperties = 500;

type TextFormat = 'date' | 'timestamp_with_timezone' | 'timestamp_without_timezone' | 'text';

/** What has been seen in one place. */
interface Shape {
  types: Set<string>;
  formats: Set<TextFormat>;
  properties: Map<string, Shape>;
  items: Shape | undefined;
}

interface Inference {
  add(record: Record<string, unknown>): void;
  schema(): JsonSchema;
}

export function inferSchema(): Inference {
  const root = emptyShape();
  return {
    add: (record) => see(root, record, 0),
    schema: () => ({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      additionalProperties: true,
      properties: describeProperties(root.properties),
    }),
  };
}

const emptyShape = (): Shape => ({ types: new Set(), formats: new Set(), properties: new Map(), items: undefined });

function see(shape: Shape, value: unknown, depth: number): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    shape.types.add('array');
    shape.items ??= emptyShape();
    if (depth < maxDepth) for (const item of value) see(shape.items, item, depth + 1);
  } else if (isJsonObject(value)) {
    shape.types.add('object');
    const limit = depth === 0 ? Number.POSITIVE_INFINITY : maxProperties;
    if (depth < maxDepth && shape.properties.size <= limit) seeProperties(shape, value, depth + 1);
  } else if (typeof value === 'number') {
    shape.types.add(Number.isInteger(value) ? 'integer' : 'number');
  } else if (value instanceof ExactNumber) {
    shape.types.add(/[.eE]/.test(value.text) ? 'number' : 'integer');
  } else {
    shape.types.add(typeof value);
    if (typeof value === 'string') shape.formats.add(textFormat(value));
  }
}

function seeProperties({ properties }: Shape, value: Record<string, unknown>, depth: number): void {
  for (const [key, member] of Object.entries(value)) {
    const property = properties.get(key) ?? emptyShape();
    properties.set(key, property);
    see(property, member, depth);
  }
}

function describe(shape: Shape): JsonSchema {
  const types = new Set(shape.types);
  if (types.has('number')) types.delete('integer');
  // Only nulls in the sample: anything may come.
  if (types.size === 0) return {};
  return {
    type: ['null', ...[...types].sort()],
    ...(types.size === 1 && types.has('string') && describeFormat(shape.formats)),
    ...(types.has('object') && describeObject(shape)),
    ...(types.has('array') && { items: describe(shape.items ?? emptyShape()) }),
  };
}

function describeObject({ properties }: Shape): JsonSchema {
  const isMap = properties.size > maxProperties;
  return { additionalProperties: true, properties: isMap ? {} : describeProperties(properties) };
}

function describeProperties(properties: Map<string, Shape>): Record<string, JsonSchema> {
  return Object.fromEntries([...properties].map(([key, shape]) => [key, describe(shape)]));
}

export function describeFormat(formats: ReadonlySet<TextFormat>): JsonSchema {
  const [format] = formats;
  if (formats.size !== 1 || format === 'text') return {};
  return format === 'date' ? { format } : { format: 'date-time', airbyte_type: format };
}

const datePattern = /^\d{4}-\d\d-\d\d$/;
const timestampPattern = /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/;

export function textFormat(text: string): TextFormat {
  // Most text is longer or does not begin with a year.
  if (text.length < 10 || text.length > 35) return 'text';
  if (datePattern.test(text)) return isRealDate(text) ? 'date' : 'text';
  const [, date, , zone] = timestampPattern.exec(text) ?? [];
  if (date === undefined || !isRealDate(date) || Number.isNaN(Date.parse(text))) return 'text';
  return zone === undefined ? 'timestamp_without_timezone' : 'timestamp_with_timezone';
}

/** Date.parse takes the 31st of February for the 3rd of March. */
function isRealDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
