import { expect, it } from 'vitest';
import { words as connectors } from '../screens/connectors/words.ts';
import { counted } from './counted.ts';
import { words } from './words.ts';

it('None, one and many read well, with English digit grouping', () => {
  expect([0, 1, 1_000].map((count) => words.overview.rows(count))).toEqual(['0 rows', '1 row', '1,000 rows']);
  expect(counted(2, 'source stops', 'sources stop')).toBe('2 sources stop');
});

it('Two numbers in one sentence each have their own form', () => {
  expect(connectors.moved(1, 2)).toBe('1 source updated, 2 sources stay on an earlier version.');
  expect(connectors.moved(3, 0)).toBe('3 sources updated.');
});

it('Every text with a count distinguishes one from many', () => {
  const counting = (count: number) => {
    const { overview, job, customer } = words;
    const texts = [
      overview.affected(count),
      overview.moreCauses(count),
      overview.connections(count),
      job.moreStreams(count),
      job.matches(count),
      job.rowsBetween(count, '', ''),
      customer.deleteText(count, count),
    ];
    // The numbers themselves always differ.
    return texts.map((text) => text.replaceAll(String(count), '#'));
  };
  const one = counting(1);
  for (const [index, text] of counting(2).entries()) expect(one[index]).not.toBe(text);
});
