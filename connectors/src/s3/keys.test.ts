import type { StreamDescriptor } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findOrigin, streamFolder } from './keys.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
  fc.stringMatching(/^[a-c.!/_ -]{1,4}$/),
);
const descriptor: fc.Arbitrary<StreamDescriptor> = fc.record({ name, namespace: name }, { requiredKeys: ['name'] });

it('gives a stream a folder of safe characters that a key has room for', () => {
  fc.assert(
    fc.property(descriptor, (stream) => {
      const folder = streamFolder('prefix/', stream);
      expect(folder).toMatch(/^prefix\/([A-Za-z0-9_!-][A-Za-z0-9_!.-]*\/){1,2}$/);
      expect(folder.length).toBeLessThan(500);
    }),
  );
});

it('gives two streams two folders', () => {
  const wellFormed = descriptor.filter(({ name, namespace = '' }) => name.isWellFormed() && namespace.isWellFormed());
  fc.assert(
    fc.property(wellFormed, wellFormed, (one, other) => {
      const isSame = one.name === other.name && one.namespace === other.namespace;
      expect(streamFolder('', one) === streamFolder('', other)).toBe(isSame);
    }),
    { numRuns: 2_000 },
  );
});

it('distinguishes names that a careless escape would merge', () => {
  const names = ['a b', 'a!20b', 'a_b', 'a/b', 'A b', '.', '..', 'a'.repeat(300), 'a'.repeat(301)];
  expect(new Set(names.map((each) => streamFolder('', { name: each }))).size).toBe(names.length);
});

it('knows its own objects and no others', () => {
  expect(findOrigin('7/12-1790000000000-00001.jsonl.gz')).toEqual({
    generation: 7,
    startedAtMs: 1_790_000_000_000,
  });
  for (const foreign of ['7/notes.txt', '12-1790000000000-00001.jsonl.gz', '7/3/12-1-00001.jsonl.gz', '7/12-1.jsonl']) {
    expect(findOrigin(foreign)).toBeUndefined();
  }
});
