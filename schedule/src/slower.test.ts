import { expect, it } from 'vitest';
import { nextRuns, readQuartz } from './quartz.ts';
import { scheduleEvery } from './slower.ts';

it.each([1, 60, 61, 420, 3600, 3601, 5 * 3600, 86_400, 86_401, 604_800])(
  'a schedule for at least %i seconds never runs sooner, and is accepted',
  (seconds) => {
    const expression = scheduleEvery(seconds * 1000);
    expect(readQuartz(expression)).toBe(expression);
    const runs = nextRuns(expression, new Date('2026-02-26T22:10:00Z'), 40).map((run) => run.getTime());
    expect(runs).toHaveLength(40);
    const gaps = runs.slice(1).map((run, index) => run - (runs[index] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(seconds * 1000);
    // No more than seven times slower than allowed: a day and a second become a week.
    expect(Math.max(...gaps)).toBeLessThanOrEqual(Math.max(60_000, seconds * 7_000));
  },
);
