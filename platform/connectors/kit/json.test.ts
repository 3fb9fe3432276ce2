import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, valueAt } from './json.ts';

describe('reading JSON', () => {
  test('keeps integers that a number cannot hold as text, and leaves everything else alone', () => {
    const text = `{
      "safe": 9007199254740991, "negative": -9007199254740991, "big": 9007199254740993, "bigger": [-123456789012345678901],
      "decimal": 1234567890123456.5, "fraction": 0.12345678901234567890, "power": 1e0000000000000000001,
      "text": "9007199254740993", "quoted": "\\"9007199254740993, \\\\", "9007199254740993": 9007199254740993}`;
    expect(parseJson(text)).toEqual({
      safe: 9007199254740991,
      negative: -9007199254740991,
      big: '9007199254740993',
      bigger: ['-123456789012345678901'],
      decimal: 1234567890123456.5,
      fraction: 0.12345678901234568,
      power: 10,
      text: '9007199254740993',
      quoted: '"9007199254740993, \\',
      '9007199254740993': '9007199254740993',
    });
  });

  test('reads what the language itself writes just as the language does', () => {
    const numeric = fc.oneof(
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
      fc.maxSafeInteger(),
      fc.stringMatching(/^-?\d{15,20}$/),
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(numeric, fc.string(), fc.boolean(), fc.constant(null), fc.array(tie('node')), tie('object')),
      object: fc.dictionary(fc.string(), tie('node')),
    })).node;
    fc.assert(
      fc.property(value, (any) => {
        const text = JSON.stringify(any);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('copes with very long strings', () => {
    const long = 'x'.repeat(20_000_000);
    expect(parseJson(`{"a":"${long}","b":9007199254740993}`)).toEqual({ a: long, b: '9007199254740993' });
  });
});

describe('a path', () => {
  const value = { data: { items: [{ id: 1 }, { id: 2 }], none: null } };

  test.each([
    ['', value],
    ['data.items', value.data.items],
    ['data.items.1.id', 2],
    ['data.none', null],
    ['data.none.more', undefined],
    ['data.other', undefined],
    ['data.items.length.more', undefined],
    ['constructor', undefined],
    ['data..items', undefined],
  ])('%j leads to %j', (path, found) => {
    expect(valueAt(value, path)).toEqual(found);
  });
});
