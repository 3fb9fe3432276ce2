/*
 * The methods and attributes of Python's types that templates may use.
 * Long because Python has many methods: each is a few lines, and all are used by name from one table per type.
 */
import { weekdayOfDays } from '../dates/calendar.ts';
import { CalendarDate, DateTime, utc } from '../dates/date-time.ts';
import { Duration, Timedelta } from '../dates/durations.ts';
import { isoWeek, strftime, zoneName } from '../dates/strftime.ts';
import { strptime } from '../dates/strptime.ts';
import { spendMade } from '../values/budget.ts';
import { bindArguments, type Kwargs } from '../values/call-arguments.ts';
import { pythonText } from '../values/printing.ts';
import {
  capitalize,
  isLower,
  isSpace,
  isUpper,
  split,
  splitFromEnd,
  splitLines,
  strip,
  stripEnd,
  stripStart,
  titleCase,
} from '../values/python-text.ts';
import {
  Callable,
  Dict,
  Float,
  hashOf,
  isMapping,
  type Mapping,
  mappingEntries,
  mappingGet,
  mappingHas,
  mappingSet,
  numberOf,
  Tuple,
  typeError,
  typeName,
  Undefined,
  View,
  valueError,
} from '../values/values.ts';
import { asDateError, compareValues, indexOf, isEqual, isTruthy, iterate, listOf, textLength } from './operators.ts';

interface Method<Self> {
  parameters: readonly string[];
  required: number;
  call(self: Self, ...args: unknown[]): unknown;
}

/** `parameters` are names separated by blanks; those after a `?` are optional. */
function method<Self>(parameters: string, call: (self: Self, ...args: unknown[]) => unknown): Method<Self> {
  const [must = '', may = ''] = parameters.split('?');
  const names = (part: string) => part.split(' ').filter((name) => name !== '');
  return { parameters: [...names(must), ...names(may)], required: names(must).length, call };
}

type Table<Self> = Readonly<Record<string, Method<Self>>>;

/** Undefined in JavaScript's sense if the type has no such method or attribute. */
export function methodOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return bound(textMethods, value, name);
  if (Array.isArray(value)) return bound(listMethods, value as unknown[], name);
  if (isMapping(value)) return name === 'update' ? updateMethod(value) : bound(dictMethods, value, name);
  if (value instanceof Tuple) return bound(tupleMethods, value, name);
  if (value instanceof DateTime) return dateTimeAttribute(value, name) ?? bound(dateTimeMethods, value, name);
  if (value instanceof CalendarDate) return dateAttribute(value, name) ?? bound(dateMethods, value, name);
  if (value instanceof Timedelta) return timedeltaAttribute(value, name);
  if (value instanceof Duration) {
    if (name === 'years' || name === 'months') return value[name];
    return name === 'tdelta' ? value.time : timedeltaAttribute(value.time, name);
  }
  const number = numberOf(value);
  if (number instanceof Float && name === 'is_integer') {
    return new Callable(name, () => Number.isInteger(number.value));
  }
  return undefined;
}

function bound<Self>(table: Table<Self>, self: Self, name: string): Callable | undefined {
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!found) return undefined;
  return new Callable(name, (args: readonly unknown[], kwargs: Kwargs) =>
    asDateError(() => found.call(self, ...bindArguments(name, found.parameters, found.required, args, kwargs))),
  );
}

function text(value: unknown): string {
  if (value instanceof Undefined) value.fail();
  if (typeof value === 'string') return value;
  throw typeError(`must be str, not ${typeName(value)}`);
}

function optionalText(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : text(value);
}

function optionalIndex(value: unknown, fallback: number): number {
  return value === undefined || value === null ? fallback : indexOf(value);
}

/** A part of a text, with the bounds of `find` and its like. */
function window(self: string, from: unknown, to: unknown): { points: string[]; start: number } {
  const points = [...self];
  const place = (value: number) => (value < 0 ? Math.max(0, value + points.length) : value);
  const start = place(optionalIndex(from, 0));
  return { points: points.slice(start, place(optionalIndex(to, points.length))), start };
}

function find(self: string, part: unknown, from: unknown, to: unknown, isLast: boolean): number {
  const { points, start } = window(self, from, to);
  const searched = points.join('');
  if (start > [...self].length) return -1;
  const at = isLast ? searched.lastIndexOf(text(part)) : searched.indexOf(text(part));
  return at === -1 ? -1 : start + textLength(searched.slice(0, at));
}

