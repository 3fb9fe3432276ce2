/** How close together the runs of a schedule can be. */
import { daysOf, nextRuns, timesOfDay } from './quartz.ts';

/** Days of runs after which the pattern of a year has been seen. */
const enoughDays = 366;

/** Undefined when it runs only once, or never. For an expression that readQuartz has accepted. */
export function shortestIntervalMs(expression: string, now: Date): number | undefined {
  const days = nextRuns(daysOf(expression), now, enoughDays).map((day) => day.getTime());
  if (days.length === 0) return undefined;
  const times = timesOfDay(expression);
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const gaps = [...gapsIn(times), ...gapsIn(days).map((gap) => gap - spanMs)];
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}

function gapsIn(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] as number));
}
