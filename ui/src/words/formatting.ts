/** Formats numbers, sizes, times and durations for a locale. */

export interface Formatting {
  number(value: number): string;
  bytes(value: number): string;
  /** A duration, in its one or two largest units. */
  duration(seconds: number): string;
  /** As in "5 minutes ago" or "in 2 hours". */
  relative(time: string, nowMs: number): string;
  /** As in "5 minutes" or "2 hours": time since then, in the largest unit. */
  elapsed(time: string, nowMs: number): string;
  dateTime(time: string): string;
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const stepOf = (seconds: number) =>
  steps.find(([, atLeast]) => Math.abs(seconds) >= atLeast) ?? (['second', 1] as const);
const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Creating a format takes up to 100 ms on a slow machine, so each is created on first use. */
function kept<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** `locale` may name a region, which decides how dates and numbers are written. */
export function createFormatting(locale: string, timeZone?: string): Formatting {
  const number = kept(() => new Intl.NumberFormat(locale));
  const relative = kept(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const dateTime = kept(
    () =>
      new Intl.DateTimeFormat(locale, {
        dateStyle: 'medium',
        timeStyle: 'short',
        ...(timeZone === undefined ? {} : { timeZone }),
      }),
  );
  const units = new Map<string, Intl.NumberFormat>();
  const unit = (value: number, name: string, options: Intl.NumberFormatOptions = {}) => {
    const key = `${name} ${options.unitDisplay}`;
    let format = units.get(key);
    if (!format) {
      const common = { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: 0 } as const;
      format = new Intl.NumberFormat(locale, { ...common, ...options });
      units.set(key, format);
    }
    return format.format(value);
  };

  return {
    number: (value) => number().format(value),
    bytes(value) {
      const step = Math.min(byteUnits.length - 1, value < 1000 ? 0 : Math.floor(Math.log10(value) / 3));
      return unit(
        value / 1000 ** step,
        byteUnits[step] ?? 'byte',
        // The short form of a byte is the same for one and for many.
        step === 0 ? { unitDisplay: 'long' } : { maximumFractionDigits: 1 },
      );
    },
    duration(seconds) {
      const whole = Math.round(seconds);
      // A platform may count whole seconds only.
      if (whole < 1) return `<\u00a0${unit(1, 'second')}`;
      if (whole < 60) return unit(whole, 'second');
      if (whole < 3600) return `${unit(Math.floor(whole / 60), 'minute')} ${unit(whole % 60, 'second')}`;
      return `${unit(Math.floor(whole / 3600), 'hour')} ${unit(Math.floor((whole % 3600) / 60), 'minute')}`;
    },
    relative(time, nowMs) {
      const seconds = Math.round((Date.parse(time) - nowMs) / 1000);
      const [name, size] = stepOf(seconds);
      return relative().format(Math.trunc(seconds / size), name);
    },
    elapsed(time, nowMs) {
      const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000));
      const [name, size] = stepOf(seconds);
      return unit(Math.floor(seconds / size), name, { unitDisplay: 'long' });
    },
    dateTime: (time) => dateTime().format(new Date(time)),
  };
}
