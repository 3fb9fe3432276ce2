/* A block of rows counts as many bytes as the records it stands for: jobs, usage and quotas don't depend on it. */

import { recordHead } from '@inlay/protocol/protocol';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnValue } from './column-values.ts';
import { RecordText } from './record-text.ts';
import { RowMeasure } from './row-measure.ts';

const stream = { name: 'größe', namespace: 'a"b' };

const columnOf = (type: string, name: string) => {
  const columnType = { name: type.replace('[]', ''), isArray: type.endsWith('[]') };
  return { name, type: columnType, ...columnValue(columnType, true) };
};

/** As COPY writes a value. */
function field(text: string | null): string {
  if (text === null) return '\\N';
  const letters = new Map([...'\b\t\n\v\f\r\\'].map((character, index) => [character, 'btnvfr\\'[index]]));
  return text.replace(/[\b\t\n\v\f\r\\]/g, (character) => `\\${letters.get(character)}`);
}

const text = fc.string({ unit: 'binary' }).map((each) => each.toWellFormed().replaceAll('\0', ''));
const json = fc.jsonValue().map((value) => JSON.stringify(value));
const far = ['infinity', '-infinity'];
const values: Record<string, fc.Arbitrary<string>> = {
  int8: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  float8: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }).map(String), fc.constantFrom('-0', '1e-07')),
  numeric: fc.constantFrom('1.50', '-0.00', 'NaN', '-Infinity'),
  bool: fc.constantFrom('t', 'f'),
  date: fc.constantFrom('2024-02-29', '0001-01-01', '10000-01-01', '0044-03-15 BC', ...far),
  timestamp: fc.constantFrom('2024-02-29 12:00:00', '2024-02-29 12:00:00.123456', '12024-02-29 12:00:00', ...far),
  timestamptz: fc.constantFrom(
    '2024-02-29 12:00:00.5+00',
    '12024-02-29 12:00:00+00',
    '0044-03-15 00:00:00+00 BC',
    ...far,
  ),
  time: fc.constantFrom('24:00:00', '01:02:03.5'),
  uuid: fc.uuid(),
  bytea: fc.uint8Array().map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`),
  jsonb: json.filter((each) => each !== 'null'),
  text,
  interval: fc.constant('P1Y2M3DT4H5M6S'),
  'int4[]': fc.array(fc.integer()).map((items) => JSON.stringify(items)),
  'text[]': fc.array(text).map((items) => JSON.stringify(items)),
};
const specials = ['NaN', 'Infinity', '-Infinity'];
const value = fc.constantFrom(...Object.keys(values)).chain((type) => {
  const all = [values[type] as fc.Arbitrary<string>, fc.constant(null)];
  if (type === 'float8') all.push(fc.constantFrom(...specials));
  return fc.tuple(fc.constant(type), fc.oneof(...all));
});
const isFar = (each: string | null) => each !== null && /^\d{5,}-|BC$|^-?infinity$/.test(each);

describe('a measured row', () => {
  test('is as long as the message of its record', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), fc.boolean(), (cells, hasMore) => {
        const columns = cells.map(([type], index) => columnOf(type, `${index}"`));
        const row = cells.map(([, cell]) => field(cell)).join('\t');
        const lines = Buffer.from(`${row}${hasMore ? '\t17\t(0,1)' : ''}\nnext\tline\n`);
        const end = lines.indexOf(10);
        const data = new TextBuffer(16);
        const fieldsAt = new RecordText(columns).add(data, lines, 0, end);
        const measure = RowMeasure.of(stream, columns);
        expect(measure?.add(lines, 0, end)).toBe(fieldsAt);
        const message = `${recordHead(stream)}${Date.now()},"data":${data.take()}}}`;
        expect(measure?.bytes).toBe(Buffer.byteLength(message));
        const dates = cells.filter(([type]) => type === 'date' || type.startsWith('timestamp'));
        expect(measure?.hasFarTimes).toBe(dates.some(([, cell]) => isFar(cell)));
      }),
      { numRuns: 500 },
    );
  });

  test('has as many fields as the server was asked for', () => {
    const measure = RowMeasure.of(stream, [columnOf('int8', 'id'), columnOf('text', 'name')]);
    for (const lines of ['1\n2\tb\n', '1\n']) {
      expect(() => measure?.add(Buffer.from(lines), 0, 1)).toThrow('a row with different fields than requested');
    }
  });

  test.each(['json', 'timetz', 'json[]', 'jsonb[]', 'numeric[]', 'float8[]', 'date[]'])(
    'has no value of the type %s, of which a destination has to see the record',
    (type) => {
      expect(RowMeasure.of(stream, [columnOf('int8', 'id'), columnOf(type, 'other')])).toBeUndefined();
    },
  );
});
