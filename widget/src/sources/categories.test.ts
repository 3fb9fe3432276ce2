import { expect, it } from 'vitest';
import type { Offer } from '../api/api.ts';
import { groupOffers } from './categories.ts';

const grouped = (...categories: (string | null)[]) =>
  groupOffers(categories.map((category, index) => ({ id: String(index), category }) as Offer)).map(
    ({ category, offers }) => [category, offers.map(({ id }) => id).join('')],
  );

it('puts sources under their categories, in the order of the alphabet, after those without a category', () => {
  expect(grouped('Été', 'Zoo', null, 'apps', 'Zoo', null)).toEqual([
    ['', '25'],
    ['apps', '3'],
    ['Été', '0'],
    ['Zoo', '14'],
  ]);
  expect(grouped(null, null)).toEqual([['', '01']]);
  expect(grouped()).toEqual([]);
});
