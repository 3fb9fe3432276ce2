import { expect, it } from 'vitest';
import { words as connectors } from '../screens/connectors/words.ts';
import { counted } from './counted.ts';
import { words } from './words.ts';

it('None, one and many read well, with the number as people write it in English', () => {
  expect([0, 1, 1_000].map((count) => words.overview.rows(count))).toEqual(['0 rows', '1 row', '1,000 rows']);
  expect(counted(2, 'source goes', 'sources go')).toBe('2 sources go');
});

it('Two numbers in one sentence have each their own form', () => {
  expect(connectors.moved(1, 0)).toBe('1 source goes on with the new version, 0 stay on theirs.');
});

it('Every text that counts things says one thing otherwise than two', () => {
  const counting = (count: number) => {
    const { overview, job, customer } = words;
    const texts = [
      overview.affected(count),
      overview.moreCauses(count),
      overview.connections(count),
      job.moreStreams(count),
      job.matches(count),
      job.rowsSaid(count, '', ''),
      customer.deleteText(count, count),
    ];
    // The numbers themselves always differ.
    return texts.map((text) => text.replaceAll(String(count), '#'));
  };
  const one = counting(1);
  for (const [index, text] of counting(2).entries()) expect(one[index]).not.toBe(text);
});
