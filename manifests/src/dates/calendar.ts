/* The calendar that Python's `datetime` uses: Gregorian, without end, for the years 1 to 9999. */
import { DateError } from './date-error.ts';

export function requireRange(name: string, value: number, from: number, to: number): void {
  if (!(value >= from && value <= to)) throw new DateError(`${name} must be in ${from}..${to}`);
}

const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The number of a day in its year, from 1. */
export function dayOfYear(year: number, month: number, day: number): number {
  return (daysBefore[month - 1] ?? 0) + day + (month > 2 && isLeapYear(year) ? 1 : 0);
}

/** Days since 1970-01-01 of a day in the calendar. Throws a DateError for a day that does not exist. */
export function daysOf(year: number, month: number, day: number): number {
  requireRange('year', year, 1, 9999);
  requireRange('month', month, 1, 12);
  if (!(day >= 1 && day <= daysInMonth(year, month))) throw new DateError('day is out of range for month');
  const before = year - 1;
  const leaps = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  return before * 365 + leaps + dayOfYear(year, month, day) - 719_163;
}

export function fieldsOfDays(days: number): { year: number; month: number; day: number } {
  // The months are counted from March, so that the day of a leap year is the last of the year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayFromMarch = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayFromMarch + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayFromMarch - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

/** Monday is 0. */
export function weekdayOfDays(days: number): number {
  return (((days + 3) % 7) + 7) % 7;
}
