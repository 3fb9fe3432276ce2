/* The functions that every template may call. */

import { CalendarDate, DateTime, utc } from '../dates/date-time.ts';
import { parseDuration, Timedelta } from '../dates/durations.ts';
import { formatDate, parseDate } from '../dates/formats.ts';
import { parseIsoDate } from '../dates/iso-dates.ts';
import { strftime } from '../dates/strftime.ts';
import { strptime } from '../dates/strptime.ts';
import { bindArguments } from '../values/call-arguments.ts';
import { toInteger } from '../values/conversions.ts';
import {
  Attributes,
  Callable,
  Dict,
  Float,
  isInteger,
  Namespace,
  numberOf,
  typeError,
  typeName,
  Undefined,
  valueError,
} from '../values/values.ts';
import { entriesOf } from './methods.ts';
import { asDateError, compareValues, iterate } from './operators.ts';
import type { Clock } from './world.ts';

/** A function with its parameters: those after a `?` are optional. */
function define(name: string, parameters: string, call: (...args: unknown[]) => unknown): Callable {
  const [must = '', may = ''] = parameters.split('?');
  const names = (part: string) => part.split(' ').filter((one) => one !== '');
  const all = [...names(must), ...names(may)];
  return new Callable(name, (args, kwargs) =>
    asDateError(() => call(...bindArguments(name, all, names(must).length, args, kwargs))),
  );
}

function text(value: unknown): string {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') return value;
  throw typeError(`expected a text, not ${typeName(value)}`);
}

/** In UTC. */
function toDateTime(value: unknown): DateTime {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') return parseIsoDate(value);
  throw typeError(`Parser must be a string or character stream, not ${typeName(value)}`);
}

function extreme(name: string, sign: 1 | -1): Callable {
  return new Callable(name, (args, kwargs) => {
    if (kwargs.size > 0) throw typeError(`${name}() got an unexpected keyword argument`);
    const [first, ...more] = args;
    if (first === undefined) throw typeError(`${name} expected at least 1 argument, got 0`);
    return bestOf(more.length === 0 ? iterate(first) : args, sign, name);
  });
}

export function bestOf(items: Iterable<unknown>, sign: 1 | -1, name: string, keyOf = (item: unknown) => item): unknown {
  let best: { item: unknown; key: unknown } | undefined;
  for (const item of items) {
    const key = keyOf(item);
    if (!best || sign * compareValues(key, best.key, sign === 1 ? '>' : '<') > 0) best = { item, key };
  }
  if (!best) throw valueError(`${name}() arg is an empty sequence`);
  return best.item;
}

