/* Every line that COPY sends becomes valid JSON, whatever it contains: the runner relies on that. */

import { TextBuffer } from '@inlay/protocol/text-buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnValue } from './column-values.ts';
import { RecordText } from './record-text.ts';

const typeNames = [
  ...['int4', 'int8', 'numeric', 'float4', 'float8', 'bool', 'date', 'timestamp', 'timestamptz', 'time', 'timetz'],
  ...['uuid', 'json', 'jsonb', 'bytea', 'text', 'inet'],
];
const columnOf = (name: string, isArray = false) => ({ name, ...columnValue({ name, isArray }, true) });

/** The text of the record that the line of these types becomes. */
function recordOf(types: readonly string[], line: string): string {
  const record = new RecordText(types.map((type, index) => ({ ...columnOf(type), name: `"${index}"` })));
  const to = new TextBuffer(16);
  // The lines of a chunk follow one another.
  const lines = Buffer.from(`${line}\nnext\tline\tof\tthe\tchunk\n`);
  record.add(to, lines, 0, lines.indexOf(10));
  return to.take().toString();
}

/** A value as COPY writes it. */
function field(text: string | null): string {
  if (text === null) return '\\N';
  const letters: Record<string, string> = {
    '\b': 'b',
    '\t': 't',
    '\n': 'n',
    '\v': 'v',
    '\f': 'f',
    '\r': 'r',
    '\\': '\\',
  };
  return text.replace(/[\b\t\n\v\f\r\\]/g, (character) => `\\${letters[character]}`);
}

describe('the text of a record', () => {
  it('is valid JSON or there is none, whatever a server sends for a column', () => {
    const odd = fc.constantFrom(
      ...[
        '"',
        '\\',
        '\\\\',
        '\\"',
        '\\N',
        '\\n',
        '\\t',
        '\\b',
        '\\.',
        ',',
        ':',
        '{',
        '}',
        '[',
        ']',
        '-',
        '+',
        '.',
        '0',
        '7',
      ],
      ...[
        '01',
        'e5',
        '1.5',
        '-0',
        'NaN',
        'Infinity',
        'null',
        'true',
        't',
        'f',
        '{"a":1}',
        '[1, 2]',
        '"x"',
        '\u0001',
        'é',
      ],
      ...['\\u00e9', '\\\\u00e9', ' ', '\r', '2024-01-01 00:00:00+00', '\\\\x00ff', '}}', '{"__proto__":{}}'],
    );
    const pieces = fc.array(fc.oneof(odd, fc.string({ unit: 'binary-ascii' })), { maxLength: 6 });
    const sent = pieces.map((parts) => parts.join('').replaceAll('\n', ' '));
    const line = fc.array(fc.tuple(fc.constantFrom(...typeNames), sent), { minLength: 1, maxLength: 5 });
    let made = 0;
    fc.assert(
      fc.property(line, (fields) => {
        const types = fields.map(([type]) => type);
        let text: string;
        try {
          text = recordOf(types, fields.map(([, value]) => value).join('\t'));
        } catch {
          return;
        }
        made++;
        expect(Object.keys(JSON.parse(text))).toEqual(types.map((_, index) => `"${index}"`));
      }),
      { numRuns: 2_000 },
    );
    expect(made).toBeGreaterThan(400);
  });

  it('has each value as its type writes it', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' }), fc.constant('\\N"\b\v'));
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map(String);
    const json = fc
      .tuple(fc.jsonValue(), fc.constantFrom(undefined, ' ', '\t'))
      .map(([value, indent]) => ` ${JSON.stringify(value, null, indent)}\n`);
    const values: Record<string, fc.Arbitrary<string>> = {
      text: text.map((value) => value.replaceAll('\0', '').toWellFormed()),
      int8: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      float8: fc.oneof(number, fc.constantFrom('NaN', 'Infinity', '-Infinity', '1e-07', '-0', '1e+300')),
      bool: fc.constantFrom('t', 'f'),
      json,
      jsonb: json,
      timestamptz: fc.constantFrom('2024-01-01 00:00:00.123456+00', '0044-03-15 00:00:00+00 BC', 'infinity'),
      timestamp: fc.constantFrom('2024-01-01 00:00:00', '0044-03-15 00:00:00 BC', '-infinity'),
    };
    const types = Object.keys(values);
    const row = fc.tuple(...types.map((type) => fc.option(values[type] as fc.Arbitrary<string>, { freq: 8 })));
    fc.assert(
      fc.property(row, (texts) => {
        const record = JSON.parse(recordOf(types, texts.map(field).join('\t')));
        const expected = types.map((type, index) => {
          const value = texts[index] ?? null;
          return [`"${index}"`, value === null ? null : JSON.parse(columnOf(type).toJson(value))];
        });
        expect(record).toEqual(Object.fromEntries(expected));
      }),
      { numRuns: 300 },
    );
  });

  it('has the digits of a number and the text of a document as they came', () => {
    const line = '9223372036854775807\t1.50e-07\t{"a": [1.10, 2] }';
    expect(recordOf(['int8', 'float8', 'json'], line)).toBe(
      '{"\\"0\\"":9223372036854775807,"\\"1\\"":1.50e-07,"\\"2\\"":{"a": [1.10, 2] }}',
    );
  });

  it('has what is not of its column’s type as a string', () => {
    const line = '1,"x":2\t1.\t{"a":NaN}\t2024-01-01 00:00:00"+00';
    expect(JSON.parse(recordOf(['int4', 'float8', 'json', 'timestamptz'], line))).toEqual({
      '"0"': '1,"x":2',
      '"1"': '1.',
      '"2"': '{"a":NaN}',
      '"3"': '2024-01-01T00:00:00"+00',
    });
  });

  it('has a document however deeply it is nested', () => {
    const deep = `${'['.repeat(3_000)}${']'.repeat(3_000)}`;
    expect(recordOf(['json'], deep)).toBe(`{"\\"0\\"":${deep}}`);
  });

  it.each([
    ['fewer fields than there are columns', '1\ta'],
    ['an escape at its end', '1\ta\tb\\'],
  ])('is refused for a line with %s', (_, line) => {
    expect(() => recordOf(['int4', 'text', 'text'], line)).toThrow('different fields than requested');
  });
});