function hasEdge(self: string, edge: unknown, from: unknown, to: unknown, isStart: boolean): boolean {
  const edges = edge instanceof Tuple ? edge.items : [edge];
  const { points } = window(self, from, to);
  const searched = points.join('');
  return edges.some((one) => {
    if (typeof one !== 'string' && !(one instanceof Undefined)) {
      throw typeError(`first arg must be str or a tuple of str, not ${typeName(one)}`);
    }
    return isStart ? searched.startsWith(text(one)) : searched.endsWith(text(one));
  });
}

function justified(self: string, width: unknown, fill: unknown, side: 'left' | 'right' | 'center'): string {
  const filling = fill === undefined ? ' ' : text(fill);
  if (textLength(filling) !== 1) throw typeError('The fill character must be exactly one character long');
  const wide = indexOf(width);
  const missing = wide - textLength(self);
  if (missing <= 0) return self;
  spendMade(missing);
  if (side === 'left') return self + filling.repeat(missing);
  if (side === 'right') return filling.repeat(missing) + self;
  // Python puts the odd one on the left if the width is odd.
  const left = Math.floor(missing / 2) + (missing % 2 === 1 && wide % 2 === 1 ? 1 : 0);
  return filling.repeat(left) + self + filling.repeat(missing - left);
}

export function center(self: string, width: unknown): string {
  return justified(self, width, undefined, 'center');
}

export function joinTexts(separator: string, items: Iterable<unknown>): string {
  const parts: string[] = [];
  for (const item of items) {
    if (typeof item !== 'string') {
      if (item instanceof Undefined) throw typeError('sequence item: expected str instance, Undefined found');
      throw typeError(`sequence item ${parts.length}: expected str instance, ${typeName(item)} found`);
    }
    spendMade(item.length + separator.length);
    parts.push(item);
  }
  return parts.join(separator);
}

export function replaceText(self: string, old: string, replacement: string, count: number): string {
  if (count < 0) {
    // An empty text is found before every character.
    const parts = old === '' ? ['', ...self, ''] : self.split(old);
    spendMade(self.length + (parts.length - 1) * replacement.length);
    return parts.join(replacement);
  }
  const pieces = old === '' ? ['', ...self, ''] : self.split(old);
  const replaced = Math.min(count, pieces.length - 1);
  spendMade(self.length + replaced * replacement.length);
  return (
    pieces.slice(0, replaced + 1).join(replacement) +
    pieces
      .slice(replaced + 1)
      .map((piece) => old + piece)
      .join('')
  );
}

const every = (pattern: RegExp) => method<string>('', (self) => pattern.test(self));

