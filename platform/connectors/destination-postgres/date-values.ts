/*
 * Whether a text is a date or time that PostgreSQL stores as it is meant. The forms are those of ISO 8601 and RFC 3339,
 * with a blank for the T, and what PostgreSQL itself writes for years before 1 and for infinity. PostgreSQL keeps
 * microseconds: a time that is finer does not fit.
 */

type Zone = 'with zone' | 'without zone';

const datePart = String.raw`(?<year>\d{4,6})-(?<month>\d\d)-(?<day>\d\d)`;
const timePart = String.raw`(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?<fraction>\.\d{1,6}0{0,24})?)?`;
const zonePart = String.raw`(?<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?`;
const eraPart = '(?<era> BC)?';

const dateForm = new RegExp(`^${datePart}${eraPart}$`);
const timeForm = new RegExp(`^${timePart}${zonePart}$`);
const timestampForm = new RegExp(`^${datePart}[Tt ]${timePart}${zonePart}${eraPart}$`);

type Parts = Partial<Record<string, string>>;

export function fitsDate(text: string): boolean {
  return isInfinity(text) || isDate(dateForm.exec(text)?.groups);
}

export function fitsTime(text: string, zone: Zone): boolean {
  const parts = timeForm.exec(text)?.groups;
  return isTime(parts) && isZone(parts?.zone, zone);
}

export function fitsTimestamp(text: string, zone: Zone): boolean {
  if (isInfinity(text)) return true;
  const parts = timestampForm.exec(text)?.groups;
  return isDate(parts) && isTime(parts) && isZone(parts?.zone, zone);
}

function isInfinity(text: string): boolean {
  return text === 'infinity' || text === '-infinity';
}

/** From 4712 BC to 294275, the whole years that a timestamp can hold. */
function isDate(parts: Parts | undefined): boolean {
  if (!parts) return false;
  const [year, month, day] = [Number(parts.year), Number(parts.month), Number(parts.day)];
  if (year < 1 || year > (parts.era ? 4_712 : 294_275)) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(parts.era ? 1 - year : year, month);
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(parts: Parts | undefined): boolean {
  if (!parts) return false;
  if (parts.hour === '24') return parts.minute === '00' && parts.second === '00' && parts.fraction === undefined;
  return Number(parts.hour) <= 23 && Number(parts.minute) <= 59 && Number(parts.second ?? 0) <= 59;
}

/** A column without a zone would drop any other than UTC's without a word. */
function isZone(text: string | undefined, zone: Zone): boolean {
  if (text === undefined || /^[Zz]$/.test(text)) return true;
  const minutes = text.length > 3 ? Number(text.slice(-2)) : 0;
  const hours = Number(text.slice(1, 3));
  return zone === 'with zone' ? hours <= 15 && minutes <= 59 : hours === 0 && minutes === 0;
}
