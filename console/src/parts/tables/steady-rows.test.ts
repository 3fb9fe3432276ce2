import { expect, it } from 'vitest';
import { inOldOrder, keepsPlaces } from './steady-rows.ts';

const row = (id: string, value = 0) => ({ id, value });
const idOf = ({ id }: { id: string }) => id;

it('keeps the order of before, with the values of now', () => {
  expect(inOldOrder([row('a'), row('b')], [row('b', 2), row('c'), row('a', 1)], idOf)).toEqual([
    row('a', 1),
    row('b', 2),
  ]);
});

it('keeps a row that is gone, so that those below it stay', () => {
  expect(inOldOrder([row('a', 7), row('b')], [row('b', 2)], idOf)).toEqual([row('a', 7), row('b', 2)]);
});

it('lets rows come below those that stay where they are', () => {
  expect(keepsPlaces([row('a')], [row('a', 1), row('b')], idOf)).toBe(true);
  expect(keepsPlaces([row('a')], [row('b'), row('a')], idOf)).toBe(false);
  expect(keepsPlaces([row('a'), row('b')], [row('a')], idOf)).toBe(false);
});
