/* Reads a date by a format, as strictly as Python's `strptime` does in English. */
import { dayOfYear, daysOf, fieldsOfDays, isLeapYear, weekdayOfDays } from './calendar.ts';
import { DateError } from './date-error.ts';
import { DateTime, type Zone } from './date-time.ts';
import { months, weekdays } from './strftime.ts';

const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));
/** Longer names go first: `May` would hide a longer one that begins the same. */
const oneOf = (names: readonly string[]) => [...names].sort((a, b) => b.length - a.length).join('|');

const patterns: Readonly<Record<string, string>> = {
  d: '3[0-1]|[1-2]\\d|0[1-9]|[1-9]| [1-9]',
  f: '[0-9]{1,6}',
  H: '2[0-3]|[0-1]\\d|\\d',
  I: '1[0-2]|0[1-9]|[1-9]',
  G: '\\d\\d\\d\\d',
  j: '36[0-6]|3[0-5]\\d|[1-2]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9]',
  m: '1[0-2]|0[1-9]|[1-9]',
  M: '[0-5]\\d|\\d',
  S: '6[0-1]|[0-5]\\d|\\d',
  U: '5[0-3]|[0-4]\\d|\\d',
  W: '5[0-3]|[0-4]\\d|\\d',
  w: '[0-6]',
  u: '[1-7]',
  V: '5[0-3]|0[1-9]|[1-4]\\d|\\d',
  y: '\\d\\d',
  Y: '\\d\\d\\d\\d',
  z: '[+-]\\d\\d:?[0-5]\\d(?::?[0-5]\\d(?:\\.\\d{1,6})?)?|Z',
  A: oneOf(weekdays),
  a: oneOf(short(weekdays)),
  B: oneOf(months),
  b: oneOf(short(months)),
  p: 'am|pm',
  Z: 'utc|gmt',
};

