/*
 * Once a column is widened, a value that is sent again meets the value that was sent before: under one spelling, and
 * therefore under one key.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { parseJson } from '@inlay/protocol/json';
import type { Stream } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { columnSchemas, dateTime } from '../../test/column-schemas.ts';
import { configure, createDatabase, input, type TestDatabase, write, writeAndReport } from '../../test/postgres.ts';

function streamOf(properties: Record<string, JsonSchema>, name = 't'): Stream {
  return { name, supported_sync_modes: ['full_refresh'], json_schema: { type: 'object', properties } };
}

/** Each record is given as JSON text, as sources send it. */
async function sync({ config }: TestDatabase, stream: Stream, lines: string[]): Promise<void> {
  const configured = configure(stream, { destination_sync_mode: 'append_dedup', primary_key: [['k']] });
  const records = lines.map((line) => parseJson(line) as Record<string, unknown>);
  await write(config, [configured], input(stream, records));
}

const timestamptz = { ...dateTime, airbyte_type: 'timestamp_with_timezone' };
const timestamp = { ...dateTime, airbyte_type: 'timestamp_without_timezone' };
const time = { type: 'string', format: 'time' };
const timetz = { ...time, airbyte_type: 'time_with_timezone' };
const numeric = { type: 'string', airbyte_type: 'big_number' };
const bytes = { type: 'string', contentEncoding: 'base64' };

/** Ways to send one value that one column type takes, a value for which the column has to be wider, and what remains. */
const cases: [JsonSchema, string[], string, string][] = [
  [
    timestamptz,
    ['"2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00.000Z"', '"2024-01-01T02:00:00+02:00"', '"2024-01-01 00:00"'],
    '"n/a"',
    '2024-01-01T00:00:00Z',
  ],
  [timestamptz, ['"2024-01-01T00:00:00.500Z"', '"2024-01-01T00:00:00.5Z"'], '"2024-01-01"', '2024-01-01T00:00:00.5Z'],
  [timestamptz, ['"2023-12-31T24:00:00-15:59"'], '{"a":1}', '"2024-01-01T15:59:00Z"'],
  [timestamptz, ['"0044-03-15T12:00:00Z BC"'], '"n/a"', '0044-03-15T12:00:00Z BC'],
  [timestamptz, ['"12345-01-01T00:00:00+01"'], '"n/a"', '12344-12-31T23:00:00Z'],
  [timestamptz, ['"infinity"'], '"n/a"', 'infinity'],
  [timestamp, ['"2024-01-01T00:00:00"', '"2024-01-01 00:00:00.0"'], '"n/a"', '2024-01-01T00:00:00'],
  [timestamp, ['"2024-01-01T00:00:00"'], '"2024-01-02T00:00:00Z"', '2024-01-01 00:00:00+00'],
  [{ type: 'string', format: 'date' }, ['"2024-01-01"', '"02024-01-01"'], '"2024-01-01T00:00:00Z"', '2024-01-01'],
  [time, ['"10:00"', '"10:00:00.00"'], '"10:00:00Z"', '10:00:00'],
  [timetz, ['"12:00:00Z"', '"12:00:00+00"', '"12:00-00:00"'], '"noon"', '12:00:00Z'],
  [timetz, ['"12:00:00-02:30"', '"12:00:00.0-0230"'], '"noon"', '12:00:00-02:30'],
  [{ type: 'integer' }, ['1', '1.0', '"1"'], '"one"', '1'],
  [{ type: 'integer' }, ['1', '"1"'], '{"a":1}', '1'],
  [{ type: 'number' }, ['1e-7', '"0.0000001"', '1.0e-07'], '"x"', '1e-7'],
  [{ type: 'number' }, ['1e15', '1000000000000000', '1.0e+15'], '"x"', '1000000000000000'],
  [{ type: 'number' }, ['1.50', '"1.50"', '1.5'], '0.1000000000000000055511151231257827', '1.5'],
  [numeric, ['"1.0"', '"1"', '1', '1.0', '10e-1'], '"x"', '1'],
  [numeric, ['"1e3"', '"1000.00"', '1000'], '"x"', '1000'],
  [numeric, ['"1.5"', '1.5'], '[1]', '1.5'],
  [{ type: 'boolean' }, ['true', '"true"'], '"yes"', 'true'],
  [{ type: 'boolean' }, ['true', '"true"'], '[1]', 'true'],
  [bytes, [`"${Buffer.alloc(60).toString('base64')}"`], '"no base64!"', 'A'.repeat(80)],
];

