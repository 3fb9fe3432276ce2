import { expect, test } from 'vitest';
import { type Figure, isReached } from './figures.ts';
import { middleOf, spreadOf } from './spread.ts';

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => last - index);

test('the spread leaves out as many of the outermost numbers as the binomial distribution allows', () => {
  const spreads = [6, 8, 9, 11, 12, 15, 25].map((count) => spreadOf(numbersTo(count)));
  expect(spreads).toEqual([
    [1, 6],
    [1, 8],
    [2, 8],
    [2, 10],
    [3, 10],
    [4, 12],
    [8, 18],
  ]);
});

test('fewer than six numbers have no spread', () => {
  expect([0, 1, 5].map((count) => spreadOf(numbersTo(count)))).toEqual([undefined, undefined, undefined]);
});

test('the middle of an even number of numbers lies between two of them', () => {
  expect([middleOf([3, 1, 2]), middleOf([4, 1, 2, 3])]).toEqual([2, 2.5]);
});

test('a request is slower only if its ratio misses the target and the spread excludes 1', () => {
  const isFineAt = (ratio: number, spread: [number, number]) => {
    const figure: Figure = { work: '', value: ratio, unit: 'µs', ratio, spread, target: { of: 'ratio', atMost: 1.1 } };
    return isReached(figure);
  };
  expect(isFineAt(1.2, [0.9, 1.5])).toBe(true);
  expect(isFineAt(1.05, [1.02, 1.09])).toBe(true);
  expect(isFineAt(1.2, [1.05, 1.5])).toBe(false);
});
