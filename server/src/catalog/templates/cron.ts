/** Schedules of connection templates: which are accepted, and what one means in words and in the next runs. */
import type { CronDescription } from '@inlay/contract/catalog/connection-templates';
import type { Format } from '@inlay/contract/text/formats';
import { describeQuartz, nextRuns, QuartzError, readQuartz } from '@inlay/schedule/quartz';
import { systemRuntime } from '../../kernel/runtime.ts';

const shownRuns = 5;

export const quartzFormat: Format = {
  type: 'value_error.cron',
  fault(text) {
    const reason = faultOf(text, systemRuntime.now());
    return reason && `use a Quartz cron expression such as 0 0 * * * ?: ${reason}`;
  },
};

/** `now` in milliseconds since the epoch. */
export function describeCron(expression: string, now: number): CronDescription {
  const error = faultOf(expression, now);
  if (error !== undefined) return { description: null, is_valid: false, next_runs: [], error };
  const read = readQuartz(expression);
  return {
    description: describeQuartz(read),
    is_valid: true,
    next_runs: nextRuns(read, new Date(now), shownRuns).map((run) => run.toISOString()),
  };
}

/** What is wrong with the expression, as the second half of a sentence. */
function faultOf(text: string, now: number): string | undefined {
  try {
    readQuartz(text, new Date(now));
    return undefined;
  } catch (error) {
    if (error instanceof QuartzError) return error.message;
    throw error;
  }
}
