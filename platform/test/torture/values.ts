/*
 * Generated records that are hard to transport: numbers that no double represents, text that encodings reject, values
 * that do not match their stream's schema. A record is kept as JSON text, so that every digit is known. Everything
 * follows from a seed.
 */

import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

/** Numbers from 0 up to 1, the same for the same seed (Mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function whole(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[whole(random, list.length)] as T;
}

export interface HardField {
  name: string;
  /** The field's schema; undefined if the stream doesn't declare the field. */
  schema: object | undefined;
  /** A value as JSON text. */
  value(random: Random): string;
}

function digits(random: Random, atMost: number): string {
  const count = 1 + whole(random, atMost);
  return Array.from({ length: count }, (_, at) => String(at === 0 ? 1 + whole(random, 9) : whole(random, 10))).join('');
}

const sign = (random: Random) => (random() < 0.3 ? '-' : '');

export const integerText = (random: Random) =>
  pick(random, [
    '0',
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775808',
    `${sign(random)}${digits(random, 60)}`,
  ]);

export function numberText(random: Random): string {
  const fraction = random() < 0.7 ? `.${String(whole(random, 10))}${digits(random, 40)}` : '';
  const exponent = random() < 0.3 ? `e${pick(random, ['', '+', '-'])}${whole(random, 400)}` : '';
  return `${sign(random)}${random() < 0.2 ? '0' : digits(random, 20)}${fraction}${exponent}`;
}

const oddTexts = [
  '',
  ' ',
  'NaN',
  'null',
  '"quoted", and \\ back',
  'two\nlines\r\nand a tab\t',
  'Grüße, 漢字, 👩‍👩‍👧, e\u0301',
  '\u2028\u2029\ufeff',
  '007',
  '1.50',
  'true',
  '-0',
  '1e5',
  '2024-02-30',
  '{"not": "an object"}',
  '\\N',
  '\\.',
];

/** Without U+0000 and lone surrogates, which PostgreSQL cannot store: those are `unstorableText`. */
export const plainText = (random: Random) =>
  JSON.stringify(random() < 0.6 ? pick(random, oddTexts) : `${pick(random, oddTexts)}${digits(random, 200)}`);

const unstorableText = (random: Random) => pick(random, [plainText(random), '"a\\u0000b"', '"half \\ud800"']);

const timeTexts = [
  '2024-02-29T23:59:59.999999Z',
  '1970-01-01T00:00:00+14:00',
  '0001-01-01T00:00:00Z',
  '2024-06-01T12:00:00-07:30',
  '9999-12-31T23:59:59Z',
];

const nested = (random: Random) =>
  `{"n":${numberText(random)},"list":[${integerText(random)},${plainText(random)},null,[]],"deep":{"a":{"b":${integerText(random)}}}}`;

const orNull =
  (value: (random: Random) => string, share = 0.1) =>
  (random: Random) =>
    random() < share ? 'null' : value(random);

export const hardFields: readonly HardField[] = [
  { name: 'whole', schema: { type: ['null', 'integer'] }, value: orNull(integerText) },
  { name: 'big', schema: { type: ['null', 'integer'], airbyte_type: 'big_integer' }, value: orNull(integerText) },
  { name: 'decimal', schema: { type: ['null', 'number'] }, value: orNull(numberText) },
  { name: 'yes', schema: { type: ['null', 'boolean'] }, value: orNull((random) => pick(random, ['true', 'false'])) },
  { name: 'text', schema: { type: ['null', 'string'] }, value: orNull(plainText) },
  { name: 'odd text', schema: { type: ['null', 'string'] }, value: orNull(unstorableText) },
  {
    name: 'When',
    schema: { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
    value: orNull((random) => JSON.stringify(pick(random, timeTexts))),
  },
  { name: 'tree', schema: { type: ['null', 'object'] }, value: orNull(nested) },
  {
    name: 'list',
    schema: { type: ['null', 'array'] },
    value: orNull((random) => `[${nested(random)},${numberText(random)}]`),
  },
  // The stream says one thing and the records another.
  {
    name: 'drift_whole',
    schema: { type: ['null', 'integer'] },
    value: orNull(
      (random) => pick(random, [integerText(random), numberText(random), plainText(random), nested(random)]),
      0.3,
    ),
  },
  {
    name: 'drift_yes',
    schema: { type: ['null', 'boolean'] },
    value: orNull((random) => pick(random, ['true', '"true"', '"no"', '1', '[]']), 0.3),
  },
  {
    name: 'drift_when',
    schema: { type: ['null', 'string'], format: 'date-time' },
    value: orNull(
      (random) =>
        pick(random, [JSON.stringify(pick(random, timeTexts)), '"yesterday"', '"2024-13-45T00:00:00Z"', '17']),
      0.3,
    ),
  },
  {
    name: 'drift_tree',
    schema: { type: ['null', 'object'] },
    value: orNull((random) => pick(random, [nested(random), plainText(random), numberText(random), '[]']), 0.3),
  },
  {
    name: 'loose',
    schema: {},
    value: (random) => pick(random, [integerText(random), plainText(random), nested(random), 'false', 'null']),
  },
];

export interface HardRecord {
  id: number;
  /** JSON text by field, `id` included. */
  fields: Map<string, string>;
}

/** The fields of a round: some of all, always in the same order. */
export function someFields(random: Random, among: readonly HardField[] = hardFields): HardField[] {
  const chosen = among.filter(() => random() < 0.6);
  return chosen.length > 0 ? chosen : [pick(random, among)];
}

export function hardRecords(random: Random, fields: readonly HardField[], count: number): HardRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const entries = fields.map(({ name, value }): [string, string] => [name, value(random)]);
    return { id, fields: new Map([['id', String(id)], ...entries]) };
  });
}

/** With blanks as written by Python or JavaScript. */
export function recordText({ fields }: HardRecord, blank = ''): string {
  return `{${[...fields].map(([name, text]) => `${JSON.stringify(name)}:${blank}${text}`).join(`,${blank}`)}}`;
}

export function schemaOf(fields: readonly HardField[]): JsonSchema {
  const declared = fields.flatMap(({ name, schema }) => (schema ? [[name, schema] as const] : []));
  return { type: 'object', properties: { id: { type: 'integer' }, ...Object.fromEntries(declared) } };
}
