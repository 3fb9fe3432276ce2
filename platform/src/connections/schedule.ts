/**
 * When a connection runs: only when asked, or on a Quartz cron expression in UTC. Checks what callers send and shows
 * what is stored. Running more often than hourly is allowed: the machine that does the work is the operator's own.
 */
import { nextRuns, QuartzError, readQuartz } from '@inlay/schedule/quartz';
import { Problem } from '../problems.ts';
import type { ScheduleRequest } from './requests.ts';

type PresentedSchedule = { scheduleType: 'manual' } | { scheduleType: 'cron'; cronExpression: string };

/** The expression to store; null for a manual schedule. */
export function readSchedule(schedule: ScheduleRequest): string | null {
  if (schedule.scheduleType === 'manual') return null;
  if (schedule.cronExpression === undefined) {
    throw new Problem('bad-request', { message: 'A cron schedule requires a cronExpression.' });
  }
  return readCron(schedule.cronExpression);
}

/** The zone is always written out, so an expression comes back with a suffix it may not have been sent with. */
export function presentSchedule(cronExpression: string | null): PresentedSchedule {
  if (cronExpression === null) return { scheduleType: 'manual' };
  return { scheduleType: 'cron', cronExpression: `${cronExpression} UTC` };
}

/** Null for a manual schedule, and for an expression that has no more times: one with a year ends. */
export function nextRunAfter(cronExpression: string | null, time: number): number | null {
  if (cronExpression === null) return null;
  return nextRuns(cronExpression, new Date(time), 1)[0]?.getTime() ?? null;
}

function readCron(cronExpression: string): string {
  try {
    return readQuartz(cronExpression);
  } catch (error) {
    if (!(error instanceof QuartzError)) throw error;
    throw new Problem('cron-validation/invalid-expression', { cronExpression, validationErrorMessage: error.message });
  }
}
