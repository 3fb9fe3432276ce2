/*
 * Whether PostgreSQL stores a text as the intended date or time, and its canonical spelling, which does not depend on
 * how it was sent. The forms are those of ISO 8601 and RFC 3339, with a blank for the T, and PostgreSQL's own forms for
 * years before 1 and for infinity. PostgreSQL stores microseconds: a more precise time does not fit.
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
  const isUtcByDefault = zone === 'with zone' && parts?.zone === undefined;
  return isDate(parts) && isTime(parts) && (isUtcByDefault || isZone(parts?.zone, zone));
}

function isInfinity(text: string): boolean {
  return text === 'infinity' || text === '-infinity';
}

/** From 4712 BC to 294275, the complete years that a timestamp can store. */
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

/**
 * A column without a zone would drop the zone, and a column of times with zones would make one up. A date-time without a
 * zone is one of UTC.
 */
function isZone(text: string | undefined, zone: Zone): boolean {
  if (zone === 'without zone') return text === undefined;
  return text !== undefined && hoursOf(text) <= 15 && minutesOf(text) <= 59;
}

const isUtc = (zone: string) => /^[Zz]$/.test(zone);
const hoursOf = (zone: string) => (isUtc(zone) ? 0 : Number(zone.slice(1, 3)));
const minutesOf = (zone: string) => (isUtc(zone) || zone.length <= 3 ? 0 : Number(zone.slice(-2)));

/*
 * The canonical spellings, of texts that fit: those of the source `postgres`, with Z for every time of UTC. The SQL that
 * spells the values of a column in the same way is in column-types.ts.
 */

export function canonicalDate(text: string): string {
  const parts = dateForm.exec(text)?.groups;
  return parts ? withEra(dayNumber(parts), '') : text;
}

export function canonicalTime(text: string): string {
  const parts = timeForm.exec(text)?.groups;
  if (!parts) return text;
  const { zone } = parts;
  const clock = `${clockOf(secondsOf(parts))}${fractionOf(parts)}`;
  if (zone === undefined) return clock;
  const [hours, minutes] = [hoursOf(zone), minutesOf(zone)];
  return `${clock}${hours + minutes === 0 ? 'Z' : `${zone[0]}${padded(hours)}:${padded(minutes)}`}`;
}

export function canonicalTimestamp(text: string, zone: Zone): string {
  const parts = timestampForm.exec(text)?.groups;
  if (!parts) return text;
  const seconds = secondsOf(parts) - offsetOf(parts.zone);
  const days = Math.floor(seconds / secondsPerDay);
  const clock = clockOf(seconds - days * secondsPerDay);
  return withEra(dayNumber(parts) + days, `T${clock}${fractionOf(parts)}${zone === 'with zone' ? 'Z' : ''}`);
}

const secondsPerDay = 86_400;
const padded = (number: number, length = 2) => String(number).padStart(length, '0');

function secondsOf({ hour, minute, second = '0' }: Parts): number {
  return Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined) return 0;
  const offset = hoursOf(zone) * 3_600 + minutesOf(zone) * 60;
  return zone.startsWith('-') ? -offset : offset;
}

function clockOf(seconds: number): string {
  return [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) => padded(Math.floor(part))).join(':');
}

function fractionOf({ fraction = '' }: Parts): string {
  return fraction.replace(/\.?0+$/, '');
}

const daysPer400Years = 146_097;

/** Days since March 1 of the year 0, the day after a leap day. */
function dayNumber({ year, month, day, era }: Parts): number {
  const astronomical = era ? 1 - Number(year) : Number(year);
  // Years begin in March, so that a leap day ends one.
  const shifted = (Number(month) + 9) % 12;
  const marchYear = astronomical - (shifted >= 10 ? 1 : 0);
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + Math.floor((153 * shifted + 2) / 5) + Number(day) - 1;
}

function withEra(dayNumber: number, clock: string): string {
  const cycle = Math.floor(dayNumber / daysPer400Years);
  const inCycle = dayNumber - cycle * daysPer400Years;
  const yearInCycle = Math.floor(
    (inCycle - Math.floor(inCycle / 1_460) + Math.floor(inCycle / 36_524) - Math.floor(inCycle / 146_096)) / 365,
  );
  const inYear = inCycle - (365 * yearInCycle + Math.floor(yearInCycle / 4) - Math.floor(yearInCycle / 100));
  const shifted = Math.floor((5 * inYear + 2) / 153);
  const day = inYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = ((shifted + 2) % 12) + 1;
  const year = cycle * 400 + yearInCycle + (month <= 2 ? 1 : 0);
  const date = `${padded(year > 0 ? year : 1 - year, 4)}-${padded(month)}-${padded(day)}`;
  return `${date}${clock}${year > 0 ? '' : ' BC'}`;
}
