import { expect, it } from 'vitest';
import { isQuick } from './quick-pattern.ts';

it.each(['^(a+)+$', '^(a|a)*$', '^((a+)b?)*$', '(x?){30}x{30}', '^(?:[a-z]+\\.)+$', '^a*a*a*a*a*a*$'])(
  'leaves %s to the service: it may never end',
  (pattern) => {
    expect(isQuick(pattern, 200)).toBe(false);
  },
);

it.each(['^https?://\\S+$', '^[^@\\s]+@[^@\\s]+$', '^\\d{4}-\\d{2}-\\d{2}$', '^(eu|us)-[a-z]+$', '^\\(a\\)+[(+*]$'])(
  'runs %s on a text of usual length',
  (pattern) => {
    expect(isQuick(pattern, 40)).toBe(true);
  },
);

it('leaves long texts to the service', () => {
  expect(isQuick('^\\S+\\s\\S+$', 1_000)).toBe(true);
  expect(isQuick('^\\S+\\s\\S+$', 100_000)).toBe(false);
});
