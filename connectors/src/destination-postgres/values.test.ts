import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { parseJson } from '@inlay/protocol/json';
import type { Stream } from '@inlay/protocol/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalNumber, numberTexts, shortOrLongExponent } from '../../../protocol/test/number-texts.ts';
import { columnSchemas, dateTime } from '../../test/column-schemas.ts';
import { configure, createDatabase, discoverStream, input, read, write, writeAndReport } from '../../test/postgres.ts';

function streamOf(properties: Record<string, JsonSchema>): Stream {
  return { name: 't', supported_sync_modes: ['full_refresh'], json_schema: { type: 'object', properties } };
}

describe('columns', () => {
  it('have the type that holds every value of the schema', async () => {
    const { config, query } = await createDatabase();
    const expected: [string, JsonSchema][] = [
      ...Object.entries(columnSchemas),
      ['numeric', { type: 'integer', airbyte_type: 'big_integer' }],
      ['bigint', { type: 'number', airbyte_type: 'integer' }],
      ['timestamp with time zone', dateTime],
      ['jsonb', { type: 'array' }],
      ['jsonb', { type: ['string', 'integer'] }],
      ['jsonb', { oneOf: [{ type: 'string' }] }],
      ['jsonb', { type: 'object' }],
    ];
    const properties = Object.fromEntries(expected.map(([, schema], index) => [`v${index}`, schema]));
    await write(config, [configure(streamOf(properties))], []);
    const rows = await query<{ type: string }>(
      `select data_type as type from information_schema.columns where table_name = 't' and column_name ~ '^v' order by ordinal_position`,
    );
    expect(rows.map(({ type }) => type)).toEqual(expected.map(([type]) => type));
  });
});

