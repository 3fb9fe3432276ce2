import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inferSchema, textFormat } from './inference.ts';

function infer(...records: Record<string, unknown>[]) {
  const inference = inferSchema();
  for (const record of records) inference.add(record);
  return inference.schema();
}

/** The schema of the one field `a`, for these values. */
const field = (...values: unknown[]) => (infer(...values.map((a) => ({ a }))).properties as { a: unknown }).a;

describe('a field', () => {
  test('may always be null', () => {
    expect(field(1)).toEqual({ type: ['null', 'integer'] });
    expect(field(true, null)).toEqual({ type: ['null', 'boolean'] });
    expect(infer({ a: 1 }, { b: 'x' }).properties).toEqual({
      a: { type: ['null', 'integer'] },
      b: { type: ['null', 'string'] },
    });
  });

  test('of which only nulls were seen may be anything', () => {
    expect(field(null, null)).toEqual({});
  });

  test('with integers and decimals has numbers, with other mixtures every type that was seen', () => {
    expect(field(1, 2.5)).toEqual({ type: ['null', 'number'] });
    expect(field(1, 'x', true)).toEqual({ type: ['null', 'boolean', 'integer', 'string'] });
  });

  test('has a format only if all of its texts have it', () => {
    const withZone = { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' };
    expect(field('2024-02-29T10:00:00Z', null, '2024-01-01T00:00:00.123+02:00')).toEqual(withZone);
    expect(field('2024-02-29')).toEqual({ type: ['null', 'string'], format: 'date' });
    const text = { type: ['null', 'string'] };
    expect(field('2024-02-29', 'never')).toEqual(text);
    expect(field('2024-02-29', '2024-02-29T10:00:00Z')).toEqual(text);
    expect(field('2024-02-29T10:00:00Z', '2024-02-29T10:00:00')).toEqual(text);
    expect(field('2024-02-29T10:00:00Z', 5)).toEqual({ type: ['null', 'integer', 'string'] });
  });

  test('is described within lists and objects', () => {
    expect(field([{ x: 1 }, { x: 'a', y: [] }], [])).toEqual({
      type: ['null', 'array'],
      items: {
        type: ['null', 'object'],
        additionalProperties: true,
        properties: { x: { type: ['null', 'integer', 'string'] }, y: { type: ['null', 'array'], items: {} } },
      },
    });
  });

  test('with very many keys is a map without fields, while a record may have many', () => {
    const wide = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, 1]));
    expect(field(wide)).toEqual({ type: ['null', 'object'], additionalProperties: true, properties: {} });
    expect(Object.keys(infer(wide).properties as object)).toHaveLength(600);
  });

  test('nested without end is described to some depth', () => {
    let nested: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) nested = { a: nested };
    expect(JSON.stringify(field(nested)).length).toBeLessThan(1000);
  });
});

describe('a text', () => {
  test.each([
    ['2024-02-29', 'date'],
    ['2023-02-29', 'text'],
    ['2024-13-01', 'text'],
    ['2024-02-29T23:59:59Z', 'timestamp_with_timezone'],
    ['2024-02-29 23:59:59.123456+0530', 'timestamp_with_timezone'],
    ['2024-02-29T23:59:59', 'timestamp_without_timezone'],
    ['2024-02-30T23:59:59', 'text'],
    ['2024-02-29T25:00:00Z', 'text'],
    ['2024-02-29T23:59', 'text'],
    ['20240229', 'text'],
    ['29.02.2024', 'text'],
    ['', 'text'],
  ])('%j is taken for a %s', (text, format) => {
    expect(textFormat(text)).toBe(format);
  });
});

test('a schema accepts every record that it was made from', () => {
  // Otherwise every record has a field toString.
  const ajv = new Ajv({ strict: false, validateFormats: false, ownProperties: true });
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 }), (records) => {
      const validate = ajv.compile(infer(...(records as Record<string, unknown>[])));
      for (const record of records) expect(validate(record)).toBe(true);
    }),
    // Compiling a schema is what takes the time.
    { numRuns: 30 },
  );
});
