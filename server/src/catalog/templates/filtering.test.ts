import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSelected, judge } from './filtering.ts';

const tag = fc.constantFrom('a', 'b', 'c', 'd');
const tags = fc.array(tag, { maxLength: 4 });

describe('A set of tags', () => {
  it('selects everything when it is empty, in either mode', () => {
    for (const mode of ['any', 'all'] as const) {
      expect(isSelected([], { tags: [], mode })).toBe(true);
      expect(isSelected(['a'], { tags: [], mode })).toBe(true);
    }
  });

  it('selects in mode any what has at least one of them, in mode all what has every one', () => {
    fc.assert(
      fc.property(tags, fc.array(tag, { minLength: 1, maxLength: 4 }), (had, selected) => {
        expect(isSelected(had, { tags: selected, mode: 'any' })).toBe(selected.some((name) => had.includes(name)));
        expect(isSelected(had, { tags: selected, mode: 'all' })).toBe(selected.every((name) => had.includes(name)));
      }),
    );
  });

  it('tells which of them match and which do not, each once', () => {
    expect(judge(['a', 'x'], { tags: ['b', 'a', 'b'], mode: 'all' })).toEqual({
      shown: false,
      rule: 'Hidden: it lacks 1 of 2 selected tags, and mode all asks for every one.',
      matchingTags: ['a'],
      missingTags: ['b'],
    });
  });

  it.each([
    [[], [], 'any', 'Shown: no tags are selected, so every template is.'],
    [['a'], ['a', 'b'], 'any', 'Shown: it has at least one of the selected tags, which is enough in mode any.'],
    [['c'], ['a', 'b'], 'any', 'Hidden: it has none of the selected tags, and mode any asks for at least one.'],
    [['a', 'b'], ['a', 'b'], 'all', 'Shown: it has every selected tag, as mode all asks for.'],
  ] as const)('%j with %j in mode %s: %s', (had, selected, mode, rule) => {
    expect(judge(had, { tags: selected, mode }).rule).toBe(rule);
  });

  it('compares them in NFC and with case', () => {
    expect(isSelected(['caf\u00e9'], { tags: ['cafe\u0301'], mode: 'all' })).toBe(true);
    expect(isSelected(['CRM'], { tags: ['crm'], mode: 'any' })).toBe(false);
  });
});
