/*
 * Values of records as the text that COPY reads. What is written here, PostgreSQL accepts for a column of that type: a
 * value that does not fit becomes NULL with a note, so one odd value does not stop a sync.
 */
import type { FieldChange } from '../../src/protocol.ts';
import type { ColumnType } from './column-types.ts';
import { fitsDate, fitsTime, fitsTimestamp, toMicroseconds } from './date-values.ts';

export const copyNull = '\\N';

/** The value as text, and undefined for a value that does not fit. */
type Writer = (value: unknown) => string | undefined;

const ifString = (fits: (text: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && fits(value) ? value : undefined;

const writers: Record<ColumnType, Writer> = {
  text: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  boolean: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  bigint: writeInteger,
  'double precision': (value) => (typeof value === 'number' || isSpecialNumber(value) ? String(value) : undefined),
  numeric: writeNumeric,
  date: ifString(fitsDate),
  'timestamp without time zone': ifString((text) => fitsTimestamp(text, 'without zone')),
  'timestamp with time zone': ifString((text) => fitsTimestamp(text, 'with zone')),
  'time without time zone': ifString((text) => fitsTime(text, 'without zone')),
  'time with time zone': ifString((text) => fitsTime(text, 'with zone')),
  bytea: writeBinary,
  jsonb: (value) => JSON.stringify(value),
};

/** Writes the values of one column; `changes` collects what could not be stored as it came. */
export function copyWriter(field: string, type: ColumnType): (value: unknown, changes: FieldChange[]) => string {
  const write = writers[type];
  const makeStorable = /^time/.test(type) ? toMicroseconds : type === 'jsonb' ? storableJson : storableText;
  return (value, changes) => {
    const text = write(value);
    if (text === undefined) {
      changes.push({ field, change: 'NULLED', reason: 'DESTINATION_TYPECAST_ERROR' });
      return copyNull;
    }
    const storable = makeStorable(text);
    if (storable !== text) changes.push({ field, change: 'TRUNCATED', reason: 'DESTINATION_SERIALIZATION_ERROR' });
    return escapeForCopy(storable);
  };
}

/** An integer beyond 2^53 has lost digits on its way when it comes as a number; as a string it has not. */
function writeInteger(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return undefined;
  const integer = BigInt(value);
  return BigInt.asIntN(64, integer) === integer ? value : undefined;
}

/** Far more digits than anyone has, and within what numeric holds. */
const maxNumericLength = 10_000;

function writeNumeric(value: unknown): string | undefined {
  if (typeof value === 'number' || isSpecialNumber(value)) return String(value);
  if (typeof value !== 'string' || value.length > maxNumericLength) return undefined;
  const exponent = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?$/.exec(value);
  return exponent && Math.abs(Number(exponent[1] ?? 0)) <= 5_000 ? value : undefined;
}

/** What JSON cannot write as a number is written as a string. */
function isSpecialNumber(value: unknown): value is string {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
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

function storableJson(json: string): string {
  // JSON.stringify writes both as escapes. An escaped backslash before looks the same and is sorted out below.
  if (!/\\u0000|\\ud[89a-f]/.test(json)) return json;
  const storable = (value: unknown): unknown => {
    if (typeof value === 'string') return storableText(value);
    if (Array.isArray(value)) return value.map(storable);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [storableText(key), storable(member)]));
  };
  return JSON.stringify(storable(JSON.parse(json)));
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeForCopy(text: string): string {
  return /[\\\n\r\t]/.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character) : text;
}