/** Directives that expand to others. */
const composed: Readonly<Record<string, string>> = {
  c: '%a %b %d %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

interface Format {
  pattern: RegExp;
  letters: string[];
}

/** Manifests have few formats, and records many dates. */
const formats = new Map<string, Format>();
const maxFormats = 1000;

function compile(format: string): Format {
  const known = formats.get(format);
  if (known) return known;
  const letters: string[] = [];
  const expanded = format.replaceAll(/%([cxX%])/g, (all, letter: string) => composed[letter] ?? all);
  let source = '';
  for (let at = 0; at < expanded.length; at++) {
    const character = expanded[at] ?? '';
    if (character === '%') {
      at++;
      const letter = expanded[at];
      if (letter === undefined) throw new DateError(`stray % in format '${format}'`);
      if (letter === '%') {
        source += '%';
        continue;
      }
      const pattern = Object.hasOwn(patterns, letter) ? patterns[letter] : undefined;
      if (pattern === undefined) throw new DateError(`'${letter}' is a bad directive in format '${format}'`);
      if (letters.includes(letter)) throw new DateError(`The directive %${letter} is twice in format '${format}'`);
      letters.push(letter);
      source += `(${pattern})`;
    } else if (/\s/.test(character)) {
      while (/\s/.test(expanded[at + 1] ?? '')) at++;
      source += '\\s+';
    } else {
      source += character.replace(/[\\^$.*+?(){}[\]|/]/, '\\$&');
    }
  }
  const compiled = { pattern: new RegExp(`^${source}`, 'i'), letters };
  if (formats.size >= maxFormats) formats.clear();
  formats.set(format, compiled);
  return compiled;
}

/** A date without a zone if the format has none. Throws a DateError for a text that the format does not fit. */
export function strptime(text: string, format: string): DateTime {
  const { pattern, letters } = compile(format);
  const match = pattern.exec(text);
  if (!match) throw new DateError(`time data '${text}' does not match format '${format}'`);
  if (match[0].length !== text.length) throw new DateError(`unconverted data remains: ${text.slice(match[0].length)}`);
  let [year, month, day, hour, minute, second, microsecond]: (number | undefined)[] = [];
  let [weekday, dayInYear, week, isoYear, isoWeek]: (number | undefined)[] = [];
  let isMondayFirst = false;
  let isAfternoon: boolean | undefined;
  let isTwelveHours = false;
  let zone: Zone | undefined;
  for (const [index, letter] of letters.entries()) {
    const part = match[index + 1] ?? '';
    const number = Number(part);
    switch (letter) {
      case 'y':
        year = number + (number <= 68 ? 2000 : 1900);
        break;
      case 'Y':
        year = number;
        break;
      case 'G':
        isoYear = number;
        break;
      case 'm':
        month = number;
        break;
      case 'B':
        month = indexOf(months, part) + 1;
        break;
      case 'b':
        month = indexOf(short(months), part) + 1;
        break;
      case 'd':
        day = number;
        break;
      case 'H':
        hour = number;
        break;
      case 'I':
        hour = number;
        isTwelveHours = true;
        break;
      case 'p':
        isAfternoon = part.toLowerCase() === 'pm';
        break;
      case 'M':
        minute = number;
        break;
      case 'S':
        second = number;
        break;
      case 'f':
        microsecond = Number(part.padEnd(6, '0'));
        break;
      case 'A':
        weekday = indexOf(weekdays, part);
        break;
      case 'a':
        weekday = indexOf(short(weekdays), part);
        break;
      case 'w':
        weekday = number === 0 ? 6 : number - 1;
        break;
      case 'u':
        weekday = number - 1;
        break;
      case 'j':
        dayInYear = number;
        break;
      case 'U':
      case 'W':
        week = number;
        isMondayFirst = letter === 'W';
        break;
      case 'V':
        isoWeek = number;
        break;
      case 'z':
        zone = readZone(part, text, format);
        break;
    }
  }
  if (isTwelveHours && hour !== undefined) {
    // Without %p the hour is one of the morning.
    hour = (hour % 12) + (isAfternoon ? 12 : 0);
  }
  if (isoYear !== undefined) {
    if (dayInYear !== undefined) throw new DateError("Day of the year directive '%j' is not compatible with ISO year");
    if (isoWeek === undefined || weekday === undefined)
      throw new DateError("ISO year directive '%G' needs '%V' and a weekday");
  } else if (isoWeek !== undefined) {
    throw new DateError(`ISO week directive '%V' needs the ISO year directive '%G' and a weekday`);
  }
  if (dayInYear === undefined && weekday !== undefined) {
    if (week !== undefined && year !== undefined) {
      const found = dayOfWeek(year, week, weekday, isMondayFirst);
      ({ year, month, day } = found);
    } else if (isoYear !== undefined && isoWeek !== undefined) {
      ({ year, month, day } = dayOfIsoWeek(isoYear, isoWeek, weekday));
    }
  } else if (dayInYear !== undefined && month === undefined && day === undefined) {
    const inYear = year ?? 1900;
    if (dayInYear > 365 && !isLeapYear(inYear)) ({ year, month, day } = { year: inYear + 1, month: 1, day: 1 });
    else ({ year, month, day } = fieldsOfDays(daysOf(inYear, 1, 1) + dayInYear - 1));
  }
  return DateTime.of(
    {
      year: year ?? 1900,
      month: month ?? 1,
      day: day ?? 1,
      hour: hour ?? 0,
      minute: minute ?? 0,
      second: second ?? 0,
      microsecond: microsecond ?? 0,
    },
    zone,
  );
}

function indexOf(names: readonly string[], name: string): number {
  return names.findIndex((one) => one.toLowerCase() === name.toLowerCase());
}

function readZone(part: string, text: string, format: string): Zone {
  if (part === 'Z') return { offsetSeconds: 0, name: 'UTC' };
  if (part === 'z') throw new DateError(`time data '${text}' does not match format '${format}'`);
  if (!/^.\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?|\d{4}(?:\.\d+)?|\d\d)$/.test(part)) {
    throw new DateError(`Inconsistent use of : in ${part}`);
  }
  const digits = part.slice(1).replaceAll(':', '');
  const size = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4)) * 60 + Number(digits.slice(4, 6));
  if (size >= 86_400) throw new DateError(`The zone ${part} is not strictly between -24 and 24 hours`);
  const offsetSeconds = part.startsWith('-') ? -size : size;
  return offsetSeconds === 0 ? { offsetSeconds: 0, name: 'UTC' } : { offsetSeconds };
}

/** The day of a week that is counted from the first Sunday or Monday of a year. */
function dayOfWeek(year: number, week: number, weekday: number, isMondayFirst: boolean) {
  const first = daysOf(year, 1, 1);
  const shift = isMondayFirst ? 0 : 1;
  const firstWeekday = (weekdayOfDays(first) + shift) % 7;
  const day = (weekday + shift) % 7;
  const weekZero = (7 - firstWeekday) % 7;
  const number = week === 0 ? 1 + day - firstWeekday : 1 + weekZero + 7 * (week - 1) + day;
  return fieldsOfDays(first + number - 1);
}

function dayOfIsoWeek(year: number, week: number, weekday: number) {
  const fourth = daysOf(year, 1, 4);
  const monday = fourth - weekdayOfDays(fourth);
  if (week === 0 || (week === 53 && !hasWeek53(year))) throw new DateError(`Invalid week: ${week}`);
  return fieldsOfDays(monday + (week - 1) * 7 + weekday);
}

function hasWeek53(year: number): boolean {
  const first = weekdayOfDays(daysOf(year, 1, 1));
  return first === 3 || (first === 2 && dayOfYear(year, 12, 31) === 366);
}
