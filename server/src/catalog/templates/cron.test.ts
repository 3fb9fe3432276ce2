import { describe, expect, it } from 'vitest';
import { describeCron, quartzFormat } from './cron.ts';

const now = Date.parse('2026-01-31T09:30:00.000Z');

describe('A schedule', () => {
  it('is described in words and with its next five runs', () => {
    expect(describeCron('0 0 * * * ?', now)).toEqual({
      description: 'Every hour (UTC)',
      is_valid: true,
      next_runs: [10, 11, 12, 13, 14].map((hour) => `2026-01-31T${hour}:00:00.000Z`),
    });
    expect(describeCron('0 0 0 29 2 ? UTC', now).next_runs).toEqual(
      [2028, 2032, 2036, 2040, 2044].map((year) => `${year}-02-29T00:00:00.000Z`),
    );
  });

  it('that ends has fewer runs', () => {
    expect(describeCron('0 0 0 1 * ? 2026', now).next_runs).toHaveLength(5);
    expect(describeCron('0 0 0 1 1,3 ? 2026', now).next_runs).toEqual(['2026-03-01T00:00:00.000Z']);
  });

  it.each([
    ['0 * * * *', 'expected 6 or 7 fields, found 5'],
    ['', 'expected 6 or 7 fields, found 1'],
    ['*/5 * * * * ?', 'the seconds field must be a single number, because schedules run at most once a minute'],
    ['0/15 * * * * ?', 'the seconds field must be a single number, because schedules run at most once a minute'],
    [
      '0 0/5 * * * ? 2030',
      'with a year, the minutes field must be a single number, because such schedules run at most once an hour',
    ],
    ['0 0 0 1 1 1', 'exactly one of day-of-month and day-of-week must be ?'],
    ['0 0 25 * * ?', 'the hours field is not valid'],
    ['0 0 0 31 2 ?', 'it never runs, because no such day exists'],
    ['0 0 0 L-30 2 ?', 'it never runs, because no such day exists'],
    ['0 0 0 1 1 ? 1999', 'its last run is in the past'],
    [
      '0 0 9 * * ? Europe/Berlin',
      'time zones such as Europe/Berlin are not supported; convert the times to UTC and remove the time zone',
    ],
  ])('%j is refused with the reason', (expression, error) => {
    expect(describeCron(expression, now)).toEqual({ description: null, is_valid: false, next_runs: [], error });
    expect(quartzFormat.fault(expression)).toBe(`use a Quartz cron expression such as 0 0 * * * ?: ${error}`);
  });

  it('in a request has no fault when it is valid', () => {
    expect(quartzFormat.fault('0 30 2 * * ?')).toBeUndefined();
  });
});
