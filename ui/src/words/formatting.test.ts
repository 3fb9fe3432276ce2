import { expect, it } from 'vitest';
import { createFormatting } from './formatting.ts';

const en = createFormatting('en', 'UTC');
const now = Date.parse('2026-01-31T12:00:00Z');

it.each([
  ['2026-01-31T12:00:00Z', 'now'],
  ['2026-01-31T11:59:30Z', '30 seconds ago'],
  ['2026-01-31T11:00:01Z', '59 minutes ago'],
  ['2026-01-31T10:00:00Z', '2 hours ago'],
  ['2026-01-30T12:00:00Z', 'yesterday'],
  ['2026-02-01T18:00:00Z', 'tomorrow'],
  ['2026-01-31T12:05:10Z', 'in 5 minutes'],
  ['2025-01-01T00:00:00Z', 'last year'],
])('says %s as %s', (time, words) => {
  expect(en.relative(time, now)).toBe(words);
});

it('speaks the language and follows the region', () => {
  expect(createFormatting('ja').relative('2026-01-31T11:55:00Z', now)).toBe('5 分前');
  expect(createFormatting('de-CH').number(1_234_567)).toMatch(/^1['’]234['’]567$/);
  expect(createFormatting('fr', 'UTC').dateTime('2026-01-31T12:00:00Z')).toContain('janv. 2026');
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [798_532, '798.5 kB'],
  [5_000_000_000, '5 GB'],
])('writes %d bytes as %s', (bytes, words) => {
  expect(en.bytes(bytes)).toBe(words);
});

it.each([
  [0, '<\u00a01 sec'],
  [0.24, '<\u00a01 sec'],
  [42, '42 sec'],
  [125, '2 min 5 sec'],
  [7_265, '2 hr 1 min'],
])('writes %d seconds as %s', (seconds, words) => {
  expect(en.duration(seconds)).toBe(words);
});
