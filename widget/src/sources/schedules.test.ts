import { expect, it } from 'vitest';
import { choicesOf } from './schedules.ts';

it('offers schedules down to the shortest interval, by hand, and what is set now', () => {
  const minutes = (shortest: number, present: string | null) => choicesOf(shortest, present).map((one) => one.minutes);
  expect(minutes(360, null)).toEqual([360, 720, 1_440, 10_080, undefined]);
  expect(minutes(720, '0 0 * * * ?')).toEqual([60, 720, 1_440, 10_080, undefined]);
  expect(choicesOf(10_080, '0 7 4 * * ?').map(({ expression }) => expression)).toEqual([
    '0 7 4 * * ?',
    '0 0 2 ? * MON',
    null,
  ]);
});
