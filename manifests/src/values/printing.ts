/* Writes values as Python's `str` and `repr` do. */
import { ExactNumber } from '@inlay/protocol/json';
import { CalendarDate, DateTime } from '../dates/date-time.ts';
import { Duration, Timedelta } from '../dates/durations.ts';
import { maxDepth, spendMade } from './budget.ts';
import { TemplateError } from './template-error.ts';
import {
  Attributes,
  Callable,
  Dict,
  Float,
  Generator,
  isPlainObject,
  mappingEntries,
  Namespace,
  numberOf,
  PythonSet,
  Tuple,
  typeName,
  Undefined,
  View,
  valueError,
} from './values.ts';

/** A value as Python's `str` writes it: what the reference puts into a query, a header or a path. */
export function pythonText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Undefined) return '';
  if (value instanceof DateTime || value instanceof CalendarDate) return String(value);
  if (value instanceof Timedelta || value instanceof Duration) return String(value);
  return pythonRepr(value);
}

/** A value as Python's `repr` writes it, which is how it stands within a list. */
export function pythonRepr(value: unknown): string {
  return repr(value, 0);
}

function repr(value: unknown, depth: number): string {
  if (depth > maxDepth) throw new TemplateError('limit', 'A value is nested too deeply to be printed');
  if (typeof value === 'string') return quote(value);
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value instanceof ExactNumber) return exactNumberText(value);
  const number = numberOf(value);
  if (number !== undefined) return number instanceof Float ? floatRepr(number.value) : integerText(number);
  const inside = (item: unknown) => repr(item, depth + 1);
  if (Array.isArray(value)) return made(`[${value.map(inside).join(', ')}]`);
  if (value instanceof Tuple) {
    const items = value.items.map(inside);
    return made(items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`);
  }
  if (value instanceof Dict || isPlainObject(value)) {
    return made(
      `{${mappingEntries(value)
        .map(([key, item]) => `${inside(key)}: ${inside(item)}`)
        .join(', ')}}`,
    );
  }
  if (value instanceof PythonSet) return value.items.length === 0 ? 'set()' : `{${value.items.map(inside).join(', ')}}`;
  if (value instanceof View) return made(`dict_${value.kind}(${inside(viewItems(value))})`);
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof DateTime) return dateTimeRepr(value);
  if (value instanceof CalendarDate) {
    const { year, month, day } = value.fields;
    return `datetime.date(${year}, ${month}, ${day})`;
  }
  if (value instanceof Timedelta) return timedeltaRepr(value);
  if (value instanceof Duration) {
    const { days, seconds, microseconds } = value.time;
    return `isodate.duration.Duration(${days}, ${seconds}, ${microseconds}, years=${value.years}, months=${value.months})`;
  }
  if (value instanceof Namespace) return made(`<Namespace ${inside(Dict.of(value.attributes))}>`);
  if (value instanceof Callable) return `<function ${value.name}>`;
  if (value instanceof Generator) return '<generator object>';
  if (value instanceof Attributes) return `<${value.name}>`;
  return `<${typeName(value)}>`;
}

function made(text: string): string {
  spendMade(text.length);
  return text;
}

export function viewItems({ kind, dict }: View): unknown[] {
  const entries = mappingEntries(dict);
  if (kind === 'keys') return entries.map(([key]) => key);
  if (kind === 'values') return entries.map(([, value]) => value);
  return entries.map((entry) => new Tuple(entry));
}

/** Python refuses to print longer integers. */
const maxDigits = 4300;

export function integerText(value: number | bigint): string {
  const text = String(value);
  if (text.length > maxDigits)
    throw valueError(`Exceeds the limit (${maxDigits} digits) for integer string conversion`);
  return text;
}

/** The digits of an API response are kept, but `12.00` is 12.0 in Python. */
export function exactNumberText({ text }: ExactNumber): string {
  const value = /[.eE]/.test(text) ? Number(text) : Number.NaN;
  return Number.isInteger(value) ? floatRepr(value) : text;
}

/** The shortest text that reads as the same double, with an exponent below 0.0001 and from 1e16 on. */
export function floatRepr(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  }
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const needsEscape = /['\\\p{C}\p{Zl}\p{Zp}\p{Zs}]/u;
const unprintable = /[\\\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function quote(text: string): string {
  spendMade(text.length);
  if (!needsEscape.test(text)) return `'${text}'`;
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(unprintable, (character) => {
    if (character === ' ') return character;
    const name = named[character];
    if (name !== undefined) return name;
    const point = character.codePointAt(0) ?? 0;
    if (point <= 0xff) return `\\x${hex(point, 2)}`;
    return point <= 0xffff ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`;
  });
  return `${mark}${mark === "'" ? escaped.replaceAll("'", "\\'") : escaped}${mark}`;
}

function hex(point: number, length: number): string {
  return point.toString(16).padStart(length, '0');
}

function dateTimeRepr(value: DateTime): string {
  const { year, month, day, hour, minute, second, microsecond } = value.fields;
  const parts = [year, month, day, hour, minute];
  if (second !== 0 || microsecond !== 0) parts.push(second);
  if (microsecond !== 0) parts.push(microsecond);
  const offset = value.zone?.offsetSeconds;
  const zone =
    offset === undefined
      ? ''
      : offset === 0
        ? ', tzinfo=datetime.timezone.utc'
        : `, tzinfo=datetime.timezone(${timedeltaRepr(Timedelta.of({ seconds: offset }))})`;
  return `datetime.datetime(${parts.join(', ')}${zone})`;
}

function timedeltaRepr({ days, seconds, microseconds }: Timedelta): string {
  const parts: string[] = [];
  if (days !== 0) parts.push(`days=${days}`);
  if (seconds !== 0) parts.push(`seconds=${seconds}`);
  if (microseconds !== 0) parts.push(`microseconds=${microseconds}`);
  return `datetime.timedelta(${parts.join(', ') || '0'})`;
}
