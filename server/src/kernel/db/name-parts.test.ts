import { describe, expect, it } from 'vitest';
import { slotOf, tsqueryOf, wordsOfName, wordsToMatch } from './name-parts.ts';

const organizationId = '01234567-89ab-4def-8123-456789abcdef';
const words = (text: string) => wordsToMatch({ organizationId, text });
const tsquery = (text: string) => tsqueryOf({ organizationId, text });

describe('The parts of a name', () => {
  it('are its runs of one, two and three characters', () => {
    expect(wordsOfName('abc').trim().split(' ')).toEqual(['61', '6162', '616263', '62', '6263', '63']);
    expect(wordsOfName('\u{1f600}a').trim().split(' ')).toEqual(['f09f9880', 'f09f988061', '61']);
    expect(wordsOfName('')).toBe('');
  });

  it('to be found are those of three, or the whole text if it is shorter', () => {
    expect(words('a')).toBe('61 AND o01234567');
    expect(words('ab')).toBe('6162 AND o01234567');
    expect(words('abcab')).toBe('616263 AND 626361 AND 636162 AND o01234567');
    expect(tsquery('ab')).toBe("'ab':* & o01234567");
    expect(tsquery('abcd')).toBe("'abc' & 'bcd' & o01234567");
  });

  it('to be found in a long text are a few, from its beginning to its end', () => {
    const text = Array.from({ length: 200 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    const parts = tsquery(text).split(' & ').slice(0, -1);
    expect(parts).toHaveLength(12);
    expect(parts[0]).toBe(`'${text.slice(0, 3)}'`);
    expect(parts.at(-1)).toBe(`'${text.slice(-3)}'`);
  });

  it('are quoted where they mean something to the database', () => {
    expect(tsquery("'\\")).toBe("'''\\\\':* & o01234567");
  });
});

describe('A search', () => {
  it('for a status looks for its word, too', () => {
    expect(wordsToMatch({ organizationId, text: 'a', status: 'inactive' })).toBe('61 AND o01234567 AND inactive');
  });
});

describe('The slot of a workspace', () => {
  it('comes in the order of the list: by time, then by id', () => {
    const slots = [
      { createdAt: 1_700_000_000_000, id: '000fffff-0000-4000-8000-000000000000' },
      { createdAt: 1_700_000_000_000, id: 'fff00000-0000-4000-8000-000000000000' },
      { createdAt: 1_700_000_000_001, id: '00000000-0000-4000-8000-000000000000' },
    ].map(slotOf);
    expect(slots).toEqual(slots.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(slots).size).toBe(3);
  });

  it('exists for any cursor', () => {
    expect(slotOf({ createdAt: 999_999_999_999_999, id: 'ffffffff-ffff-4fff-bfff-ffffffffffff' })).toBeLessThan(
      2n ** 63n,
    );
  });
});
