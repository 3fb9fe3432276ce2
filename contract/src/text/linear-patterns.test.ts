import { describe, expect, test } from 'vitest';
import { ends } from '../../../scripts/ends.mjs';
import { linearRegExp, withBoundedPatterns } from './linear-patterns.ts';

const matches = (pattern: string, text: string) => withBoundedPatterns(() => linearRegExp(pattern).test(text));

describe('a pattern of a specification', () => {
  test.each([
    ['^(a+)+$', 'a'.repeat(60)],
    ['^(a|a)*$', 'a'.repeat(60)],
    ['^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*$', 'a'.repeat(60)],
  ])('%s ends, whatever is matched', (pattern, start) => {
    expect(matches(pattern, start)).toBe(true);
    // The engine of JavaScript would not come back from this.
    expect(ends(() => matches(pattern, `${start}!`))).toBe(false);
  });

  test.each([
    ['^https?://[^\\s?#]+$', 'https://api.example.com/v1', 'ftp://api.example.com'],
    ['^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$', '2024-01-31T13:30:00Z', '2024-01-31'],
    ['^[^:]*$', 'a user', 'a:user'],
    ['^\\u00e9\\p{L}+$', 'éa', 'a'],
    ['b', 'abc', 'xyz'],
  ])('%s means the same as in JavaScript', (pattern, good, bad) => {
    expect([matches(pattern, good), matches(pattern, bad)]).toEqual([true, false]);
  });

  test.each(['^(?!-)x', '(?<=a)b', '(a)\\1', '(', '(((a{1000}){1000}){1000})', 'a{1000}'.repeat(50)])(
    '%s that the engine does not take is left to the connector',
    (pattern) => {
      expect(matches(pattern, 'anything')).toBe(true);
    },
  );

  test('is not run on more text than one validation may take', () => {
    const pattern = linearRegExp('^[a-z]{1,900}$');
    expect(withBoundedPatterns(() => pattern.test('A'))).toBe(false);
    const long = 'A'.repeat(100_000);
    expect(withBoundedPatterns(() => pattern.test(long))).toBe(true);
    expect(withBoundedPatterns(() => Array.from({ length: 5_000 }, () => pattern.test('A')).at(-1))).toBe(true);
    expect(withBoundedPatterns(() => pattern.test('A'))).toBe(false);
  });
});
