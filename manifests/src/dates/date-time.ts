/*
 * Dates and times to the microsecond, with the rules of Python's `datetime`: the language of manifests is defined by
 * them. JavaScript's Date has milliseconds only and no zone. Values never change.
 */
import { daysOf, fieldsOfDays, requireRange } from './calendar.ts';
import { DateError } from './date-error.ts';
import { type Duration, Timedelta } from './durations.ts';

const secondsOfDay = 86_400;
/** The first second of year 1 and the last second of year 9999. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

/** A day without a time. */
export class CalendarDate {
  /** Days since 1970-01-01. */
  readonly days: number;

  constructor(days: number) {
    if (days * secondsOfDay < firstSecond || days * secondsOfDay > lastSecond)
      throw new DateError('date value out of range');
    this.days = days;
  }

  static of(year: number, month: number, day: number): CalendarDate {
    return new CalendarDate(daysOf(year, month, day));
  }

  get fields(): { year: number; month: number; day: number } {
    return fieldsOfDays(this.days);
  }

  plus(duration: Timedelta | Duration): CalendarDate {
    const moved = 'months' in duration ? duration.moveDays(this.days, 1) : this.days;
    return new CalendarDate(moved + duration.time.days);
  }

  minus(duration: Timedelta | Duration): CalendarDate {
    const moved = 'months' in duration ? duration.moveDays(this.days, -1) : this.days;
    return new CalendarDate(moved - duration.time.days);
  }

  toString(): string {
    const { year, month, day } = this.fields;
    return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  }
}

/** A zone: its offset from UTC, and its name if it has one. */
export interface Zone {
  offsetSeconds: number;
  name?: string;
}

export const utc: Zone = { offsetSeconds: 0, name: 'UTC' };

export interface DateTimeFields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  microsecond: number;
}

/** A day with a time, in a zone or, as Python calls it, naive. */
export class DateTime {
  /** Seconds since 1970 on the clock of the zone. */
  readonly localSeconds: number;
  /** 0 to 999999. */
  readonly microsecond: number;
  readonly zone: Zone | undefined;

  constructor(localSeconds: number, microsecond: number, zone: Zone | undefined) {
    // Not a number is neither below nor above.
    if (!(localSeconds >= firstSecond && localSeconds <= lastSecond)) throw new DateError('date value out of range');
    this.localSeconds = localSeconds;
    this.microsecond = microsecond;
    this.zone = zone;
  }

  /** Throws a DateError for a field outside its range, such as a thirtieth of February. */
  static of(fields: DateTimeFields, zone: Zone | undefined): DateTime {
    const { year, month, day, hour, minute, second, microsecond } = fields;
    requireRange('hour', hour, 0, 23);
    requireRange('minute', minute, 0, 59);
    requireRange('second', second, 0, 59);
    requireRange('microsecond', microsecond, 0, 999_999);
    const seconds = daysOf(year, month, day) * secondsOfDay + hour * 3600 + minute * 60 + second;
    return new DateTime(seconds, microsecond, zone);
  }

  /** Microseconds may be outside one second. */
  static fromEpoch(seconds: number, microseconds = 0, zone: Zone = utc): DateTime {
    const more = Math.floor(microseconds / 1_000_000);
    return new DateTime(seconds + more + zone.offsetSeconds, microseconds - more * 1_000_000, zone);
  }

  static fromMilliseconds(milliseconds: number): DateTime {
    const seconds = Math.floor(milliseconds / 1000);
    return DateTime.fromEpoch(seconds, Math.round((milliseconds - seconds * 1000) * 1000));
  }

  /** Seconds since 1970 in UTC, without the microseconds. A naive time counts as one in UTC. */
  get epochSeconds(): number {
    return this.localSeconds - (this.zone?.offsetSeconds ?? 0);
  }

  /** Python's `timestamp()`. */
  get timestamp(): number {
    const micros = this.epochSeconds * 1_000_000 + this.microsecond;
    if (Number.isSafeInteger(micros)) return micros / 1_000_000;
    return this.epochSeconds + this.microsecond / 1_000_000;
  }

  get date(): CalendarDate {
    return new CalendarDate(Math.floor(this.localSeconds / secondsOfDay));
  }

  get fields(): DateTimeFields {
    const days = Math.floor(this.localSeconds / secondsOfDay);
    const rest = this.localSeconds - days * secondsOfDay;
    const { year, month, day } = fieldsOfDays(days);
    const hour = Math.floor(rest / 3600);
    const minute = Math.floor(rest / 60) % 60;
    return { year, month, day, hour, minute, second: rest % 60, microsecond: this.microsecond };
  }

  plus(duration: Timedelta | Duration): DateTime {
    return this.moved(duration, 1);
  }

  minus(duration: Timedelta | Duration): DateTime {
    return this.moved(duration, -1);
  }

  private moved(duration: Timedelta | Duration, sign: 1 | -1): DateTime {
    let seconds = this.localSeconds;
    if ('months' in duration) {
      const days = Math.floor(seconds / secondsOfDay);
      seconds += (duration.moveDays(days, sign) - days) * secondsOfDay;
      // Python makes the date of the step in between, and that has a range too.
      new DateTime(seconds, 0, undefined);
    }
    const { time } = duration;
    let micros = this.microsecond + sign * time.microseconds;
    seconds += sign * (time.days * secondsOfDay + time.seconds);
    if (micros < 0) {
      micros += 1_000_000;
      seconds--;
    } else if (micros >= 1_000_000) {
      micros -= 1_000_000;
      seconds++;
    }
    return new DateTime(seconds, micros, this.zone);
  }

  /** The time from another moment to this one. */
  since(other: DateTime): Timedelta {
    return Timedelta.of({
      seconds: this.epochSeconds - other.epochSeconds,
      microseconds: this.microsecond - other.microsecond,
    });
  }

  /** Below, at or above zero as this moment is before, at or after the other. */
  compare(other: DateTime): number {
    return this.epochSeconds - other.epochSeconds || this.microsecond - other.microsecond;
  }

  inZone(zone: Zone): DateTime {
    return new DateTime(this.epochSeconds + zone.offsetSeconds, this.microsecond, zone);
  }

  /** The same clock time in another zone, or in none. */
  withZone(zone: Zone | undefined): DateTime {
    return new DateTime(this.localSeconds, this.microsecond, zone);
  }

  /** Python's `isoformat()`. */
  isoFormat(separator = 'T'): string {
    const { hour, minute, second, microsecond } = this.fields;
    const fraction = microsecond === 0 ? '' : `.${pad(microsecond, 6)}`;
    const zone = this.zone ? formatOffset(this.zone.offsetSeconds, ':') : '';
    return `${this.date}${separator}${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction}${zone}`;
  }

  toString(): string {
    return this.isoFormat(' ');
  }
}

/** `+02:00` or `+0200`, by the separator. */
export function formatOffset(offsetSeconds: number, separator: '' | ':'): string {
  const size = Math.abs(offsetSeconds);
  const [hours, minutes, seconds] = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60];
  const rest = seconds === 0 ? '' : `${separator}${pad(seconds, 2)}`;
  return `${offsetSeconds < 0 ? '-' : '+'}${pad(hours, 2)}${separator}${pad(minutes, 2)}${rest}`;
}

export function pad(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
