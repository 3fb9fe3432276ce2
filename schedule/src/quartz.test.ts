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
    ['a day of leap years', '0 0 0 29 2 ?', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
    [
      'a day counted from the end of leap years',
      '0 0 0 L-28 2 ?',
      ['2028-02-01T00:00', '2032-02-01T00:00', '2036-02-01T00:00'],
    ],
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
    expect(readQuartz('0 0 9 1 1 ? 2030 Etc/UTC')).toBe('0 0 9 1 1 ? 2030');
  });

  it.each([
    '0 0 0 31 2 ?',
    '0 0 0 30 FEB ?',
    '0 0 0 31 4,6,9,11 ?',
    '0 0 0 L-30 2 ?',
    '0 0 0 31W 2 ?',
    '0 0 0 29 2 ? 2027',
  ])('refuses %s, which never fires', (expression) => {
    expect(() => readQuartz(expression)).toThrow('no such day');
  });

  it('refuses what has fired for the last time, where someone says since when', () => {
    expect(readQuartz('0 0 0 1 1 ? 2026')).toBe('0 0 0 1 1 ? 2026');
    expect(() => readQuartz('0 0 0 1 1 ? 2026', sunday)).toThrow('in the past');
    expect(readQuartz('0 0 0 16 11 ? 2026', sunday)).toBe('0 0 0 16 11 ? 2026');
  });

  it.each([
    ['0 0 9 ? * MON Europe/Berlin', 'Europe/Berlin'],
    ['0 0 9 ? * MON America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['0 0 9 1 1 ? 2030 CET', 'CET'],
    ['0 0/5 9 ? * MON +02:00', '+02:00'],
    ['0 0 9 ? * MON GMT+1', 'GMT+1'],
    ['CRON_TZ=Asia/Tokyo 0 0 9 ? * MON', 'Asia/Tokyo'],
    ['TZ=Asia/Tokyo 0 0 9 ? * MON', 'Asia/Tokyo'],
  ])('says of %s that schedules run in UTC', (expression, zone) => {
    const message = `time zones such as ${zone} are not supported; convert the times to UTC and remove the time zone`;
    expect(() => readQuartz(expression)).toThrow(message);
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
