import { expect, it } from 'vitest';
import { isOlder } from './schema-history.ts';

it.each([
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1', true],
  ['1.9.0', '1.10.0', true],
  ['2.0.0', '1.10.3', false],
  ['1.2.0', '2.0.0', true],
])('version %s is older than %s: %s', (one, other, expected) => {
  expect(isOlder(one, other)).toBe(expected);
});
