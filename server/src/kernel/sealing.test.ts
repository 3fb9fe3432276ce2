import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer } from './sealing.ts';

const sealer = createSealer(randomBytes(32));
const secret = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

describe('sealing', () => {
  it('gives back what was sealed, under the same context', () => {
    fc.assert(
      fc.property(secret, fc.string({ unit: 'grapheme' }), (value, context) => {
        expect(sealer.open(sealer.seal(value, context), context).equals(value)).toBe(true);
      }),
    );
  });

  it('hides the value, and never writes it twice in the same way', () => {
    const value = Buffer.from('a secret of some length');
    const [first, second] = [sealer.seal(value, 'c'), sealer.seal(value, 'c')];
    expect(first).not.toBe(second);
    expect(first).not.toContain(value.toString('base64url'));
    expect(first).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
  });

  it('opens nothing that was changed by a single bit', () => {
    fc.assert(
      fc.property(secret, fc.nat(), (value, place) => {
        const [version, keyId, payload = ''] = sealer.seal(value, 'c').split('.');
        const bytes = Buffer.from(payload, 'base64url');
        const bit = place % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => sealer.open([version, keyId, bytes.toString('base64url')].join('.'), 'c')).toThrow();
      }),
    );
  });

  it('opens nothing that was cut off or is not sealed at all', () => {
    const sealed = sealer.seal(Buffer.from('secret'), 'c');
    for (let length = 0; length < sealed.length; length++) {
      expect(() => sealer.open(sealed.slice(0, length), 'c')).toThrow();
    }
    for (const text of ['', 'plain', 'v1..', 'v1.00000000.AAAA']) expect(() => sealer.open(text, 'c')).toThrow();
  });

  it('opens nothing under another context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (context, other) => {
        fc.pre(context !== other);
        const sealed = sealer.seal(Buffer.from('secret'), context);
        expect(() => sealer.open(sealed, other)).toThrow();
      }),
    );
  });

  it('says what to do when the key is another one', () => {
    const sealed = sealer.seal(Buffer.from('secret'), 'c');
    expect(() => createSealer(randomBytes(32)).open(sealed, 'c')).toThrow(/different key.*INLAY_ENCRYPTION_KEY/);
  });

  it('opens what a former key has sealed, and says what is due for the new one', () => {
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const sealed = createSealer(old).seal(Buffer.from('secret'), 'c');
    const both = createSealer(fresh, old);
    expect(both.open(sealed, 'c').toString()).toBe('secret');
    expect(both.isCurrent(sealed)).toBe(false);
    const again = both.seal(both.open(sealed, 'c'), 'c');
    expect(both.isCurrent(again)).toBe(true);
    expect(createSealer(fresh).open(again, 'c').toString()).toBe('secret');
    expect(() => createSealer(old).open(again, 'c')).toThrow('a different key');
  });

  it('opens with the same key in another process', () => {
    const key = randomBytes(32);
    const sealed = createSealer(key).seal(Buffer.from('secret'), 'c');
    expect(createSealer(Buffer.from(key)).open(sealed, 'c').toString()).toBe('secret');
  });
});