function todayIn(clock: Clock, zone: string): CalendarDate {
  let formatter: Intl.DateTimeFormat;
  try {
    formatter = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch {
    // The only thing that can be wrong here is the zone.
    throw valueError(`Unknown time zone '${zone}'`);
  }
  const [year = 0, month = 0, day = 0] = formatter
    .format(clock().epochSeconds * 1000)
    .split('-')
    .map(Number);
  return CalendarDate.of(year, month, day);
}

function formatDatetime(value: unknown, format: unknown, inputFormat: unknown): string {
  const form = text(format);
  if (value instanceof DateTime) return strftime(value, form);
  if (value instanceof Undefined) value.fail();
  const given = inputFormat === undefined || inputFormat === null || inputFormat === '' ? undefined : text(inputFormat);
  let date: DateTime;
  if (isInteger(value)) date = parseDate(typeof value === 'boolean' ? Number(value) : value, given ?? '%s');
  else if (given === undefined) date = toDateTime(value);
  else if (typeof value === 'string') date = strptime(value, given);
  else throw typeError(`strptime() argument 1 must be str, not ${typeName(value)}`);
  return formatDate(date.zone ? date : date.withZone(utc), form);
}

/** Like Python's `quote_plus`: letters, digits and `_.-~` are unchanged. */
function quotePlus(value: string): string {
  return percentEncode(value, '').replaceAll('%20', '+');
}

export function percentEncode(value: string, safe: string): string {
  return Array.from(new TextEncoder().encode(value), (byte) => {
    const character = String.fromCharCode(byte);
    if (/[\w.~-]/.test(character) || safe.includes(character)) return character;
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** Also under its original misspelled name in the reference. */
function snakeCase(value: string): string {
  return value.replaceAll(/(?<!^)(?=[A-Z])/g, '_').toLowerCase();
}

/** The functions that do not need to know the time. */
const fixedFunctions: readonly Callable[] = [
  define('timestamp', 'dt', (value) => {
    const number = numberOf(value);
    return number === undefined ? new Float(toDateTime(value).timestamp) : toInteger(value);
  }),
  define('str_to_datetime', 's', toDateTime),
  extreme('max', 1),
  extreme('min', -1),
  define('duration', 'datestring', (value) => {
    if (typeof value !== 'string' && !(value instanceof Undefined)) throw typeError('Expecting a string');
    return parseDuration(text(value));
  }),
  define('format_datetime', 'dt format ? input_format', formatDatetime),
  define('sanitize_url', 'value', (value) => {
    if (typeof value !== 'string') throw typeError('quote_from_bytes() expected bytes');
    return quotePlus(value);
  }),
  define('camel_case_to_snake_case', 'value', (value) => snakeCase(text(value))),
  define('generate_uuid', '', () => crypto.randomUUID()),
  new Callable('namespace', (args, kwargs) => {
    const entries = args.flatMap((source) => entriesOf(source)).map(([key, value]) => [String(key), value] as const);
    return new Namespace(new Map([...entries, ...kwargs]));
  }),
  new Callable('dict', (args, kwargs) => Dict.of([...args.flatMap((source) => entriesOf(source)), ...kwargs])),
  new Callable('joiner', (args) => {
    const separator = args[0] ?? ', ';
    let isUsed = false;
    const join = new Callable('joiner', () => {
      const found = isUsed ? separator : '';
      isUsed = true;
      return found;
    });
    return new Attributes('Joiner', () => undefined, join);
  }),
  new Callable('cycler', (args) => {
    if (args.length === 0) throw typeError('at least one item has to be provided');
    let at = 0;
    const next = new Callable('next', () => args[at++ % args.length]);
    const reset = new Callable('reset', () => {
      at = 0;
      return null;
    });
    return new Attributes('Cycler', (name) => {
      if (name === 'next') return next;
      if (name === 'reset') return reset;
      return name === 'current' ? args[at % args.length] : undefined;
    });
  }),
];

const clockFunctions: Readonly<Record<string, (clock: Clock) => Callable>> = {
  now_utc: (clock) => define('now_utc', '', () => clock()),
  today_utc: (clock) => define('today_utc', '', () => clock().inZone(utc).date),
  today_with_timezone: (clock) => define('today_with_timezone', 'timezone', (zone) => todayIn(clock, text(zone))),
  day_delta: (clock) =>
    define('day_delta', 'num_days ? format', (days, format) => {
      const number = numberOf(days);
      if (number === undefined) throw typeError(`unsupported type for timedelta days component: ${typeName(days)}`);
      const length = Timedelta.of({ days: Number(typeof number === 'object' ? number.value : number) });
      return strftime(clock().plus(length), format === undefined ? '%Y-%m-%dT%H:%M:%S.%f%z' : text(format));
    }),
};

const byName = new Map(fixedFunctions.map((one) => [one.name, one]));

export function isFunctionName(name: string): boolean {
  return byName.has(name) || Object.hasOwn(clockFunctions, name);
}

export function findFunction(name: string, clock: Clock): Callable | undefined {
  const known = byName.get(name);
  if (known) return known;
  return Object.hasOwn(clockFunctions, name) ? clockFunctions[name]?.(clock) : undefined;
}
