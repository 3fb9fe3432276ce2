/*
 * Parses and formats dates by the formats of manifests: the directives of Python's `strptime` and `strftime`, and five
 * more. `%s` (seconds), `%s_as_float`, `%ms` and `%epoch_microseconds` are the whole format; `%_ms` means milliseconds
 * within one. Parsing is strict. A date without a zone is in UTC.
 */
import { ExactNumber } from '@inlay/protocol/json';
import { DateError } from './date-error.ts';
import { DateTime, utc } from './date-time.ts';
import { roundHalfEven } from './durations.ts';
import { strftime } from './strftime.ts';
import { strptime } from './strptime.ts';

const epochFormats = new Set(['%s', '%s_as_float', '%ms', '%epoch_microseconds']);

/** What a record, a state or a configuration may have as a date. Throws a DateError for a date of another format. */
export function parseDate(date: unknown, format: string): DateTime {
  const text = dateText(date);
  if (epochFormats.has(format)) return parseEpoch(text, format, typeof date !== 'string');
  const parsed = strptime(text, format.replaceAll('%_ms', '%f'));
  return parsed.zone ? parsed : parsed.withZone(utc);
}

export function formatDate(date: DateTime, format: string): string {
  const { timestamp } = date;
  switch (format) {
    case '%s':
      return String(Math.trunc(timestamp));
    case '%s_as_float':
      return Number.isInteger(timestamp) ? `${timestamp}.0` : String(timestamp);
    case '%ms':
      // With the rounding error of the double, like the reference: states must be equal.
      return String(Math.trunc(timestamp * 1000));
    case '%epoch_microseconds':
      return String(Math.trunc(timestamp * 1_000_000));
  }
  if (!format.includes('%_ms')) return strftime(date, format);
  const [micros, millis] = [strftime(date, '%f'), strftime(date, '%f').slice(0, 3)];
  return strftime(date, format.replaceAll('%_ms', '%f')).replaceAll(micros, millis);
}

/** The first of several formats that fits. Throws a DateError if none does. */
export function parseDateBy(date: unknown, formats: readonly string[]): DateTime {
  for (const format of formats) {
    try {
      return parseDate(date, format);
    } catch (error) {
      if (!(error instanceof DateError)) throw error;
    }
  }
  throw new DateError(`No format in ${formats.join(', ')} matching ${dateText(date)}`);
}

function dateText(date: unknown): string {
  if (typeof date === 'string') return date;
  if (typeof date === 'number' || typeof date === 'bigint' || date instanceof ExactNumber) return String(date);
  throw new DateError(`${date === null ? 'None' : `A value of type ${typeof date}`} is not a date`);
}

const integer = /^\s*[+-]?\d+(?:_\d+)*\s*$/;
const float = /^\s*[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?\s*$/;

function parseEpoch(text: string, format: string, isNumber: boolean): DateTime {
  const isFloat = format === '%s_as_float' || isNumber;
  if (!(isFloat ? float : integer).test(text)) throw new DateError(`Cannot parse '${text}' as ${format}`);
  const number = Number(text.replaceAll('_', ''));
  if (format === '%s_as_float') {
    const seconds = Math.floor(number);
    return DateTime.fromEpoch(seconds, roundHalfEven((number - seconds) * 1_000_000));
  }
  const whole = Math.trunc(number);
  if (format === '%s') return DateTime.fromEpoch(whole);
  const unit = format === '%ms' ? 1000 : 1_000_000;
  const seconds = Math.floor(whole / unit);
  return DateTime.fromEpoch(seconds, (whole - seconds * unit) * (1_000_000 / unit));
}