describe('a value that does not fit its column', () => {
  it('loses only the characters that PostgreSQL cannot store', async () => {
    const { config, query } = await createDatabase();
    const stream = streamOf({ name: { type: 'string' }, doc: { type: 'object' } });
    const name = 'a\0b\ud800c \\N \t\r\n\\';
    await write(config, [configure(stream)], input(stream, [{ name, doc: { [name]: [name] } }]));
    const stored = 'ab\ufffdc \\N \t\r\n\\';
    expect(await query('select name, doc, _inlay_meta as meta from t')).toEqual([
      {
        name: stored,
        doc: { [stored]: [stored] },
        meta: {
          changes: ['name', 'doc'].map((field) => ({
            field,
            change: 'TRUNCATED',
            reason: 'DESTINATION_SERIALIZATION_ERROR',
          })),
        },
      },
    ]);
  });

  it('keeps the notes that the source made', async () => {
    const { config, query } = await createDatabase();
    const stream = streamOf({ n: { type: 'integer' } });
    const note = { field: 'n', change: 'NULLED' as const, reason: 'SOURCE_RETRIEVAL_ERROR' };
    await write(
      config,
      [configure(stream)],
      [{ type: 'RECORD', record: { stream: 't', data: {}, emitted_at: 0, meta: { changes: [note] } } }],
    );
    expect(await query('select _inlay_meta as meta from t')).toEqual([{ meta: { changes: [note] } }]);
  });

  it.each([
    [
      'bigint',
      ['9223372036854775807', '-9223372036854775808', 9007199254740991, 9007199254740992, '0', 1e3],
      ['9223372036854775808', 1.5, '1.5', '', '007', '1e3', true, [1]],
    ],
    ['numeric', ['1e5', '.5', '-0.10', 1e300, 'NaN', '-Infinity', '1e5000'], ['1e999999', '0x10', 'abc', '', '1_000']],
    [
      'double precision',
      [
        1e308,
        5e-324,
        'NaN',
        'Infinity',
        '1.5',
        7,
        1e21,
        1e-7,
        '1e-07',
        '1.7976931348623157e308',
        123456789012345680000,
      ],
      ['inf', true, '0.30000000000000001', '1e309', '9007199254740993'],
    ],
    [
      'date',
      ['2024-02-29', '0001-01-01', '0044-03-15 BC', '12345-01-01', 'infinity'],
      ['2023-02-29', '0000-01-01', '2024-13-01', '20240101', 'today', 20240101],
    ],
    [
      'timestamp with time zone',
      [
        '2024-01-01T00:00:00Z',
        '2024-01-01 00:00+05:30',
        '2024-01-01T24:00:00Z',
        '2024-01-01T00:00:00.123456000-0800',
        '2024-01-01T00:00:00',
      ],
      ['2024-01-01', '2024-01-01T25:00:00Z', 'now', '2024-01-01T00:00:00+99:00', '2024-01-01T00:00:00.1234567-0800'],
    ],
    [
      'timestamp without time zone',
      ['2024-01-01T00:00:00', '2024-01-01 00:00'],
      ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00+02:00'],
    ],
    ['time without time zone', ['10:00', '24:00:00'], ['24:00:01', '10:60', '10:00:00+02', '10:00:00Z']],
    ['time with time zone', ['10:00:00+02', '10:00:00-02:30', '10:00:00Z'], ['10:00:00+2', '10:00:00']],
    ['bytea', ['', 'AP8='], ['AP8', 'no base64!']],
    ['boolean', [true, false, 'true', 'false'], ['True', 'yes', 1]],
    ['text', ['', 1, true, {}, [1]], []],
    ['jsonb', [{}, [], 'text', 1, false], []],
  ] as [string, unknown[], unknown[]][])(
    'of type %s is distinguished from a value that does',
    async (type, fitting, unfit) => {
      const { config, query } = await createDatabase();
      const stream = streamOf({ v: columnSchemas[type] ?? {} });
      const put = async (...values: unknown[]) => {
        await query('drop table if exists t');
        const records = values.map((v) => ({ v }));
        await write(config, [configure(stream)], input(stream, records));
        const stored = `select count(v)::int as stored, max(pg_typeof(v)::text) as type from t`;
        return (await query<{ stored: number; type: string }>(stored))[0];
      };
      expect(await put(...fitting)).toEqual({ stored: fitting.length, type });
      for (const value of unfit) {
        const found = await put(fitting[0], value);
        expect({ value, ...found }).not.toMatchObject({ type });
        expect(found?.stored).toBe(2);
      }
    },
  );

  it('never fails a sync, whatever it is', async () => {
    const { config, query } = await createDatabase();
    const stream = streamOf(columnSchemas);
    const digits = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: length });
    const nearDate = fc
      .tuple(
        digits(6),
        digits(2),
        digits(2),
        fc.constantFrom('', 'T', ' '),
        digits(2),
        digits(2),
        digits(2),
        fc.constantFrom('', 'Z', '+00', '-15:59', '+16:00', '.5', '.123456789Z', ' BC'),
      )
      .map(([year, month, day, t, hour, minute, second, end]) => {
        const date = `${year.padStart(4, '0')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
        const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}:${second.padStart(2, '0')}`;
        return t === '' ? `${date}${end}` : `${date}${t}${time}${end}`;
      });
    const nearTime = nearDate.map((text) => text.replace(/^.*[T ]/, ''));
    const nearNumber = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        digits(400),
        fc.constantFrom('', '.'),
        digits(400),
        fc.constantFrom('', 'e', 'E-', 'e+'),
        digits(5),
      )
      .map((parts) => parts.join(''));
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', '\\u0000', '\\.', '\\N', ' ', 'infinity', '-infinity', 'NaN', 'epoch', 'now'),
      nearDate,
      nearTime,
      nearNumber,
      fc.double(),
      fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
      fc.base64String(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 300, maxLength: 300 }), async (values) => {
        const overwrite = configure(stream, { destination_sync_mode: 'overwrite' });
        const records = values.map((v) => Object.fromEntries(Object.keys(columnSchemas).map((name) => [name, v])));
        await write(config, [overwrite], input(stream, JSON.parse(JSON.stringify(records))));
        expect(await query('select count(*)::int from t')).toEqual([{ count: values.length }]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});

