import { expect, it } from 'vitest';
import type { Offer } from '../api/api.ts';
import { createFormatting } from '../words/formatting.ts';
import { groupOffers } from './categories.ts';

const offers = (...categories: (string | null)[]) =>
  categories.map((category, index) => ({ id: String(index), category }) as Offer);
const grouped = (...categories: (string | null)[]) =>
  groupOffers(offers(...categories), 'Other', createFormatting('sv')).map(({ category, offers }) => [
    category,
    offers.map(({ id }) => id).join(''),
  ]);

it('puts sources under their categories, in the order of the alphabet, and the rest last', () => {
  expect(grouped(null, 'Öl', 'Zoo', 'Apps', 'Zoo')).toEqual([
    ['Apps', '3'],
    ['Zoo', '24'],
    ['Öl', '1'],
    ['Other', '0'],
  ]);
});

it('shows no headings where there is nothing to tell apart', () => {
  expect(grouped(null, null)).toEqual([[undefined, '01']]);
  expect(grouped('Apps', 'Apps')).toEqual([[undefined, '01']]);
  expect(grouped()).toEqual([[undefined, '']]);
});
