/* What the ratios of several rounds say together. */
import type { Spread } from './figures.ts';

export function middleOf(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] as number;
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.floor(sorted.length / 2))) / 2;
}

/**
 * The 95 % confidence interval of the median. Each number is below the median with a probability of one half, so the
 * binomial distribution tells how many of the outermost numbers can be left out. Undefined for fewer than six numbers:
 * even all of them contain the median with a lower probability.
 */
export function spreadOf(numbers: number[]): Spread | undefined {
  const sorted = numbers.toSorted((a, b) => a - b);
  let leftOut = -1;
  let waysToBeOutside = 0;
  let ways = 1;
  for (let below = 0; below <= numbers.length; below++) {
    waysToBeOutside += 2 * ways;
    if (waysToBeOutside > 0.05 * 2 ** numbers.length) break;
    leftOut = below;
    ways = (ways * (numbers.length - below)) / (below + 1);
  }
  const [low, high] = [sorted[leftOut], sorted[sorted.length - 1 - leftOut]];
  return low === undefined || high === undefined ? undefined : [low, high];
}