const isSameNumber = (sent: string, found: string) => canonicalNumber(sent) === canonicalNumber(found);
/** JavaScript writes a few doubles with other digits than PostgreSQL; the double is the same. */
const isSameDouble = (sent: string, found: string) =>
  isSameNumber(sent, found) || (isSameNumber(sent, String(Number(sent))) && Number(sent) === Number(found));

describe('any number of up to 60 digits and any exponent', () => {
  const numberText = numberTexts(shortOrLongExponent);
  const names = ['bigint', 'double precision', 'numeric', 'text', 'jsonb'];
  const properties = Object.fromEntries(names.map((name) => [name, columnSchemas[name] ?? {}]));

  it.each(['append', 'overwrite', 'append_dedup'] as const)('arrives as the same number with %s', async (mode) => {
    const { config, query } = await createDatabase();
    const stream = streamOf({ id: { type: 'integer' }, ...properties });
    const configured = configure(stream, { destination_sync_mode: mode, primary_key: [['id']] });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(numberText, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)), {
          minLength: 1,
          maxLength: 40,
        }),
        async (numbers) => {
          await query('drop table if exists t');
          const lines = numbers.map((n, id) => `{"id":${id},${names.map((name) => `"${name}":${n}`).join(',')}}`);
          const records = lines.map((line) => parseJson(line) as Record<string, unknown>);
          const { reports } = await writeAndReport(config, [configured], input(stream, records));
          const counted = new Set(reports[0]?.values_changed?.map(({ field }) => field));
          const list = names.map((name) => `trim('"' from "${name}"::text) as "${name}"`).join(', ');
          const rows = await query<Record<string, string>>(`select ${list} from t order by id`);
          for (const name of names) {
            const isSame = name === 'double precision' ? isSameDouble : isSameNumber;
            const texts = rows.map((row) => row[name] ?? '');
            const different = texts.map((found, n) => [numbers[n] as string, found] as const);
            expect({ name, different: different.filter((both) => !isSame(...both)) }).toEqual({ name, different: [] });
          }
          // Digits are kept even there; only in JSON a number beyond numeric becomes a text, and is counted.
          const hasNegativeZero = numbers.some((one) => Object.is(Number(one), -0) && canonicalNumber(one) === '0');
          expect([...counted].every((name) => name === 'jsonb' || hasNegativeZero)).toBe(true);
        },
      ),
      {
        numRuns: 25,
        endOnFailure: true,
        examples: [[['-2208114115.4437e8', '1e400']], [['0.1', '36028797018963964']]],
      },
    );
  });
});

