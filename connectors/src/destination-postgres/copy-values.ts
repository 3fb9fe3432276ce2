/*
 * Values of records as the text that COPY reads. PostgreSQL accepts the output for a column of that type and returns
 * the same value. A value without such a text does not fit the column.
 */
import { ExactNumber, parseJson, stringifyJson } from '@inlay/protocol/json';
import type { ColumnType } from './column-types.ts';
import { fitsDate, fitsTime, fitsTimestamp } from './date-values.ts';
import { fitsBigint, fitsDouble, fitsNumeric, isNegativeZero } from './numbers.ts';
import { respelled, type Spelled } from './spelling.ts';

export const copyNull = '\\N';

/** The value as text, and undefined for a value that does not fit. */
type Writer = (value: unknown) => string | undefined;

const ifString = (fits: (text: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && fits(value) ? value : undefined;

/** A number, or a text that says one. */
const ifNumber = (fits: (text: string) => boolean) => (value: unknown) => {
  const isNumber = typeof value === 'number' || typeof value === 'string' || value instanceof ExactNumber;
  const text = String(value);
  return isNumber && fits(text) ? text : undefined;
};

const writers: Record<ColumnType, Writer> = {
  text: (value) => (typeof value === 'string' ? value : stringifyJson(value)),
  boolean: (value) => (typeof value === 'boolean' || value === 'true' || value === 'false' ? String(value) : undefined),
  bigint: ifNumber(fitsBigint),
  'double precision': (value) => (isSignedZero(value) ? '-0' : ifNumber(fitsDouble)(value)),
  numeric: ifNumber(fitsNumeric),
  date: ifString(fitsDate),
  'timestamp without time zone': ifString((text) => fitsTimestamp(text, 'without zone')),
  'timestamp with time zone': ifString((text) => fitsTimestamp(text, 'with zone')),
  'time without time zone': ifString((text) => fitsTime(text, 'without zone')),
  'time with time zone': ifString((text) => fitsTime(text, 'with zone')),
  bytea: writeBinary,
  jsonb: (value) => stringifyJson(value),
};

/** With substitutes for characters and numbers that PostgreSQL cannot store. */
export interface Stored {
  text: string;
  isChanged: boolean;
}

/** The value as COPY reads it, with its escapes. Undefined: it does not fit a column of this type. */
export function copyValue(type: ColumnType, value: unknown, column: Spelled = {}): Stored | undefined {
  const spelled = column.was?.length ? respelled(value, column) : value;
  const text = writers[type](spelled);
  if (text === undefined) return undefined;
  const storable = type === 'jsonb' ? storableJson(text) : storableText(text);
  return { text: escapeForCopy(storable), isChanged: storable !== text || losesSign(type, value, spelled) };
}

/** Whether a zero is stored without the sign that it came with. Within JSON, `storableValue` sees to it. */
function losesSign(type: ColumnType, value: unknown, spelled: unknown): boolean {
  return isSignedZero(value) && (type === 'bigint' || type === 'numeric' || !isSignedZero(spelled));
}

function isSignedZero(value: unknown): boolean {
  return (typeof value === 'string' || value instanceof ExactNumber) && isNegativeZero(String(value));
}

function writeBinary(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value ? `\\x${bytes.toString('hex')}` : undefined;
}

/** PostgreSQL stores neither the character NUL nor half of a surrogate pair. */
function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed;
}

/**
 * JSON contains such characters as escapes. An escaped backslash before looks the same, and text may look like a
 * negative zero: the code below distinguishes them.
 */
const doubtfulJson = /\\u0000|\\u[dD][89a-fA-F]|[0-9][eE][+-]?[0-9]{4}|-0(?![0-9.]*[1-9])/;
const longNumber = /[0-9]{1000}/;

/** False: it may be storable all the same. */
export function isStorableJson(json: string): boolean {
  return !doubtfulJson.test(json) && (json.length <= 16_000 || !longNumber.test(json));
}

function storableJson(json: string): string {
  return isStorableJson(json) ? json : stringifyJson(storableValue(parseJson(json)));
}

/** Numbers in jsonb are of the type numeric: a number beyond that is stored as a text with its digits, and zero has no sign. */
function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (value instanceof ExactNumber) {
    if (isNegativeZero(value.text)) return 0;
    return fitsNumeric(value.text) ? value : value.text;
  }
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [storableText(key), storableValue(member)]));
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeForCopy(text: string): string {
  return /[\\\n\r\t]/.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character) : text;
}