const textMethods: Table<string> = {
  capitalize: method('', (self) => capitalize(self)),
  casefold: method('', (self) => self.toLowerCase().replaceAll('ß', 'ss')),
  center: method('width ? fillchar', (self, width, fill) => justified(self, width, fill, 'center')),
  count: method('sub ? start end', (self, part, from, to) => {
    const searched = window(self, from, to).points.join('');
    return text(part) === '' ? textLength(searched) + 1 : searched.split(text(part)).length - 1;
  }),
  endswith: method('suffix ? start end', (self, edge, from, to) => hasEdge(self, edge, from, to, false)),
  expandtabs: method('? tabsize', (self, size) =>
    self.replaceAll('\t', ' '.repeat(Math.min(optionalIndex(size, 8), 80))),
  ),
  find: method('sub ? start end', (self, part, from, to) => find(self, part, from, to, false)),
  index: method('sub ? start end', (self, part, from, to) => {
    const at = find(self, part, from, to, false);
    if (at === -1) throw valueError('substring not found');
    return at;
  }),
  isalnum: every(/^[\p{L}\p{N}]+$/u),
  isalpha: every(/^\p{L}+$/u),
  isascii: every(/^\p{ASCII}*$/u),
  isdecimal: every(/^\p{Nd}+$/u),
  // Superscripts and subscripts as well.
  isdigit: every(/^[\p{Nd}\xb2\xb3\xb9\u2070-\u2079\u2080-\u2089]+$/u),
  isidentifier: every(/^[\p{ID_Start}_]\p{ID_Continue}*$/u),
  islower: method('', (self) => isLower(self)),
  isnumeric: every(/^\p{N}+$/u),
  isprintable: every(/^(?:[^\p{C}\p{Z}]| )*$/u),
  isspace: method('', (self) => isSpace(self)),
  istitle: method('', (self) => /\p{L}/u.test(self) && titleCase(self) === self),
  isupper: method('', (self) => isUpper(self)),
  join: method('iterable', (self, items) => joinTexts(self, iterate(items))),
  ljust: method('width ? fillchar', (self, width, fill) => justified(self, width, fill, 'left')),
  lower: method('', (self) => self.toLowerCase()),
  lstrip: method('? chars', (self, characters) => stripStart(self, optionalText(characters))),
  partition: method('sep', (self, separator) => {
    const at = self.indexOf(nonEmpty(separator));
    if (at === -1) return new Tuple([self, '', '']);
    return new Tuple([self.slice(0, at), separator, self.slice(at + text(separator).length)]);
  }),
  removeprefix: method('prefix', (self, edge) => (self.startsWith(text(edge)) ? self.slice(text(edge).length) : self)),
  removesuffix: method('suffix', (self, edge) =>
    text(edge) !== '' && self.endsWith(text(edge)) ? self.slice(0, -text(edge).length) : self,
  ),
  replace: method('old new ? count', (self, old, replacement, count) =>
    replaceText(self, text(old), text(replacement), optionalIndex(count, -1)),
  ),
  rfind: method('sub ? start end', (self, part, from, to) => find(self, part, from, to, true)),
  rindex: method('sub ? start end', (self, part, from, to) => {
    const at = find(self, part, from, to, true);
    if (at === -1) throw valueError('substring not found');
    return at;
  }),
  rjust: method('width ? fillchar', (self, width, fill) => justified(self, width, fill, 'right')),
  rpartition: method('sep', (self, separator) => {
    const at = self.lastIndexOf(nonEmpty(separator));
    if (at === -1) return new Tuple(['', '', self]);
    return new Tuple([self.slice(0, at), separator, self.slice(at + text(separator).length)]);
  }),
  rsplit: method('? sep maxsplit', (self, separator, limit) =>
    splitFromEnd(
      self,
      separator === undefined || separator === null ? undefined : nonEmpty(separator),
      optionalIndex(limit, -1),
    ),
  ),
  rstrip: method('? chars', (self, characters) => stripEnd(self, optionalText(characters))),
  split: method('? sep maxsplit', (self, separator, limit) =>
    split(
      self,
      separator === undefined || separator === null ? undefined : nonEmpty(separator),
      optionalIndex(limit, -1),
    ),
  ),
  splitlines: method('? keepends', (self, keepsEnds) =>
    splitLines(self, keepsEnds !== undefined && isTruthy(keepsEnds)),
  ),
  startswith: method('prefix ? start end', (self, edge, from, to) => hasEdge(self, edge, from, to, true)),
  strip: method('? chars', (self, characters) => strip(self, optionalText(characters))),
  swapcase: method('', (self) =>
    [...self].map((letter) => (isUpper(letter) ? letter.toLowerCase() : letter.toUpperCase())).join(''),
  ),
  title: method('', (self) => titleCase(self)),
  upper: method('', (self) => self.toUpperCase()),
  zfill: method('width', (self, width) => {
    const sign = /^[+-]/.exec(self)?.[0] ?? '';
    const missing = Math.max(0, indexOf(width) - textLength(self));
    spendMade(missing);
    return sign + '0'.repeat(missing) + self.slice(sign.length);
  }),
};

function nonEmpty(separator: unknown): string {
  if (text(separator) === '') throw valueError('empty separator');
  return text(separator);
}

function changeable(list: unknown[]): unknown[] {
  if (Object.isFrozen(list)) throw valueError('This value cannot be changed');
  return list;
}

function place(items: readonly unknown[], value: unknown, from: unknown, to: unknown): number {
  const at = (index: number) => (index < 0 ? Math.max(0, index + items.length) : index);
  const [start, end] = [at(optionalIndex(from, 0)), at(optionalIndex(to, items.length))];
  const found = items.findIndex((item, index) => index >= start && index < end && isEqual(item, value));
  if (found === -1) throw valueError(`${pythonText(value)} is not in list`);
  return found;
}

