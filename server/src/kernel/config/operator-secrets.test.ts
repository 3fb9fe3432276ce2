import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashOf, isPlausible, newOperatorSecret } from './operator-secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('operator secrets', () => {
  it('are the prefix, 43 random characters and 6 of a checksum, all base62', () => {
    for (let made = 0; made < 200; made++) {
      const secret = newOperatorSecret();
      expect(secret).toMatch(/^inlay_op_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
      expect(isPlausible(secret)).toBe(true);
    }
  });

  it('are different each time and use the whole alphabet', () => {
    const secrets = Array.from({ length: 500 }, newOperatorSecret);
    expect(new Set(secrets).size).toBe(500);
    const used = new Set(secrets.flatMap((secret) => [...secret.slice('inlay_op_'.length, -6)]));
    expect([...used].toSorted()).toEqual([...alphabet].toSorted());
  });

  it('are refused when any single character is changed', () => {
    const secret = newOperatorSecret();
    for (let place = 'inlay_op_'.length; place < secret.length; place++) {
      for (const character of alphabet) {
        if (character === secret[place]) continue;
        expect(isPlausible(secret.slice(0, place) + character + secret.slice(place + 1))).toBe(false);
      }
    }
  });

  it('are refused when cut off, prolonged, or when two neighbors change places', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 56 }), fc.constantFrom(...alphabet), (place, character) => {
        const secret = newOperatorSecret();
        expect(isPlausible(secret.slice(0, place))).toBe(false);
        expect(isPlausible(secret + character)).toBe(false);
        const [a = '', b = ''] = [secret[place], secret[place + 1]];
        if (a !== b) expect(isPlausible(secret.slice(0, place) + b + a + secret.slice(place + 2))).toBe(false);
      }),
    );
  });

  it('are refused with characters beyond base62', () => {
    for (const character of ['-', '_', '+', ' ', 'é', '\n']) {
      const secret = newOperatorSecret();
      expect(isPlausible(`${secret.slice(0, 20)}${character}${secret.slice(21)}`)).toBe(false);
      expect(isPlausible(secret + character)).toBe(false);
    }
  });

  it('that the operator chose are not judged by a checksum', () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        fc.pre(!token.startsWith('inlay_op_'));
        expect(isPlausible(token)).toBe(true);
      }),
    );
  });

  it('are stored as their SHA-256', () => {
    expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
