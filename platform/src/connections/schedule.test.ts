import { describe, expect, test } from 'vitest';
import { presentSchedule, readSchedule } from './schedule.ts';

const cron = (cronExpression: string) => readSchedule({ scheduleType: 'cron', cronExpression });

describe('a schedule', () => {
  test('that is manual stores nothing and is shown as manual', () => {
    expect(readSchedule({ scheduleType: 'manual', cronExpression: 'ignored' })).toBeNull();
    expect(presentSchedule(null)).toEqual({ scheduleType: 'manual' });
  });

  test('by cron is stored without the zone and shown with it', () => {
    expect(cron('0 0 12 * * ?')).toBe('0 0 12 * * ?');
    expect(cron('  0 0  12 * * ?  UTC ')).toBe('0 0 12 * * ?');
    expect(presentSchedule('0 0 12 * * ?')).toEqual({ scheduleType: 'cron', cronExpression: '0 0 12 * * ? UTC' });
  });

  test('by cron needs an expression', () => {
    expect(() => readSchedule({ scheduleType: 'cron' })).toThrow(expect.objectContaining({ title: 'bad-request' }));
  });

  test.each([
    '0 0 * * * ?',
    '0 */5 * * * ?',
    '30 0/15 8-18 ? * MON-FRI',
    '0 0 22-2 ? * FRI-MON',
    '0 15 10 L * ?',
    '0 15 10 LW * ?',
    '0 15 10 L-3 * ?',
    '0 15 10 15W * ?',
    '0 15 10 ? * 6L',
    '0 15 10 ? * fri#3',
    '0 0 0 1,15 JAN,jul ?',
    '0 0 0 1 1 ? 2030-2040/2',
    '59 59 23 31 12 ? 2099',
  ])('accepts %s', (expression) => {
    expect(cron(expression)).toBe(expression);
  });

  test.each([
    ['* * * * *', '6 or 7 fields'],
    ['', '6 or 7 fields'],
    ['0 0 0 1 1 ? 2030 UTC Europe/Berlin', '6 or 7 fields'],
    ['* 0 0 * * ?', 'seconds'],
    ['0/10 0 0 * * ?', 'seconds'],
    ['60 0 0 * * ?', 'seconds'],
    ['0 60 0 * * ?', 'minutes'],
    ['0 */5 0 * * ? 2030', 'minutes'],
    ['0 0 24 * * ?', 'hours'],
    ['0 0 0/0 * * ?', 'hours'],
    ['0 0 1- * * ?', 'hours'],
    ['0 0 1/2/3 * * ?', 'hours'],
    ['0 0 0 * * *', 'exactly one'],
    ['0 0 0 ? * ?', 'exactly one'],
    ['0 0 0 32 * ?', 'day-of-month'],
    ['0 0 0 L,3 * ?', 'day-of-month'],
    ['0 0 0 1 13 ?', 'month'],
    ['0 0 0 ? * 0', 'day-of-week'],
    ['0 0 0 ? * MON#6', 'day-of-week'],
    ['0 0 0 1 1 ? 1969', 'year'],
    ['0 0 0 1 1 ? 2030x', 'year'],
    ['0 0 0 1 1 ? Europe/Berlin', 'Europe/Berlin'],
    ['0 0 0 31 2 ?', 'never runs'],
  ])('refuses %j because of its %s', (expression, why) => {
    expect(() => cron(expression)).toThrow(
      expect.objectContaining({
        title: 'cron-validation/invalid-expression',
        data: { cronExpression: expression, validationErrorMessage: expect.stringContaining(why) },
      }),
    );
  });
});
