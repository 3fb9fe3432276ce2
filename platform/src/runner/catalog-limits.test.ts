import type { Stream } from '@inlay/protocol/protocol';
import { expect, test } from 'vitest';
import { catalogExcess } from './catalog-limits.ts';

const stream = (name: string, json_schema: object = {}): Stream => ({
  name,
  json_schema: { ...json_schema },
  supported_sync_modes: ['full_refresh'],
});
const fields = (count: number) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'string' }])),
});

test('a catalog of usual size is taken', () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map((name) => stream(name, fields(10_000)));
  expect(catalogExcess({ streams: five })).toBeUndefined();
  expect(catalogExcess({ streams: [] })).toBeUndefined();
});

test('a catalog with hundreds of thousands of fields is refused, wherever they are', () => {
  const excess = 'more than 50,000 fields';
  const many = Array.from({ length: 400 }, (_, index) => stream(`s${index}`, fields(500)));
  expect(catalogExcess({ streams: many })).toBe(excess);
  const inside = { properties: { list: { items: { properties: { deep: fields(9_000) } } } } };
  expect(catalogExcess({ streams: Array(6).fill(stream('a', inside)) })).toBe(excess);
});

test('a catalog with a stream of more than 10,000 fields is refused, and the stream is named', () => {
  expect(catalogExcess({ streams: [stream('a'), stream('b', fields(10_001))] })).toMatch(/10,000 fields .* b$/);
});

test('a catalog with too many streams is refused', () => {
  const many = Array.from({ length: 10_001 }, (_, index) => stream(`s${index}`));
  expect(catalogExcess({ streams: many })).toBe('more than 10,000 streams');
});
