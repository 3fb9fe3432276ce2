import { expect, it, onTestFinished, vi } from 'vitest';
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

it.each([
  ['2026-01-31T12:00:30Z', '0 seconds'],
  ['2026-01-31T11:59:59Z', '1 second'],
  ['2026-01-31T11:38:00Z', '22 minutes'],
  ['2026-01-30T12:00:00Z', '1 day'],
])('gives the time since %s as %s', (time, length) => {
  // A short unit, formatted before, must not be mistaken for the long one.
  en.duration(125);
  expect(en.elapsed(time, now)).toBe(length);
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

it('creates each format once, on first use: creating one takes longer than showing a page', () => {
  const made = { NumberFormat: 0, RelativeTimeFormat: 0, DateTimeFormat: 0 };
  const counted = (kind: keyof typeof made) =>
    new Proxy(Intl[kind], {
      construct(target, args) {
        made[kind] += 1;
        return Reflect.construct(target, args);
      },
    });
  vi.stubGlobal('Intl', {
    NumberFormat: counted('NumberFormat'),
    RelativeTimeFormat: counted('RelativeTimeFormat'),
    DateTimeFormat: counted('DateTimeFormat'),
  });
  onTestFinished(() => vi.unstubAllGlobals());
  const formatting = createFormatting('en', 'UTC');
  expect(made).toEqual({ NumberFormat: 0, RelativeTimeFormat: 0, DateTimeFormat: 0 });
  for (let times = 0; times < 2; times++) {
    formatting.number(1);
    formatting.duration(5);
    formatting.bytes(2_000_000);
    formatting.relative('2026-01-31T11:55:00Z', now);
    formatting.dateTime('2026-01-31T12:00:00Z');
  }
  // Numbers, seconds and megabytes.
  expect(made).toEqual({ NumberFormat: 3, RelativeTimeFormat: 1, DateTimeFormat: 1 });
});
