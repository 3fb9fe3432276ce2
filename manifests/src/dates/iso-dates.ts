/* Reads the forms of ISO 8601 that `str_to_datetime` and `timestamp` of templates accept, basic and extended. */
import { daysOf, fieldsOfDays, isLeapYear, weekdayOfDays } from './calendar.ts';
import { DateError } from './date-error.ts';
import { DateTime, utc, type Zone } from './date-time.ts';

/** In UTC, also for text without a zone. Throws a DateError for any other text. */
export function parseIsoDate(text: string): DateTime {
  const { days, end } = parseDay(text);
  if (end >= text.length) return new DateTime(days * 86_400, 0, utc);
  // Any character may stand between the day and the time.
  const time = parseTime(text.slice(end + 1));
  const isMidnight = time.hour === 24;
  if (isMidnight && (time.minute !== 0 || time.second !== 0 || time.microsecond !== 0)) {
    throw new DateError('Hour may only be 24 at 24:00:00.000');
  }
  const start = DateTime.of({ ...fieldsOfDays(days), ...time, hour: isMidnight ? 0 : time.hour }, time.zone);
  const moment = isMidnight ? new DateTime(start.localSeconds + 86_400, start.microsecond, start.zone) : start;
  return moment.inZone(utc);
}

function digits(text: string, from: number, count: number): number {
  const part = text.slice(from, from + count);
  if (part.length !== count || !/^\d+$/.test(part)) throw new DateError(`'${text}' is not an ISO 8601 date`);
  return Number(part);
}

function parseDay(text: string): { days: number; end: number } {
  const common = /^(\d{4})(?:$|-(\d\d)(?:$|-(\d\d))|(\d\d)(\d\d))/.exec(text);
  if (common) {
    const [all, year, month, day, basicMonth, basicDay] = common;
    return {
      days: daysOf(Number(year), Number(month ?? basicMonth ?? 1), Number(day ?? basicDay ?? 1)),
      end: all.length,
    };
  }
  const year = digits(text, 0, 4);
  const hasSeparator = text[4] === '-';
  let at = hasSeparator ? 5 : 4;
  if (text[at] !== 'W') {
    const day = digits(text, at, 3);
    if (day < 1 || day > (isLeapYear(year) ? 366 : 365))
      throw new DateError(`Invalid ordinal day ${day} for year ${year}`);
    return { days: daysOf(year, 1, 1) + day - 1, end: at + 3 };
  }
  const week = digits(text, at + 1, 2);
  at += 3;
  let day = 1;
  if (text.length > at) {
    if ((text[at] === '-') !== hasSeparator) throw new DateError('Inconsistent use of dash separator');
    if (hasSeparator) at++;
    day = digits(text, at, 1);
    at++;
  }
  if (week < 1 || week > 53 || day < 1 || day > 7) throw new DateError(`Invalid week or weekday in '${text}'`);
  const fourth = daysOf(year, 1, 4);
  return { days: fourth - weekdayOfDays(fourth) + (week - 1) * 7 + day - 1, end: at };
}

function parseTime(text: string) {
  const form = /^(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?([-+Zz].*)?$/.exec(text);
  if (!form) throw new DateError(`'${text}' is not an ISO 8601 time`);
  const [, hour, minute, second, fraction, zone] = form;
  const clock = text.slice(0, text.length - (zone?.length ?? 0));
  if (second !== undefined && clock.includes(':') !== /^\d\d:\d\d:/.test(clock)) {
    throw new DateError('Inconsistent use of colon separator');
  }
  return {
    hour: Number(hour),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    microsecond: Number((fraction ?? '').slice(0, 6).padEnd(6, '0')),
    zone: zone === undefined ? utc : parseZone(zone),
  };
}

function parseZone(text: string): Zone {
  if (text === 'Z' || text === 'z') return utc;
  const form = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(text);
  if (!form) throw new DateError(`'${text}' is not a time zone offset`);
  const [, sign, hours, minutes = '0'] = form;
  if (Number(hours) > 23 || Number(minutes) > 59) throw new DateError(`'${text}' is not a time zone offset`);
  const offsetSeconds = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
  return { offsetSeconds };
}