const listMethods: Table<unknown[]> = {
  append: method('object', (self, item) => {
    spendMade(1);
    changeable(self).push(item);
    return null;
  }),
  clear: method('', (self) => {
    changeable(self).length = 0;
    return null;
  }),
  copy: method('', (self) => [...self]),
  count: method('value', (self, value) => self.filter((item) => isEqual(item, value)).length),
  extend: method('iterable', (self, items) => {
    for (const item of listOf(items)) changeable(self).push(item);
    return null;
  }),
  index: method('value ? start stop', (self, value, from, to) => place(self, value, from, to)),
  insert: method('index object', (self, index, item) => {
    spendMade(1);
    changeable(self).splice(indexOf(index), 0, item);
    return null;
  }),
  pop: method('? index', (self, index) => {
    const at = optionalIndex(index, -1);
    const from = at < 0 ? at + self.length : at;
    if (from < 0 || from >= self.length)
      throw valueError(self.length === 0 ? 'pop from empty list' : 'pop index out of range');
    return changeable(self).splice(from, 1)[0];
  }),
  remove: method('value', (self, value) => {
    changeable(self).splice(place(self, value, undefined, undefined), 1);
    return null;
  }),
  reverse: method('', (self) => {
    changeable(self).reverse();
    return null;
  }),
  sort: method('? key reverse', (self, _key, reverse) => {
    const sign = reverse !== undefined && isTruthy(reverse) ? -1 : 1;
    changeable(self).sort((one, other) => sign * compareValues(one, other, '<'));
    return null;
  }),
};

const tupleMethods: Table<Tuple> = {
  count: method('value', (self, value) => self.items.filter((item) => isEqual(item, value)).length),
  index: method('value ? start stop', (self, value, from, to) => place(self.items, value, from, to)),
};

function removeKey(self: Mapping, key: unknown): void {
  if (self instanceof Dict) {
    self.map.delete(hashOf(key));
    return;
  }
  if (Object.isFrozen(self)) throw valueError('This value cannot be changed');
  delete (self as Record<string, unknown>)[String(key)];
}

const dictMethods: Table<Mapping> = {
  clear: method('', (self) => {
    for (const [key] of mappingEntries(self)) removeKey(self, key);
    return null;
  }),
  copy: method('', (self) => Dict.of(mappingEntries(self))),
  get: method('key ? default', (self, key, fallback) => {
    if (mappingHas(self, key)) return mappingGet(self, key);
    return fallback === undefined ? null : fallback;
  }),
  items: method('', (self) => new View('items', self)),
  keys: method('', (self) => new View('keys', self)),
  pop: method('key ? default', (self, key, fallback) => {
    if (!mappingHas(self, key)) {
      if (fallback === undefined) throw valueError(`KeyError: ${pythonText(key)}`);
      return fallback;
    }
    const found = mappingGet(self, key);
    removeKey(self, key);
    return found;
  }),
  popitem: method('', (self) => {
    const last = mappingEntries(self).at(-1);
    if (!last) throw valueError('popitem(): dictionary is empty');
    removeKey(self, last[0]);
    return new Tuple([...last]);
  }),
  setdefault: method('key ? default', (self, key, fallback = null) => {
    if (!mappingHas(self, key)) mappingSet(self, key, fallback);
    return mappingGet(self, key);
  }),
  values: method('', (self) => new View('values', self)),
};

/** `update` takes any names. */
function updateMethod(self: Mapping): Callable {
  return new Callable('update', (args, kwargs) => {
    if (args.length > 1) throw typeError(`update expected at most 1 argument, got ${args.length}`);
    for (const source of args) for (const [key, value] of entriesOf(source)) mappingSet(self, key, value);
    for (const [key, value] of kwargs) mappingSet(self, key, value);
    return null;
  });
}

/** Pairs of a mapping, or of anything that goes through pairs. */
export function entriesOf(source: unknown): (readonly [unknown, unknown])[] {
  if (source instanceof Undefined) return [];
  const entries = isMapping(source)
    ? mappingEntries(source)
    : listOf(source).map((pair) => {
        const [key, value, ...more] = listOf(pair);
        if (value === undefined || more.length > 0) throw valueError('A pair must have two values');
        return [key, value] as const;
      });
  spendMade(entries.length);
  return entries;
}

function dateTimeAttribute(self: DateTime, name: string): unknown {
  switch (name) {
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'minute':
    case 'second':
    case 'microsecond':
      return self.fields[name];
    case 'tzinfo':
      return self.zone ? zoneName(self) : null;
    default:
      return undefined;
  }
}

