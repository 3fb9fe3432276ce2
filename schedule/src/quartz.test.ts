import { describe, expect, it } from 'vitest';
import { describeQuartz, nextRuns, QuartzError, readQuartz } from './quartz.ts';

const sunday = new Date('2026-11-15T05:00:00Z');
const runs = (expression: string, count = 3) =>
  nextRuns(readQuartz(expression), sunday, count).map((date) => date.toISOString().slice(0, 16));

describe('when a Quartz expression fires', () => {
  it.each([
    ['every hour', '0 0 * * * ?', ['2026-11-15T06:00', '2026-11-15T07:00', '2026-11-15T08:00']],
    ['a step from a number', '0 0/15 * * * ?', ['2026-11-15T05:15', '2026-11-15T05:30', '2026-11-15T05:45']],
    [
      'a range that wraps around midnight',
      '0 0 22-1 * * ?',
      ['2026-11-15T22:00', '2026-11-15T23:00', '2026-11-16T00:00'],
    ],
    [
      'days of the week counted from Sunday',
      '0 0 9 ? * 2',
      ['2026-11-16T09:00', '2026-11-23T09:00', '2026-11-30T09:00'],
    ],
    [
      'days of the week by name, wrapping',
      '0 0 9 ? * SAT-SUN',
      ['2026-11-15T09:00', '2026-11-21T09:00', '2026-11-22T09:00'],
    ],
    ['the last day of the month', '0 0 9 L * ?', ['2026-11-30T09:00', '2026-12-31T09:00', '2027-01-31T09:00']],
    [
      'three days before the last of the month',
      '0 0 9 L-3 * ?',
      ['2026-11-27T09:00', '2026-12-28T09:00', '2027-01-28T09:00'],
    ],
    ['the weekday nearest to a day', '0 0 9 15W * ?', ['2026-11-16T09:00', '2026-12-15T09:00', '2027-01-15T09:00']],
    ['the last Friday of the month', '0 0 9 ? * 6L', ['2026-11-27T09:00', '2026-12-25T09:00', '2027-01-29T09:00']],
    ['the third Friday of the month', '0 0 9 ? * FRI#3', ['2026-11-20T09:00', '2026-12-18T09:00', '2027-01-15T09:00']],
    ['L as the day of the week: Saturday', '0 0 9 ? * L', ['2026-11-21T09:00', '2026-11-28T09:00', '2026-12-05T09:00']],
    ['a year', '0 30 10 1 1 ? 2028', ['2028-01-01T10:30']],
    ['a day that never comes', '0 0 0 31 2 ?', []],
  ])('%s', (_, expression, expected) => {
    expect(runs(expression)).toEqual(expected);
  });

  it('never gives the moment it was asked at', () => {
    expect(nextRuns('0 0 5 * * ?', sunday, 1)[0]?.toISOString()).toBe('2026-11-16T05:00:00.000Z');
  });
});

describe('reading an expression', () => {
  it('takes out a zone and spaces', () => {
    expect(readQuartz('  0 0  9 ? * MON UTC')).toBe('0 0 9 ? * MON');
  });

  it.each(['* * * * *', '0 0 * * *', '* 0 * * * ?', '0 0 9 1 * MON', '0 0 9 ? * ?', '0 60 * * * ?', '0 0 9 ? * 8', ''])(
    'refuses %j and says why',
    (expression) => {
      expect(() => readQuartz(expression)).toThrow(QuartzError);
    },
  );
});

it('says an expression in words', () => {
  expect(describeQuartz('0 0 9 ? * 2-6')).toBe('At 09:00, Monday through Friday (UTC)');
  expect(describeQuartz('0 0/15 * * * ?')).toBe('Every 15 minutes (UTC)');
});
