/* Writes a date by a format, as Python does with the C library of Linux in English. */
import { dayOfYear, weekdayOfDays } from './calendar.ts';
import { CalendarDate, DateTime, type DateTimeFields, formatOffset, pad } from './date-time.ts';

export const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** A directive: flags of the GNU library, a width, and a letter. */
const directive = /%([-_0^#]*)(\d*)[EO]?([a-zA-Z%])/g;

/** Literal text, or a directive. */
type Piece = string | { all: string; flags: string; width: string; letter: string };

/** Manifests have few formats, and records many dates. */
const formats = new Map<string, readonly Piece[]>();
const maxFormats = 1000;

function piecesOf(format: string): readonly Piece[] {
  const known = formats.get(format);
  if (known) return known;
  const pieces: Piece[] = [];
  let copied = 0;
  for (const match of format.matchAll(directive)) {
    const [all, flags = '', width = '', letter = ''] = match;
    if (match.index > copied) pieces.push(format.slice(copied, match.index));
    pieces.push({ all, flags, width, letter });
    copied = match.index + all.length;
  }
  if (copied < format.length) pieces.push(format.slice(copied));
  if (formats.size >= maxFormats) formats.clear();
  formats.set(format, pieces);
  return pieces;
}

export function strftime(date: DateTime | CalendarDate, format: string): string {
  const moment = date instanceof CalendarDate ? new DateTime(date.days * 86_400, 0, undefined) : date;
  const { fields } = moment;
  let text = '';
  for (const piece of piecesOf(format)) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const { all, flags, width, letter } = piece;
    const part = write(moment, fields, letter);
    // Python itself writes %f, %z and %Z, and knows no flags there.
    if (part === undefined || (flags + width !== '' && 'fzZ'.includes(letter))) text += all;
    else text += flags === '' && width === '' ? plain(part) : flagged(part, flags, width);
  }
  return text;
}

function plain(part: Part): string {
  return typeof part === 'string' ? part : String(part.number).padStart(part.width, part.fill);
}

export function zoneName(moment: DateTime): string {
  if (!moment.zone) return '';
  const { name, offsetSeconds } = moment.zone;
  return name ?? (offsetSeconds === 0 ? 'UTC' : `UTC${formatOffset(offsetSeconds, ':')}`);
}

/** A number with the width and the filling that it has without flags, or a text. */
type Part = string | { number: number; width: number; fill: '0' | ' ' };

function flagged(part: Part, flags: string, width: string): string {
  let text: string;
  if (typeof part === 'string') {
    text = part.padStart(Number(width || 0), flags.includes('0') ? '0' : ' ');
  } else {
    const flag = [...flags].findLast((one) => one === '-' || one === '_' || one === '0');
    const fill = flag === '_' ? ' ' : flag === '0' ? '0' : part.fill;
    text = String(part.number).padStart(width ? Number(width) : flag === '-' ? 0 : part.width, fill);
  }
  if (flags.includes('^')) text = text.toUpperCase();
  if (flags.includes('#')) text = text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
  return text;
}

const zeros = (number: number, width = 2): Part => ({ number, width, fill: '0' });
const two = (number: number) => pad(number, 2);

function write(moment: DateTime, fields: DateTimeFields, letter: string): Part | undefined {
  const { year, month, day, hour, minute, second } = fields;
  const days = Math.floor(moment.localSeconds / 86_400);
  const weekday = weekdayOfDays(days);
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  const dayName = weekdays[weekday] ?? '';
  const monthName = months[month - 1] ?? '';
  const clock = () => `${two(hour)}:${two(minute)}:${two(second)}`;
  switch (letter) {
    case 'a':
      return dayName.slice(0, 3);
    case 'A':
      return dayName;
    case 'b':
    case 'h':
      return monthName.slice(0, 3);
    case 'B':
      return monthName;
    case 'c':
      return `${dayName.slice(0, 3)} ${monthName.slice(0, 3)} ${String(day).padStart(2)} ${clock()} ${year}`;
    case 'C':
      return zeros(Math.floor(year / 100), 1);
    case 'd':
      return zeros(day);
    case 'D':
    case 'x':
      return `${two(month)}/${two(day)}/${two(year % 100)}`;
    case 'e':
      return { number: day, width: 2, fill: ' ' };
    case 'F':
      return `${year}-${two(month)}-${two(day)}`;
    case 'g':
      return zeros(isoWeek(days).year % 100);
    case 'G':
      return zeros(isoWeek(days).year, 1);
    case 'H':
      return zeros(hour);
    case 'I':
      return zeros(twelve);
    case 'j':
      return zeros(dayOfYear(year, month, day), 3);
    case 'k':
      return { number: hour, width: 2, fill: ' ' };
    case 'l':
      return { number: twelve, width: 2, fill: ' ' };
    case 'm':
      return zeros(month);
    case 'M':
      return zeros(minute);
    case 'n':
      return '\n';
    case 'p':
      return hour < 12 ? 'AM' : 'PM';
    case 'P':
      return hour < 12 ? 'am' : 'pm';
    case 'r':
      return `${two(twelve)}:${two(minute)}:${two(second)} ${hour < 12 ? 'AM' : 'PM'}`;
    case 'R':
      return `${two(hour)}:${two(minute)}`;
    case 's':
      // The C library reads the clock time as one of the machine's zone, which is UTC.
      return String(moment.localSeconds);
    case 'S':
      return zeros(second);
    case 't':
      return '\t';
    case 'T':
    case 'X':
      return clock();
    case 'u':
      return zeros(weekday + 1, 1);
    case 'U':
      return zeros(Math.floor((dayOfYear(year, month, day) + 6 - ((weekday + 1) % 7)) / 7));
    case 'V':
      return zeros(isoWeek(days).week);
    case 'w':
      return zeros((weekday + 1) % 7, 1);
    case 'W':
      return zeros(Math.floor((dayOfYear(year, month, day) + 6 - weekday) / 7));
    case 'y':
      return zeros(year % 100);
    case 'Y':
      return zeros(year, 1);
    case 'f':
      return pad(moment.microsecond, 6);
    case 'z':
      return moment.zone ? formatOffset(moment.zone.offsetSeconds, '') : '';
    case 'Z':
      return zoneName(moment);
    case '%':
      return '%';
    default:
      return undefined;
  }
}

/** The year and the week of ISO 8601: a week belongs to the year of its Thursday. */
export function isoWeek(days: number): { year: number; week: number; weekday: number } {
  const weekday = weekdayOfDays(days) + 1;
  const thursday = new CalendarDate(days + 4 - weekday).fields;
  return {
    year: thursday.year,
    week: Math.ceil(dayOfYear(thursday.year, thursday.month, thursday.day) / 7),
    weekday,
  };
}