describe('a column of doubles', () => {
  const streamOfDoubles = streamOf({ id: { type: 'integer' }, v: { type: 'number' } });
  const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((pattern) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, pattern);
    return view.getFloat64(0);
  });
  /** Halfway between two doubles, JavaScript and PostgreSQL disagree about the fewest digits. */
  const large = fc.bigInt({ min: 2n ** 54n, max: 2n ** 62n }).map((n) => Number(n - (n % 10n)));
  const powers = Array.from({ length: 2098 }, (_, n) => 2 ** (n - 1074));
  const doubles = fc.oneof(
    bits,
    large,
    fc.constantFrom(...powers, 1e21, 1e-7, 1e22, 123456789012345680000, 220811411544370000, 730047813615096000, -0),
  );

  it('stays one for every double, as JavaScript spells it and as PostgreSQL does, and keeps the sign of zero', async () => {
    const { config, query } = await createDatabase();
    await fc.assert(
      fc.asyncProperty(fc.array(doubles, { minLength: 500, maxLength: 500 }), async (values) => {
        const finite = [...values.filter(Number.isFinite), -0];
        const texts = await query<{ text: string }>(
          `select v::text as text from unnest($1::float8[]) with ordinality as x (v, n) order by x.n`,
          [finite.map((value) => (Object.is(value, -0) ? '-0' : String(value)))],
        );
        const lines = finite.flatMap((value, n) => [
          `{"id":${2 * n},"v":${Object.is(value, -0) ? '-0' : value}}`,
          `{"id":${2 * n + 1},"v":${texts[n]?.text}}`,
        ]);
        await query('drop table if exists t');
        const records = lines.map((line) => parseJson(line) as Record<string, unknown>);
        const { reports } = await writeAndReport(config, [configure(streamOfDoubles)], input(streamOfDoubles, records));
        expect(reports).toMatchObject([{ values_changed: [] }]);
        const rows = await query<{ text: string; type: string }>(
          'select v::text as text, pg_typeof(v)::text as type from t order by id',
        );
        expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['double precision']));
        expect(rows.map(({ text }) => text)).toEqual(texts.flatMap(({ text }) => [text, text]));
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });

  it('gives up the sign of a zero only with a word about it, when its column holds no doubles any more', async () => {
    const { config, query } = await createDatabase();
    const fields = ['integer', 'number', 'decimal', 'document', 'further'];
    const stream: Stream = {
      ...streamOf({
        integer: { type: 'integer' },
        number: { type: 'number' },
        decimal: { type: 'string', airbyte_type: 'big_number' },
        document: {},
      }),
    };
    stream.json_schema = { ...stream.json_schema, additionalProperties: true };
    const line = `{${fields.map((field) => `"${field}":-0`).join(',')}}`;
    const { reports } = await writeAndReport(
      config,
      [configure(stream)],
      input(stream, [parseJson(line) as Record<string, unknown>]),
    );
    expect(await query(`select number::text, further::text, decimal::text, document::text from t`)).toEqual([
      { number: '-0', further: '-0', decimal: '0', document: '0' },
    ]);
    expect(reports[0]?.values_changed?.map(({ field }) => field)).toEqual(['integer', 'decimal', 'document']);
  });

  it('that becomes one of decimals reports how many zeros have lost their sign', async () => {
    const { config, query } = await createDatabase();
    const put = async (...lines: string[]) => {
      const records = lines.map((line) => parseJson(line) as Record<string, unknown>);
      const { reports } = await writeAndReport(config, [configure(streamOfDoubles)], input(streamOfDoubles, records));
      return reports[0]?.values_changed;
    };
    expect(await put('{"id":1,"v":-0}', '{"id":2,"v":-0}', '{"id":3,"v":0}')).toEqual([]);
    expect(await put('{"id":4,"v":-0}', '{"id":5,"v":0.1000000000000000055511151231257827}')).toMatchObject([
      { field: 'v', kind: 'shortened', count: 3 },
    ]);
    expect(await query(`select pg_typeof(v)::text as type from t limit 1`)).toEqual([{ type: 'numeric' }]);
  });
});

