/** The periods that amounts are counted in: days and months, in UTC. Pure. */
const dayMs = 86_400_000;

export interface Periods {
  /** The first millisecond of the day and of the month, and of those that follow. */
  day: number;
  nextDay: number;
  month: number;
  nextMonth: number;
}

export function periodsAt(time: number): Periods {
  const day = dayOf(time);
  const date = new Date(time);
  const month = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
  return { day, nextDay: day + dayMs, month: month(0), nextMonth: month(1) };
}

export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}
