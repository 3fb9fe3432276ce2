import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursorFormat, decodeCursor, encodeCursor } from './cursor.ts';

const position = fc.record({ createdAt: fc.integer({ min: 0, max: 999_999_999_999_999 }), id: fc.uuid() });

describe('cursors', () => {
  it('give back the position they were made of', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(decodeCursor(encodeCursor(at))).toEqual(at);
        expect(cursorFormat.fault(encodeCursor(at))).toBeUndefined();
      }),
    );
  });

  it('need no escaping in a URL', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(encodeURIComponent(encodeCursor(at))).toBe(encodeCursor(at));
      }),
    );
  });

  it('have one spelling: whatever decodes is what we would write', () => {
    const candidate = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      position.map((at) => `${encodeCursor(at)}=`),
      fc.tuple(position, fc.nat(60), fc.constantFrom(...'AZaz09-_=')).map(([at, place, character]) => {
        const cursor = encodeCursor(at);
        return cursor.slice(0, place) + character + cursor.slice(place + 1);
      }),
    );
    fc.assert(
      fc.property(candidate, (text) => {
        const decoded = decodeCursor(text);
        if (decoded === undefined) {
          expect(cursorFormat.fault(text)).toMatch(/^use the cursor /);
        } else {
          const plain = Buffer.from(text, 'base64url');
          expect(plain.toString('base64url')).toBe(text);
          // Leading zeros aside, which no page ever writes.
          expect(plain.toString().replace(/^0+(?=\d)/, '')).toBe(`${decoded.createdAt}.${decoded.id}`);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    '',
    '1.x',
    '.',
    '-1.645a183f-b12b-4c6e-8ad3-99e165603450',
    '1.645A183F-B12B-4C6E-8AD3-99E165603450',
    '1e3.645a183f-b12b-4c6e-8ad3-99e165603450',
  ])('refuse %j', (plain) => {
    expect(decodeCursor(Buffer.from(plain).toString('base64url'))).toBeUndefined();
    expect(decodeCursor(plain)).toBeUndefined();
  });
});
