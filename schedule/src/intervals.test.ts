import { expect, it } from 'vitest';
import { shortestIntervalMs } from './intervals.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

it.each([
  ['every minute', '0 * * * * ?', minute],
  ['every hour', '0 0 * * * ?', hour],
  ['twice, five minutes apart', '0 0,5 3 * * ?', 5 * minute],
  ['around midnight', '0 0 0,23 * * ?', hour],
  ['around midnight, but never on two days in a row', '0 0 0,22 1,15 * ?', 22 * hour],
  ['every day', '0 30 2 * * ?', day],
  ['every Monday', '0 0 9 ? * MON', 7 * day],
  ['Friday and Saturday', '0 0 9 ? * FRI,SAT', day],
  ['the last and the first of a month', '0 0 9 1,31 * ?', day],
  ['once a year', '0 0 0 1 1 ?', 365 * day],
  ['once', '0 30 10 1 1 ? 2028', undefined],
  ['never', '0 0 0 31 2 ?', undefined],
])('a schedule that runs %s', (_, expression, expected) => {
  expect(shortestIntervalMs(expression, new Date('2026-11-15T23:59:30.000Z'))).toBe(expected);
});
