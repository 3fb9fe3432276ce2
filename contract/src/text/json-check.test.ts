import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { endOfJson, endOfNumber, endOfObject } from './json-check.ts';

/** Whether the text is one object and nothing more. */
function isObjectText(text: string): boolean {
  const bytes = Buffer.from(`${text}\n`);
  return endOfObject(bytes, 0) === bytes.length - 1;
}

function parserSaysSo(text: string): boolean {
  try {
    return text.startsWith('{') && text.endsWith('}') && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

describe('an object is valid', () => {
  test('exactly when a parser takes it, whatever was done to its text', () => {
    const piece = fc.constantFrom(
      ...['"', '\\', ',', ':', '{', '}', '[', ']', '-', '+', '.', '0', '1', '01', 'e', 'E5', 'NaN', 'Infinity', 'null'],
      ...['true', 'fals', '\\u00e', '\\u00e9', '\\x', '\t', ' ', '\u0001', '\u007f', 'é', '\ufeff', '/', "'", '\r'],
    );
    const edit = fc.record({ at: fc.nat(), length: fc.nat(3), piece: fc.oneof(piece, fc.constant('')) });
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.constantFrom(undefined, '\t'),
        fc.array(edit, { maxLength: 3 }),
        (object, indent, edits) => {
          let text = JSON.stringify(object, null, indent).replaceAll('\n', '\r');
          for (const { at, length, piece: added } of edits) {
            const place = at % (text.length + 1);
            text = text.slice(0, place) + added + text.slice(place + length);
          }
          expect([text, isObjectText(text)]).toEqual([text, parserSaysSo(text)]);
        },
      ),
      { numRuns: isLongRun ? 5_000 : 500 },
    );
  });

  test.each([
    ['{"a":1e400,"b":-0.0E+12,"c":12345678901234567890}', true],
    ['{"a":01}', false],
    ['{"a":1.}', false],
    ['{"a":-}', false],
    ['{"a":1e}', false],
    ['{"a":NaN}', false],
    ['{"a":-Infinity}', false],
    ['{"a":1,}', false],
    ['{"a":[1,]}', false],
    ['{"a":"\\ud800\\/"}', true],
    ['{"a":"\\u12g4"}', false],
    ["{'a':1}", false],
    ['{"a":nul}', false],
    ['{}{}', false],
    ['{"a":"b', false],
  ])('%s: %s', (text, isValid) => {
    expect(isObjectText(text)).toBe(isValid);
    expect(parserSaysSo(text)).toBe(isValid);
  });

  test('and not when it is nested too deeply to decide', () => {
    expect(isObjectText(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).toBe(true);
    expect(isObjectText(`{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`)).toBe(false);
  });
});

const isValueText = (text: string) => endOfJson(Buffer.from(`${text}\n`), 0) === Buffer.byteLength(text);
const isNumberText = (text: string) => endOfNumber(Buffer.from(`${text}\n`), 0) === Buffer.byteLength(text);

describe('a value is valid', () => {
  test.each([
    [' {"a": [1, true]}\t', true],
    ['null ', true],
    [' "a"', true],
    ['-1.5e3', true],
    ['', false],
    [' ', false],
    ['1 2', false],
    ['"a', false],
    ['nulll', false],
  ])('with the spaces around it, %j: %s', (text, isValid) => {
    expect(isValueText(text)).toBe(isValid);
  });

  test.each([
    ['0', true],
    ['-0', true],
    ['12345678901234567890.50', true],
    ['1e-07', true],
    ['1E+300', true],
    ['', false],
    ['-', false],
    ['01', false],
    ['1.', false],
    ['.5', false],
    ['1e', false],
    ['NaN', false],
    [' 1', false],
    ['1 ', false],
  ])('as a number, %j: %s', (text, isValid) => {
    expect(isNumberText(text)).toBe(isValid);
  });
});