describe('values of a PostgreSQL table', () => {
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const elements = (texts: string[]) => `{${texts.map((text) => JSON.stringify(text)).join(',')}}`;
  const text = fc.string({ unit: 'grapheme' });
  const instant = fc.date({ min: new Date('-000100-01-01'), max: new Date('+012345-12-31'), noInvalidDate: true });
  const timestamp = fc.tuple(instant, fc.nat(999_999)).map(([date, microseconds]) => {
    const year = date.getUTCFullYear();
    const rest = date.toISOString().replace(/^[+-]?\d+(-.*)\.\d+Z$/, '$1');
    const number = String(year > 0 ? year : 1 - year).padStart(4, '0');
    return `${number}${rest}.${String(microseconds).padStart(6, '0')}+00${year > 0 ? '' : ' BC'}`;
  });
  const time = fc.nat(86_399_999).map((ms) => new Date(ms).toISOString().slice(11, 23));
  const bigint = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
  const numeric = fc.oneof(
    fc.tuple(fc.bigInt(), fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`),
    fc.constantFrom('NaN', 'Infinity', '-Infinity', '0.00', '1e-20'),
  );
  const float = fc.oneof(
    fc.double({ noNaN: true }).map(String),
    fc.constantFrom('NaN', 'Infinity', '-Infinity', '-0', '220811411544370000', '5e-324', '1.7976931348623157e308'),
  );
  const types: Record<string, fc.Arbitrary<string>> = {
    smallint: fc.integer({ min: -32768, max: 32767 }).map(String),
    integer: fc.integer().map(String),
    bigint,
    numeric,
    real: fc.float({ noNaN: true }).map(String),
    'double precision': float,
    boolean: fc.boolean().map(String),
    text,
    'varchar(1000)': text,
    date: fc.oneof(
      timestamp.map((t) => t.replace(/T\S+/, '')),
      fc.constantFrom('infinity', '-infinity'),
    ),
    timestamp: fc.oneof(
      timestamp.map((t) => t.replace('+00', '')),
      fc.constantFrom('infinity', '-infinity'),
    ),
    timestamptz: fc.oneof(timestamp, fc.constantFrom('infinity', '-infinity')),
    time: fc.oneof(time, fc.constant('24:00:00')),
    timetz: fc
      .tuple(time, fc.integer({ min: -12, max: 14 }))
      .map(([t, zone]) => `${t}${zone < 0 ? '-' : '+'}${Math.abs(zone)}`),
    uuid: fc.uuid(),
    // JSON's null alone is the same as no value.
    jsonb: fc
      .jsonValue({ maxDepth: 3 })
      .map((value) => JSON.stringify(value ?? {}).replace(/\\u0000|\\ud[89a-f]../g, '')),
    bytea: fc.uint8Array().map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`),
    inet: fc.ipV4(),
    interval: fc.tuple(fc.integer({ min: -999, max: 999 }), time).map(([days, t]) => `${days} days ${t}`),
    'bigint[]': fc.array(bigint).map(elements),
    'text[]': fc.array(text).map(elements),
    'numeric[]': fc.array(numeric).map(elements),
  };
  const names = Object.keys(types);
  /** Arrays come back as JSON. */
  const back = (type: string, column: string) => {
    const items = `(select array_agg(item::${type.slice(0, -2)} order by place) from jsonb_array_elements_text(${column}) with ordinality as x (item, place))`;
    return type.endsWith('[]') ? `coalesce(${items}, '{}')` : `${column}::${type}`;
  };

  it('are the same after a way through source and destination', async () => {
    const { client, config, query } = await createDatabase();
    const columns = names.map((type, index) => `v${index} ${type}`).join(', ');
    await client.query(`create table t (id int, ${columns})`);
    const stream = await discoverStream(config, 't');
    const row = fc.tuple(...names.map((name) => types[name] as fc.Arbitrary<string>));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 60, maxLength: 60 }), async (rows) => {
        const values = rows.map(
          (texts, id) => `(${id}, ${texts.map((t) => literal(t.replaceAll('\0', ''))).join(', ')})`,
        );
        await client.query(`truncate t; insert into t values ${values.join(', ')}`);
        const { messages } = await read(config, [configure(stream)]);
        const copied = { ...stream, namespace: 'copy' };
        const records = messages.flatMap((message) => (message.type === 'RECORD' ? [message.record.data] : []));
        await write(config, [configure(copied, { destination_sync_mode: 'overwrite' })], input(copied, records));
        // Zeros of both signs are equal, and their texts are not.
        const compared = (type: string, value: string) => (type === 'double precision' ? `${value}::text` : value);
        const different = names.map(
          (type, index) =>
            `${compared(type, `t.v${index}`)} is distinct from ${compared(type, back(type, `copied.v${index}`))}`,
        );
        expect(
          await query(`select from copy.t where pg_typeof(v${names.indexOf('double precision')}) <> 'float8'::regtype`),
        ).toEqual([]);
        const notes = await query(`select _inlay_meta from copy.t where _inlay_meta is not null`);
        expect(notes).toEqual([]);
        for (const [index, condition] of different.entries()) {
          const found = await query(
            `select t.v${index}::text as before, copied.v${index}::text as after
             from t join copy.t as copied using (id) where ${condition}`,
          );
          expect(found.map((values) => ({ type: names[index], ...values }))).toEqual([]);
        }
        expect(await query('select count(*)::int from t join copy.t as copied using (id)')).toEqual([
          { count: rows.length },
        ]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});
