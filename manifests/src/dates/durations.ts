/*
 * Lengths of time in ISO 8601, such as `P1DT12H`. A length with years or months is a `Duration`, whose steps follow the
 * calendar: a month after 31 January is the last day of February. Every other length is a `Timedelta`, a fixed number
 * of microseconds. The rules are those of the Python packages that the language of manifests is defined by.
 */
import { daysInMonth, daysOf, fieldsOfDays } from './calendar.ts';
import { DateError } from './date-error.ts';

const maxDays = 999_999_999;

export interface TimedeltaParts {
  weeks?: number;
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
  milliseconds?: number;
  microseconds?: number;
}

/** Python's `timedelta`: only the days may be negative. */
export class Timedelta {
  readonly days: number;
  /** 0 to 86399. */
  readonly seconds: number;
  /** 0 to 999999. */
  readonly microseconds: number;

  private constructor(days: number, seconds: number, microseconds: number) {
    if (!(Math.abs(days) <= maxDays)) throw new DateError(`days=${days}; must have magnitude <= ${maxDays}`);
    this.days = days;
    this.seconds = seconds;
    this.microseconds = microseconds;
  }

  /** Parts may have fractions, as in `PT0.5S`. */
  static of(parts: TimedeltaParts): Timedelta {
    const allDays = (parts.days ?? 0) + (parts.weeks ?? 0) * 7;
    const wholeDays = Math.trunc(allDays);
    const daySeconds = (allDays - wholeDays) * 86_400;
    const wholeDaySeconds = Math.trunc(daySeconds);
    const allSeconds = (parts.seconds ?? 0) + (parts.minutes ?? 0) * 60 + (parts.hours ?? 0) * 3600;
    const wholeSeconds = Math.trunc(allSeconds);
    const fraction = daySeconds - wholeDaySeconds + (allSeconds - wholeSeconds);
    const micros = (parts.microseconds ?? 0) + (parts.milliseconds ?? 0) * 1000;
    return Timedelta.normalized(
      wholeDays,
      wholeDaySeconds + wholeSeconds,
      roundHalfEven(Number.isInteger(fraction) ? micros + fraction * 1_000_000 : micros + fraction * 1e6),
    );
  }

  private static normalized(days: number, seconds: number, microseconds: number): Timedelta {
    const moreSeconds = Math.floor(microseconds / 1_000_000);
    const allSeconds = seconds + moreSeconds;
    const moreDays = Math.floor(allSeconds / 86_400);
    return new Timedelta(days + moreDays, allSeconds - moreDays * 86_400, microseconds - moreSeconds * 1_000_000);
  }

  /** So that a `Timedelta` and a `Duration` are read the same way. */
  get time(): Timedelta {
    return this;
  }

  get totalSeconds(): number {
    const seconds = this.days * 86_400 + this.seconds;
    const micros = seconds * 1_000_000 + this.microseconds;
    return Number.isSafeInteger(micros) ? micros / 1_000_000 : seconds + this.microseconds / 1_000_000;
  }

  /** All of the length, exact. */
  get totalMicroseconds(): bigint {
    return (BigInt(this.days) * 86_400n + BigInt(this.seconds)) * 1_000_000n + BigInt(this.microseconds);
  }

  static fromMicroseconds(all: bigint): Timedelta {
    const day = 86_400_000_000n;
    const days = all >= 0n ? all / day : -((-all + day - 1n) / day);
    const rest = Number(all - days * day);
    return new Timedelta(Number(days), Math.floor(rest / 1_000_000), rest % 1_000_000);
  }

  plus(other: Timedelta): Timedelta {
    return Timedelta.normalized(
      this.days + other.days,
      this.seconds + other.seconds,
      this.microseconds + other.microseconds,
    );
  }

  negated(): Timedelta {
    return Timedelta.normalized(-this.days, -this.seconds, -this.microseconds);
  }

  compare(other: Timedelta): number {
    return this.days - other.days || this.seconds - other.seconds || this.microseconds - other.microseconds;
  }

