import { streamKey } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { folderName } from './folders.ts';

describe("a stream's folder", () => {
  test.each([
    [{ name: 'users' }, 'users'],
    [{ name: 'users', namespace: 'public' }, 'public.users'],
    [{ name: 'public.users' }, 'public%2Eusers'],
    [{ name: '../../etc' }, '%2E%2E%2F%2E%2E%2Fetc'],
    [{ name: 'Zoë 100%' }, 'Zo%C3%AB%20100%25'],
    [{ name: '' }, '%'],
  ])('of %j is %s', (stream, name) => {
    expect(folderName(stream)).toBe(name);
  });

  test('is its own, plain, visible, and short enough for a file name', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('.', '..', 'a.b', 'a', '%', '~', 'x'.repeat(90), 'x'.repeat(91), 'é'.repeat(300)),
    );
    const stream = fc.record({ name, namespace: name });
    fc.assert(
      fc.property(stream, stream, (one, other) => {
        for (const { length, 0: first } of [folderName(one), folderName(other)]) {
          expect(length).toBeLessThanOrEqual(255);
          expect(first).not.toBe('.');
        }
        expect(folderName(one)).toMatch(/^[A-Za-z0-9_%~-]+(\.[A-Za-z0-9_%~-]+)?$/);
        expect(folderName(one) === folderName(other)).toBe(streamKey(one) === streamKey(other));
      }),
    );
  });
});
