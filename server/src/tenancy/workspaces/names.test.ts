import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldForSearch, nameIdentity } from './names.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('e', 'é', 'e\u0301', '\u0301', 'ﬁ', 'f', 'i', 'I', 'İ', 'ı', 'K', '\u212a', 'ß', 'ẞ'),
  }),
);

/** Letters whose case is not a matter of one to one, beside some that are easy. None of them joins its neighbors. */
const letters = fc.array(
  fc.constantFrom(
    'a',
    'Z',
    'ß',
    'ẞ',
    'ſ',
    's',
    'SS',
    'σ',
    'ς',
    'Σ',
    'İ',
    'i',
    'I',
    'K',
    '\u212a',
    'é',
    'E\u0301',
    'Ǆ',
    'ǅ',
    'ǆ',
    'ﬁ',
    'ŉ',
    'ΐ',
    'ᾳ',
    'Ж',
    'ж',
    '𐐀',
    '𐐨',
    'Ა',
    'ა',
    '%',
    '_',
    ' ',
    '7',
  ),
  { maxLength: 8 },
);
const spelled = fc
  .tuple(letters, letters, letters)
  .map((parts) => parts.map((part) => part.join('')) as [string, string, string]);
const recased = (part: string) => [part, part.toUpperCase(), part.toLowerCase()];

describe('nameIdentity', () => {
  it('is equality after NFC', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(nameIdentity(a) === nameIdentity(b)).toBe(a.normalize('NFC') === b.normalize('NFC'));
      }),
    );
  });

  it('is the same for every canonical form of a name', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(nameIdentity(name.normalize('NFD'))).toBe(nameIdentity(name));
        expect(nameIdentity(nameIdentity(name))).toBe(nameIdentity(name));
      }),
    );
  });

  it.each([
    ['a', 'A'],
    ['ﬁ', 'fi'],
    ['²', '2'],
    ['Ａ', 'A'],
    ['ß', 'ss'],
    [' a', 'a'],
  ])('keeps %j and %j apart', (a, b) => {
    expect(nameIdentity(a)).not.toBe(nameIdentity(b));
  });
});

describe('foldForSearch', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(foldForSearch(foldForSearch(name))).toBe(foldForSearch(name));
      }),
    );
  });

  it('does not care about case, for any character of Unicode', () => {
    const differing: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code === 0xd800) code = 0xe000;
      const character = String.fromCodePoint(code);
      const folded = foldForSearch(character);
      const same = [folded, character.toUpperCase(), character.toLowerCase()].every(
        (one) => one === character || foldForSearch(one) === folded,
      );
      if (!same) differing.push(`${character} U+${code.toString(16)}`);
    }
    expect(differing).toEqual([]);
  });

  it('does not care about canonical form', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(foldForSearch(name.normalize('NFD'))).toBe(foldForSearch(name.normalize('NFC')));
      }),
    );
  });

  it('keeps what a name contains, whatever the case of name and part', () => {
    fc.assert(
      fc.property(spelled, ([before, part, after]) => {
        for (const name of recased(before + part + after)) {
          for (const wanted of recased(part)) expect(foldForSearch(name)).toContain(foldForSearch(wanted));
        }
      }),
    );
  });

  it('keeps apart what differs in more than case', () => {
    for (const [a, b] of [
      ['a', 'ä'],
      ['o', 'ø'],
      ['ﬁ', 'f'],
      ['²', '2'],
      ['%', ''],
    ] as const) {
      expect(foldForSearch(a)).not.toBe(foldForSearch(b));
    }
  });
});