function dateAttribute(self: CalendarDate, name: string): unknown {
  return name === 'year' || name === 'month' || name === 'day' ? self.fields[name] : undefined;
}

const replaceable = ['year', 'month', 'day', 'hour', 'minute', 'second', 'microsecond'] as const;

function weekTuple(days: number): Tuple {
  const { year, week, weekday } = isoWeek(days);
  return new Tuple([year, week, weekday], ['year', 'week', 'weekday']);
}

const dateMethods: Table<CalendarDate> = {
  ctime: method('', (self) => strftime(self, '%a %b %e 00:00:00 %Y')),
  isocalendar: method('', (self) => weekTuple(self.days)),
  isoformat: method('', (self) => String(self)),
  isoweekday: method('', (self) => weekdayOfDays(self.days) + 1),
  replace: method('? year month day', (self, ...parts) => {
    const { year, month, day } = self.fields;
    const [a = year, b = month, c = day] = parts.map((part) => (part === undefined ? undefined : indexOf(part)));
    return CalendarDate.of(a, b, c);
  }),
  strftime: method('format', (self, format) => strftime(self, text(format))),
  toordinal: method('', (self) => self.days + 719_163),
  weekday: method('', (self) => weekdayOfDays(self.days)),
};

const dateTimeMethods: Table<DateTime> = {
  astimezone: method('? tz', (self) => self.inZone(utc)),
  ctime: method('', (self) => strftime(self, '%a %b %e %H:%M:%S %Y')),
  date: method('', (self) => self.date),
  fromtimestamp: method('timestamp ? tz', (_self, stamp) => {
    const number = numberOf(stamp);
    if (number === undefined) throw typeError(`an integer is required (got type ${typeName(stamp)})`);
    const seconds = Number(number instanceof Float ? number.value : number);
    return DateTime.fromMilliseconds(seconds * 1000).withZone(undefined);
  }),
  isocalendar: method('', (self) => weekTuple(self.date.days)),
  isoformat: method('? sep timespec', (self, separator, spec) =>
    isoFormat(self, optionalText(separator) ?? 'T', optionalText(spec)),
  ),
  isoweekday: method('', (self) => weekdayOfDays(self.date.days) + 1),
  replace: method('? year month day hour minute second microsecond tzinfo', (self, ...parts) => {
    const fields = { ...self.fields };
    for (const [index, name] of replaceable.entries()) {
      if (parts[index] !== undefined) fields[name] = indexOf(parts[index]);
    }
    return DateTime.of(fields, parts[7] === null ? undefined : self.zone);
  }),
  strftime: method('format', (self, format) => strftime(self, text(format))),
  strptime: method('date_string format', (_self, date, format) => strptime(text(date), text(format))),
  timestamp: method('', (self) => new Float(self.timestamp)),
  toordinal: method('', (self) => self.date.days + 719_163),
  tzname: method('', (self) => (self.zone ? zoneName(self) : null)),
  utcoffset: method('', (self) => (self.zone ? Timedelta.of({ seconds: self.zone.offsetSeconds }) : null)),
  weekday: method('', (self) => weekdayOfDays(self.date.days)),
};

function isoFormat(self: DateTime, separator: string, spec: string | undefined): string {
  if (textLength(separator) !== 1) throw typeError('isoformat() argument 1 must be a unicode character');
  if (spec === undefined || spec === 'auto') return self.isoFormat(separator);
  const forms: Readonly<Record<string, string>> = {
    hours: '%H',
    minutes: '%H:%M',
    seconds: '%H:%M:%S',
    milliseconds: `%H:%M:%S.${strftime(self, '%f').slice(0, 3)}`,
    microseconds: '%H:%M:%S.%f',
  };
  const form = Object.hasOwn(forms, spec) ? forms[spec] : undefined;
  if (form === undefined) throw valueError('Unknown timespec value');
  const zone = /(?:[+-]\d\d:\d\d(?::\d\d)?)?$/.exec(self.isoFormat())?.[0] ?? '';
  return `${self.date}${separator}${strftime(self, form)}${self.zone ? zone : ''}`;
}

function timedeltaAttribute(self: Timedelta, name: string): unknown {
  switch (name) {
    case 'days':
    case 'seconds':
    case 'microseconds':
      return self[name];
    case 'total_seconds':
      return new Callable(name, () => new Float(self.totalSeconds));
    default:
      return undefined;
  }
}
