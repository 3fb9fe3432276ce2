import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../scripts/long-run.ts';
import { canonicalSignedNumber, numberTexts } from '../test/number-texts.ts';
import { ExactNumber, markExactNumbers, parseJson, stringifyJson, survivesDouble, valueAt } from './json.ts';

const exact = (text: string) => new ExactNumber(text);

const numberText = numberTexts();

describe('reading JSON', () => {
  test('keeps numbers that a double does not hold in their digits, and leaves everything else alone', () => {
    const text = `{
      "safe": 9007199254740991, "negative": -9007199254740991, "big": 9007199254740993, "bigger": [-123456789012345678901],
      "decimal": 1234567890123456.5, "fraction": 0.12345678901234567890, "power": 1e0000000000000000001, "huge": 1e400,
      "tiny": 1e-400, "zero": -0, "text": "9007199254740993", "quoted": "\\"9007199254740993, \\\\",
      "9007199254740993": 9007199254740993, "__proto__": 1e400}`;
    const value = parseJson(text) as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['safe', 9007199254740991],
      ['negative', -9007199254740991],
      ['big', exact('9007199254740993')],
      ['bigger', [exact('-123456789012345678901')]],
      ['decimal', 1234567890123456.5],
      ['fraction', exact('0.12345678901234567890')],
      ['power', 10],
      ['huge', exact('1e400')],
      ['tiny', exact('1e-400')],
      ['zero', exact('-0')],
      ['text', '9007199254740993'],
      ['quoted', '"9007199254740993, \\'],
      ['9007199254740993', exact('9007199254740993')],
      ['__proto__', exact('1e400')],
    ]);
    expect(parseJson('9007199254740993')).toEqual(exact('9007199254740993'));
    expect(parseJson(' [-0]')).toEqual([exact('-0')]);
    for (const text of ['-0', ' -0', '\n-0 ']) expect(parseJson(text)).toEqual(exact('-0'));
    expect(parseJson('{"a":-0,"b":\t-0}')).toEqual({ a: exact('-0'), b: exact('-0') });
  });

  test.each([
    ['0.1', true],
    ['1.0', true],
    ['1e2', true],
    ['1E+2', true],
    ['100000000000000000000', true],
    ['1.7976931348623157e308', true],
    ['5e-324', true],
    ['0e999999999999999999999', true],
    ['0.30000000000000004', true],
    ['4.9e-324', false],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['1e400', false],
    ['1e-400', false],
    ['1e99999999999999999999999', false],
    ['0.1000000000000000055511151231257827', false],
    ['-0', false],
    ['-0.0', false],
    ['-0e5', false],
  ])('%s survives a double: %s', (text, survives) => {
    expect(survivesDouble(text)).toBe(survives);
    expect(parseJson(`[${text}]`)).toEqual([survives ? Number(text) : exact(text)]);
  });

  test('and writing it again gives the same number, however many digits it has', () => {
    fc.assert(
      fc.property(fc.array(numberText), (numbers) => {
        const written = stringifyJson(parseJson(`{"a":[${numbers.join(', ')}]}`));
        const found = written.slice('{"a":['.length, -']}'.length).split(',');
        expect(found.map(canonicalSignedNumber)).toEqual(
          numbers.length === 0 ? [''].map(canonicalSignedNumber) : numbers.map(canonicalSignedNumber),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('reads what the language itself writes just as the language does', () => {
    const numeric = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.maxSafeInteger(),
      fc.stringMatching(/^-?\d{15,20}$/),
      fc.stringMatching(/^[\\",:[\] -]{0,5}-?\d{1,20}[eE."\\]?-?\d{0,4}$/),
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(numeric, fc.string(), fc.boolean(), fc.constant(null), fc.array(tie('node')), tie('object')),
      object: fc.dictionary(fc.string(), tie('node')),
    })).node;
    fc.assert(
      fc.property(value, (any) => {
        const text = JSON.stringify(any);
        expect(parseJson(text)).toEqual(JSON.parse(text));
        expect(stringifyJson(any)).toBe(text);
      }),
    );
  });

  test.each(['1e400x', '[01e400]', '[1e400.5]', '{"a":1e400', '1e400"a"', '[-9007199254740993-]', '"1e400', ''])(
    'refuses %j as JSON.parse does',
    (text) => {
      const refusal = (read: (text: string) => unknown) => {
        try {
          return read(text);
        } catch (error) {
          return error;
        }
      };
      expect(refusal(parseJson)).toEqual(refusal(JSON.parse));
      expect(refusal(parseJson)).toBeInstanceOf(SyntaxError);
    },
  );

  test('copes with very long strings and very deep values', () => {
    const long = 'x'.repeat(20_000_000);
    expect(parseJson(`{"a":"${long}","b":9007199254740993}`)).toEqual({ a: long, b: exact('9007199254740993') });
    const depth = 100_000;
    let value = parseJson(`${'['.repeat(depth)}1e400${']'.repeat(depth)}`);
    for (let level = 0; level < depth; level++) value = (value as unknown[])[0];
    expect(value).toEqual(exact('1e400'));
  });

  const lengths = isLongRun ? [200_000, 2_000_000] : [200_000];
  test.each(lengths)('looks at each of %i hostile characters a few times at the most', (length) => {
    const filled = (piece: string) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
    const hostile = ['"', '\\"', '"\\', '\\', '1', '1e', '-', '-0', '[', '"1234567890123456', '"a', '":'].map(filled);
    for (const text of [...hostile, ...hostile.map((text) => `9007199254740993,"${text}`)]) {
      expect(() => markExactNumbers(new CountedText(text))).not.toThrow();
    }
  });
});

/** Counts the characters that are looked at, and fails at once when they are too many. */
class CountedText {
  #looks = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.#look(1);
    return this.#text.charCodeAt(at);
  }

  indexOf(found: string, from = 0): number {
    const at = this.#text.indexOf(found, from);
    this.#look((at === -1 ? this.length : at + found.length) - from);
    return at;
  }

  slice(start = 0, end = this.length): string {
    this.#look(end - start);
    return this.#text.slice(start, end);
  }

  #look(characters: number): void {
    this.#looks += characters;
    if (this.#looks >= 4 * this.length) throw new Error(`${this.#looks} looks at ${this.length} characters`);
  }
}

describe('writing JSON', () => {
  test('puts exact numbers where they are, whatever is around them', () => {
    const value = {
      b: [exact('1e400'), 'x'],
      a: { '"': exact('-0') },
      '1': exact('12345678901234567890'),
      c: undefined,
    };
    expect(stringifyJson(value)).toBe('{"1":12345678901234567890,"b":[1e400,"x"],"a":{"\\"":-0}}');
    expect(stringifyJson(exact('1e400'))).toBe('1e400');
  });

  test('by the language itself gives their digits as text', () => {
    stringifyJson([exact('1e400')]);
    expect(JSON.stringify([exact('1e400')])).toBe('["1e400"]');
  });
});

describe('a path', () => {
  const value = { data: { items: [{ id: 1 }, { id: 2 }], none: null, exact: exact('1e400') } };

  test.each([
    ['', value],
    ['data.items', value.data.items],
    ['data.items.1.id', 2],
    ['data.none', null],
    ['data.none.more', undefined],
    ['data.other', undefined],
    ['data.items.length.more', undefined],
    ['data.exact.text', undefined],
    ['constructor', undefined],
    ['data..items', undefined],
  ])('%j leads to %j', (path, found) => {
    expect(valueAt(value, path)).toEqual(found);
  });
});
