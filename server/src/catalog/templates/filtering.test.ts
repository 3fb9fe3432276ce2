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

  it('reports which of them match and which do not, each once', () => {
    expect(judge(['a', 'x'], { tags: ['b', 'a', 'b'], mode: 'all' })).toEqual({
      shown: false,
      rule: 'Hidden: lacks 1 of 2 selected tags (mode all).',
      matchingTags: ['a'],
      missingTags: ['b'],
    });
  });

  it.each([
    [[], [], 'any', 'Shown: no tags are selected, so every template is shown.'],
    [['a'], ['a', 'b'], 'any', 'Shown: has at least one of the selected tags (mode any).'],
    [['c'], ['a', 'b'], 'any', 'Hidden: has none of the selected tags (mode any).'],
    [['a', 'b'], ['a', 'b'], 'all', 'Shown: has all selected tags (mode all).'],
  ] as const)('%j with %j in mode %s: %s', (had, selected, mode, rule) => {
    expect(judge(had, { tags: selected, mode }).rule).toBe(rule);
  });

  it('compares them in NFC and with case', () => {
    expect(isSelected(['caf\u00e9'], { tags: ['cafe\u0301'], mode: 'all' })).toBe(true);
    expect(isSelected(['CRM'], { tags: ['crm'], mode: 'any' })).toBe(false);
  });
});