describe.each(cases)('a key of %j that came as %j', (schema, spellings, wider, text) => {
  it(`is still one key, ${text}, after ${wider} has widened its column`, async () => {
    const database = await createDatabase();
    const stream = streamOf({ k: schema, v: { type: 'integer' } });
    const [first = ''] = spellings;
    await sync(database, stream, [`{"k":${first},"v":0}`, `{"k":${wider},"v":1}`]);
    const again = spellings.map((one, n) => `{"k":${one},"v":${n + 2}}`);
    await sync(database, stream, [...again.slice(0, 1), `{"k":${wider},"v":1}`]);
    for (const line of again) await sync(database, stream, [line]);
    const rows = await database.query<{ k: string; v: number }>('select k::text, v::int from t order by v');
    expect(rows).toHaveLength(2);
    expect(rows[1]).toEqual({ k: text, v: again.length + 1 });
  });
});

it('a key whose declared type becomes text, and then anything, is still the same key', async () => {
  const database = await createDatabase();
  const key = '"2024-01-01T00:00:00.000Z"';
  const schemas: [JsonSchema, string][] = [
    [timestamptz, 'timestamp with time zone'],
    [{ type: 'string' }, 'text'],
    [{}, 'jsonb'],
    [timestamptz, 'jsonb'],
  ];
  for (const [n, [schema, type]] of schemas.entries()) {
    await sync(database, streamOf({ k: schema, v: { type: 'integer' } }), [`{"k":${key},"v":${n}}`]);
    expect(await database.query('select pg_typeof(k)::text as type, v::int from t')).toEqual([{ type, v: n }]);
  }
});

it('a number that a column of text took is the same key when the column becomes jsonb', async () => {
  const database = await createDatabase();
  for (const schema of [{ type: 'string' }, { type: ['string', 'integer'] }]) {
    await sync(database, streamOf({ k: schema, v: { type: 'integer' } }), ['{"k":7,"v":1}', '{"k":"a","v":1}']);
  }
  expect(await database.query('select k::text from t order by 1')).toEqual([{ k: '"7"' }, { k: '"a"' }]);
});

it('a column that was always text keeps every spelling as it was sent', async () => {
  const database = await createDatabase();
  const keys = ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000Z', '1', '1.0', '1e3'];
  const lines = keys.map((key) => `{"k":"${key}","v":1}`);
  for (const schema of [{ type: 'string' }, timestamptz, { type: 'integer' }]) {
    await sync(database, streamOf({ k: schema, v: { type: 'integer' } }), lines);
    expect(await database.query('select k from t order by k')).toEqual([...keys].sort().map((k) => ({ k })));
  }
});

it('a number that is no key keeps the zeros at its end when its column becomes text', async () => {
  const database = await createDatabase();
  const stream = streamOf({ k: { type: 'integer' }, price: numeric });
  await sync(database, stream, ['{"k":1,"price":"1.50"}', '{"k":2,"price":"free"}', '{"k":3,"price":"2.50"}']);
  expect(await database.query('select price from t order by k')).toEqual(
    ['1.50', 'free', '2.50'].map((price) => ({ price })),
  );
});

it('what a column was stands in its comment, behind the comment that someone gave it', async () => {
  const database = await createDatabase();
  const stream = streamOf({ k: timestamptz, v: { type: 'integer' } });
  await sync(database, stream, ['{"k":"2024-01-01T00:00:00Z","v":1}']);
  await database.client.query(`comment on column t.k is 'When it began'`);
  await sync(database, stream, ['{"k":"n/a","v":"many"}']);
  const comments = await database.query(
    `select attname as name, col_description(attrelid, attnum) as text from pg_attribute
     where attrelid = 't'::regclass and attname in ('k', 'v') order by 1`,
  );
  expect(comments).toEqual([
    { name: 'k', text: 'When it began\nWidened by Inlay from timestamp with time zone' },
    { name: 'v', text: 'Widened by Inlay from bigint' },
  ]);
  await sync(database, stream, ['{"k":"2024-01-01T00:00:00.000Z","v":2}']);
  expect(await database.query('select k from t order by k')).toEqual([{ k: '2024-01-01T00:00:00Z' }, { k: 'n/a' }]);
});