  toString(): string {
    const two = (number: number) => String(number).padStart(2, '0');
    const days = this.days === 0 ? '' : `${this.days} day${Math.abs(this.days) === 1 ? '' : 's'}, `;
    const fraction = this.microseconds === 0 ? '' : `.${String(this.microseconds).padStart(6, '0')}`;
    const minutes = Math.floor(this.seconds / 60);
    return `${days}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(this.seconds % 60)}${fraction}`;
  }
}

/** A length with years and months, which have no fixed number of days. */
export class Duration {
  readonly years: number;
  readonly months: number;
  readonly time: Timedelta;

  constructor(years: number, months: number, time: Timedelta) {
    this.years = years;
    this.months = months;
    this.time = time;
  }

  /** Moves a day by the years and months alone. A day that the month lacks becomes the last day of the month. */
  moveDays(days: number, sign: 1 | -1): number {
    if (!Number.isInteger(this.years) || !Number.isInteger(this.months)) {
      throw new DateError('fractional years or months not supported for date calculations');
    }
    const { year, month, day } = fieldsOfDays(days);
    const from = month - 1 + sign * this.months;
    const carry = Math.floor(from / 12);
    const [newYear, newMonth] = [year + sign * this.years + carry, from - carry * 12 + 1];
    return daysOf(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
  }

  plus(other: Timedelta | Duration): Duration {
    const calendar = other instanceof Duration ? other : undefined;
    return new Duration(
      this.years + (calendar?.years ?? 0),
      this.months + (calendar?.months ?? 0),
      this.time.plus(other.time),
    );
  }

  negated(): Duration {
    return new Duration(0 - this.years, 0 - this.months, this.time.negated());
  }

  equals(other: Timedelta | Duration): boolean {
    const months = other instanceof Duration ? other.years * 12 + other.months : 0;
    return this.years * 12 + this.months === months && this.time.compare(other.time) === 0;
  }

  toString(): string {
    const parts: string[] = [];
    if (this.years !== 0) parts.push(`${Math.trunc(this.years)} years`);
    if (this.months !== 0) parts.push(`${Math.trunc(this.months)} month${this.months <= 1 ? '' : 's'}`);
    return [...parts, String(this.time)].join(', ');
  }
}

const period =
  /^([+-])?P(?=[0-9T])(?:([0-9]+(?:[,.][0-9]+)?)Y)?(?:([0-9]+(?:[,.][0-9]+)?)M)?(?:([0-9]+(?:[,.][0-9]+)?)W)?(?:([0-9]+(?:[,.][0-9]+)?)D)?(?:T(?:([0-9]+(?:[,.][0-9]+)?)H)?(?:([0-9]+(?:[,.][0-9]+)?)M)?(?:([0-9]+(?:[,.][0-9]+)?)S)?)?$/;
/** The other form of the standard, `P0001-02-03T04:05:06`. */
const alternative = /^P(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2}))$/;

/** Throws a DateError for text that is not an ISO 8601 duration. */
export function parseDuration(text: string): Timedelta | Duration {
  const match = period.exec(text);
  if (!match) return parseAlternative(text);
  const number = (index: number) => Number((match[index] ?? '0').replace(',', '.'));
  const time = Timedelta.of({
    weeks: number(4),
    days: number(5),
    hours: number(6),
    minutes: number(7),
    seconds: number(8),
  });
  const [years, months] = [number(2), number(3)];
  const length = years === 0 && months === 0 ? time : new Duration(years, months, time);
  return match[1] === '-' ? length.negated() : length;
}

function parseAlternative(text: string): Duration {
  const match = alternative.exec(text);
  if (!match) throw new DateError(`Unable to parse duration string '${text}'`);
  const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
  return new Duration(years, months, Timedelta.of({ days, hours, minutes, seconds }));
}

export function roundHalfEven(number: number): number {
  const floor = Math.floor(number);
  const fraction = number - floor;
  if (fraction !== 0.5) return Math.round(number);
  return floor % 2 === 0 ? floor : floor + 1;
}
