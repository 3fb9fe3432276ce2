import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextBuffer } from './text-buffer.ts';

test('gives the bytes of all that was added, whatever the capacity, and begins anew', () => {
  const piece = fc.record({ text: fc.string({ unit: 'binary' }), isBytes: fc.boolean() });
  fc.assert(
    fc.property(fc.nat({ max: 20 }), fc.array(fc.array(piece)), (capacity, rounds) => {
      const buffer = new TextBuffer(capacity);
      for (const pieces of rounds) {
        for (const { text, isBytes } of pieces) {
          const bytes = Buffer.from(`<${text}>`);
          if (isBytes) buffer.addBytes(bytes, 1, bytes.length - 1);
          else buffer.add(text);
        }
        const expected = Buffer.from(pieces.map(({ text }) => text).join(''));
        expect(buffer.length).toBe(expected.length);
        expect(buffer.take()).toEqual(expected);
        expect(buffer.length).toBe(0);
      }
    }),
  );
});
