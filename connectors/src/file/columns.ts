/*
 * Types of CSV columns, which contain only text: detected from a sample, and applied to values when the file is read.
 * Both recognize the same spellings, and only those that can be restored exactly: 007 stays text. A number keeps all
 * its digits, including the trailing zero of 2.50.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { ExactNumber, survivesDouble } from '@inlay/protocol/json';
import { describeFormat, textFormat } from '../kit/inference.ts';

/** What is big does not fit into 64 bits. */
type Kind = 'integer' | 'big_integer' | 'number' | 'big_number' | 'boolean' | ReturnType<typeof textFormat>;
export type Row = Record<string, string | null>;

/** More digits than these are rather a text than a number. */
const longestNumber = 100;
const integer = /^(0|-?[1-9]\d*)$/;
const decimal = /^-?(0|[1-9]\d*)\.\d+$/;
const boolean = /^(true|false)$/i;

const isInteger = (text: string) => text.length <= longestNumber && integer.test(text);
const isDecimal = (text: string) => text.length <= longestNumber && decimal.test(text);
const isBoolean = (text: string) => boolean.test(text);

function kindOf(text: string): Kind {
  if (isInteger(text)) return text.length <= 18 ? 'integer' : 'big_integer';
  if (isDecimal(text)) return survivesDouble(text) ? 'number' : 'big_number';
  if (isBoolean(text)) return 'boolean';
  return textFormat(text);
}

export function inferColumns() {
  const columns = new Map<string, Set<Kind>>();
  return {
    add(row: Row): void {
      for (const [name, text] of Object.entries(row)) {
        const kinds = columns.get(name) ?? new Set();
        columns.set(name, kinds);
        if (text !== null) kinds.add(kindOf(text));
      }
    },
    schema: (): JsonSchema => ({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      additionalProperties: true,
      properties: Object.fromEntries([...columns].map(([name, kinds]) => [name, describe(kinds)])),
    }),
  };
}

function describe(kinds: ReadonlySet<Kind>): JsonSchema {
  const only = (...allowed: Kind[]) => kinds.size > 0 && [...kinds].every((kind) => allowed.includes(kind));
  if (only('integer')) return { type: ['null', 'integer'] };
  if (only('integer', 'big_integer')) return { type: ['null', 'integer'], airbyte_type: 'big_integer' };
  if (only('integer', 'number')) return { type: ['null', 'number'] };
  if (only('integer', 'big_integer', 'number', 'big_number')) {
    return { type: ['null', 'number'], airbyte_type: 'big_number' };
  }
  if (only('boolean')) return { type: ['null', 'boolean'] };
  return { type: ['null', 'string'], ...describeFormat(kinds as ReadonlySet<ReturnType<typeof textFormat>>) };
}

/** Casts the values of a row to the schema's types; a value that does not fit stays text. Changes the row in place. */
export function rowConverter(schema: JsonSchema): (row: Row) => Record<string, unknown> {
  const conversions = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    .map(([name, { type }]) => [name, conversionTo(type)] as const)
    .filter(([, convert]) => convert !== undefined);
  return (row) => {
    const record: Record<string, unknown> = row;
    for (const [name, convert] of conversions) {
      const text = row[name];
      if (typeof text === 'string') record[name] = convert?.(text);
    }
    return record;
  };
}

function conversionTo(type: unknown): ((text: string) => unknown) | undefined {
  const types = [type].flat();
  if (types.includes('integer') || types.includes('number')) {
    return (text) => (isInteger(text) || isDecimal(text) ? numberOf(text) : text);
  }
  if (types.includes('boolean')) return (text) => (isBoolean(text) ? text.toLowerCase() === 'true' : text);
  return undefined;
}

function numberOf(text: string): number | ExactNumber {
  const number = Number(text);
  return String(number) === text ? number : new ExactNumber(text);
}