describe('a time', () => {
  it.each(['append', 'overwrite', 'append_dedup'] as const)('keeps its zone with %s', async (mode) => {
    const { config, query } = await createDatabase();
    for (const schema of [time, timetz]) {
      await query('drop table if exists t');
      const stream = streamOf({ id: { type: 'integer' }, at: schema });
      const sent = ['10:00:00', '12:00:00Z', '12:00:00+02:00', '11:30:00'];
      const records = sent.map((at, id) => ({ id, at }));
      const configured = configure(stream, { destination_sync_mode: mode, primary_key: [['id']] });
      await write(config, [configured], input(stream, records));
      expect(await query('select at from t order by id')).toEqual(sent.map((at) => ({ at })));
    }
  });
});

it('a date-time with a zone makes a column without zones one with', async () => {
  const { config, query } = await createDatabase();
  const stream = streamOf({ id: { type: 'integer' }, at: timestamp });
  const sent = ['2024-01-01T10:00:00', '2024-01-01T10:00:00Z', '2024-01-01T10:00:00+02:00'];
  for (const [id, at] of sent.entries()) await write(config, [configure(stream)], input(stream, [{ id, at }]));
  expect(await query('select at::text, pg_typeof(at)::text as type from t order by id')).toEqual(
    ['10:00:00+00', '10:00:00+00', '08:00:00+00'].map((clock) => ({
      at: `2024-01-01 ${clock}`,
      type: 'timestamp with time zone',
    })),
  );
});

const runs = isLongRun ? 10 : 1;

/** For each column type, accepted values in any spelling, as JSON text. */
const quote = (text: fc.Arbitrary<string>) => text.map((one) => JSON.stringify(one));
const pad = (number: number, length = 2) => String(number).padStart(length, '0');
const clock = fc
  .tuple(
    fc.nat(23),
    fc.nat(59),
    fc.option(fc.tuple(fc.nat(59), fc.constantFrom('', '.5', '.500', '.000', '.123456', '.1234560000')), { nil: null }),
  )
  .map(([hour, minute, rest]) => `${pad(hour)}:${pad(minute)}${rest ? `:${pad(rest[0])}${rest[1]}` : ''}`);
const day = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1, max: 4712 }), fc.integer({ min: 1, max: 294_275 })),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  )
  .map(([year, month, date]) => `${pad(year, 4)}-${pad(month)}-${pad(date)}`);
const zone = fc.oneof(
  fc.constantFrom('Z', 'z', '+00', '-00:00', '+0000'),
  fc
    .tuple(fc.constantFrom('+', '-'), fc.nat(15), fc.constantFrom('', ':00', ':30', '45', ':59'))
    .map(([sign, hours, minutes]) => `${sign}${pad(hours)}${minutes}`),
);
const era = (text: string, isBefore: boolean) =>
  isBefore && /^\d{4}-/.test(text) && text < '4713' ? `${text} BC` : text;
const moment = fc
  .tuple(day, fc.constantFrom('T', ' ', 't'), fc.oneof(clock, fc.constant('24:00:00')))
  .map((parts) => parts.join(''));
const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.tuple(fc.integer({ min: -1074, max: 1023 }), fc.constantFrom(1, -1)).map(([power, sign]) => sign * 2 ** power),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }).map(Number),
);
const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.maxSafeNat(), fc.constantFrom('', '.0', '.50', '.125', 'e3', 'e-7', '.50E+2'))
  .map((parts) => parts.join(''));
