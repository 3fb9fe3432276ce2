import { expect, it } from 'vitest';
import { freeName, matches } from './names.ts';

it('takes the name as it is when it is free', () => {
  expect(freeName('Shop', ['Warehouse'])).toBe('Shop');
});

it('counts up to the first free number, whatever the case', () => {
  expect(freeName('Shop', ['SHOP', 'shop 2', 'Shop 4'])).toBe('Shop 3');
});

it.each([
  ['Café Bücher', 'cafe'],
  ['Café Bücher', 'BUCH caf'],
  ['Shopify', ' shop '],
  ['Shopify', ''],
  ['ＰＤＦ', 'pdf'],
  ['ガス', 'ガス'],
])('finds %s by %j', (name, search) => {
  expect(matches(name, search)).toBe(true);
});

it('finds nothing by a word that does not occur', () => {
  expect(matches('Shopify', 'shop x')).toBe(false);
});
