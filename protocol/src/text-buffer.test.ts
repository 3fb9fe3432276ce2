import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextBuffer } from './text-buffer.ts';

test('gives the bytes of all that was added, whatever the capacity, and starts over', () => {
  const text = fc.string({ unit: 'binary' });
  const piece = fc.oneof(
    fc.record({ as: fc.constantFrom('text' as const, 'bytes' as const, 'slice' as const), text }),
    fc.record({ as: fc.constant('number' as const), text: fc.maxSafeNat().map(String) }),
    fc.record({
      as: fc.constant('number' as const),
      text: fc.constantFrom('0', '9', '10', '2147483647', '2147483648'),
    }),
  );
  fc.assert(
    fc.property(fc.nat({ max: 20 }), fc.array(fc.array(piece)), (capacity, rounds) => {
      const buffer = new TextBuffer(capacity);
      for (const pieces of rounds) {
        for (const { as, text } of pieces) {
          const bytes = Buffer.from(`<${text}>`);
          if (as === 'text') buffer.add(text);
          else if (as === 'bytes') buffer.addBytes(Buffer.from(text));
          else if (as === 'slice') buffer.addSlice(bytes, 1, bytes.length - 1);
          else buffer.addWholeNumber(Number(text));
        }
        const expected = Buffer.from(pieces.map(({ text }) => text).join(''));
        expect(buffer.length).toBe(expected.length);
        expect(buffer.take()).toEqual(expected);
        expect(buffer.length).toBe(0);
      }
    }),
  );
});