const numberOrText = (text: fc.Arbitrary<string>) => fc.oneof(text, quote(text));
const fitting: Record<string, fc.Arbitrary<string>> = {
  text: quote(fc.oneof(fc.string({ unit: 'grapheme' }), moment, decimal)),
  boolean: fc.constantFrom('true', 'false', '"true"', '"false"'),
  bigint: numberOrText(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  'double precision': fc.oneof(numberOrText(double.map(String)), fc.constantFrom('"NaN"', '"-Infinity"')),
  numeric: fc.oneof(
    // The type has no negative zero: the report says so of each.
    numberOrText(decimal.filter((text) => !text.startsWith('-0'))),
    numberOrText(double.map(String)),
    fc.constantFrom('"NaN"', '".5"', '"1e40"'),
  ),
  date: quote(
    fc.oneof(
      fc.tuple(day, fc.boolean()).map(([text, isBefore]) => era(text, isBefore)),
      fc.constant('infinity'),
    ),
  ),
  'timestamp without time zone': quote(
    fc.oneof(
      fc.tuple(moment, fc.boolean()).map(([text, isBefore]) => era(text, isBefore)),
      fc.constant('-infinity'),
    ),
  ),
  'timestamp with time zone': quote(
    fc
      .tuple(moment, fc.oneof(zone, fc.constant('')), fc.boolean())
      .map(([text, offset, isBefore]) => era(`${text}${offset}`, isBefore)),
  ),
  'time without time zone': quote(fc.oneof(clock, fc.constant('24:00:00'))),
  'time with time zone': quote(fc.tuple(clock, zone).map((parts) => parts.join(''))),
  bytea: quote(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))),
  jsonb: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value ?? 0).replace(/\\u0000|\\ud[89a-f]../g, '')),
};
/** A number with more digits than a double, a text that is nothing else, a list; and a date-time, which is wider than some. */
const wideners = ['0.1000000000000000055511151231257827', '"neither"', '[1]', '"2024-01-01T00:00:00Z"'];

describe('any value of any column type', () => {
  const names = Object.keys(columnSchemas);
  const stream = (name: string) =>
    streamOf({ k: { type: 'integer' }, ...Object.fromEntries(Object.entries(columnSchemas)) }, name);

  it('reads the same whether it came before its column was widened or after, or again', async () => {
    const { config, query } = await createDatabase();
    const row = fc.tuple(...names.map((name) => fitting[name] as fc.Arbitrary<string>));
    const put = async (name: string, ...batches: string[][]) => {
      for (const lines of batches) {
        const configured = configure(stream(name), { destination_sync_mode: 'append_dedup', primary_key: [['k']] });
        const records = lines.map((line) => parseJson(line) as Record<string, unknown>);
        const { reports } = await writeAndReport(config, [configured], input(stream(name), records));
        expect(reports[0]?.values_changed).toEqual([]);
      }
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 20, maxLength: 20 }),
        fc.uniqueArray(fc.constantFrom(...wideners), { minLength: 1, maxLength: 3 }),
        async (rows, widening) => {
          const lines = rows.map(
            (texts, k) => `{"k":${k},${names.map((name, at) => `${JSON.stringify(name)}:${texts[at]}`).join(',')}}`,
          );
          // Columns that fit a widening value are unchanged: that is not a difference.
          const wide = widening.map(
            (one, n) => `{"k":${-1 - n},${names.map((name) => `${JSON.stringify(name)}:${one}`).join(',')}}`,
          );
          for (const name of ['before', 'after', 'again']) await query(`drop table if exists "${name}"`);
          await put('before', lines, wide);
          await put('after', wide, lines);
          await put('again', lines, wide, lines);
          for (const name of names) {
            const found = await query(
              `select x."${name}"::text as before, y."${name}"::text as after, z."${name}"::text as again
               from before x full join after y using (k) full join again z using (k)
               where (x."${name}"::text is distinct from y."${name}"::text
                 or x."${name}"::text is distinct from z."${name}"::text) and k >= 0`,
            );
            expect(found.map((values) => ({ name, ...values }))).toEqual([]);
          }
          expect(await query('select from again')).toHaveLength(rows.length + wide.length);
        },
      ),
      { numRuns: 5 * runs, endOnFailure: true },
    );
  });

  it.each(names.filter((name) => name !== 'jsonb'))('of type %s is one key before and after', async (name) => {
    const { config, query } = await createDatabase();
    const keyed = streamOf({ k: columnSchemas[name] ?? {} });
    const configured = configure(keyed, { destination_sync_mode: 'append_dedup', primary_key: [['k']] });
    const put = (lines: string[]) =>
      write(
        config,
        [configured],
        input(
          keyed,
          lines.map((line) => parseJson(`{"k":${line}}`) as Record<string, unknown>),
        ),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fitting[name] as fc.Arbitrary<string>, { minLength: 30, maxLength: 30 }),
        fc.uniqueArray(fc.constantFrom(...wideners), { minLength: 1, maxLength: 3 }),
        async (values, widening) => {
          await query('drop table if exists t');
          await put(values);
          await put(widening);
          const before = await query('select k::text from t order by 1');
          await put(values);
          expect(await query('select k::text from t order by 1')).toEqual(before);
        },
      ),
      { numRuns: 2 * runs, endOnFailure: true },
    );
  });
});
