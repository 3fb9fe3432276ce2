/* Values that do not fit their column, and fields that have none, are kept. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { DestinationInput } from '@inlay/protocol/connector';
import { parseJson } from '@inlay/protocol/json';
import type { DestinationSyncMode, Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import {
  configure,
  createDatabase,
  input,
  type TestDatabase,
  tryToWrite,
  writeAndReport,
} from '../../test/postgres.ts';

const modes: DestinationSyncMode[] = ['append', 'overwrite', 'append_dedup'];

function streamOf(properties: Record<string, JsonSchema>, more: JsonSchema = {}): Stream {
  return { name: 't', supported_sync_modes: ['full_refresh'], json_schema: { type: 'object', properties, ...more } };
}

const inMode = (stream: Stream, destination_sync_mode: DestinationSyncMode) =>
  configure(stream, {
    destination_sync_mode,
    ...(destination_sync_mode === 'append_dedup' && { primary_key: [['id']] }),
  });

/** As sent by a source, one per line. */
const records = (stream: Stream, ...lines: string[]): DestinationInput[] =>
  input(
    stream,
    lines.map((line) => parseJson(line) as Record<string, unknown>),
  );

async function typeOf({ query }: TestDatabase, column: string): Promise<string | undefined> {
  const [found] = await query<{ type: string }>(
    `select data_type as type from information_schema.columns where table_name = 't' and column_name = $1`,
    [column],
  );
  return found?.type;
}

const id = { type: 'integer' };
const dateTime = { type: 'string', format: 'date-time' };

describe.each(modes)('with %s', (mode) => {
  it('integers beyond 2^53 as keys arrive in their digits, every one of them', async () => {
    const database = await createDatabase();
    const ids = Array.from({ length: 20 }, (_, n) => String(9007199254740993n + BigInt(n)));
    for (const schema of [{ type: 'integer' }, { type: 'integer', airbyte_type: 'big_integer' }]) {
      await database.query('drop table if exists t');
      const stream = streamOf({ id: schema });
      const { reports } = await writeAndReport(
        database.config,
        [inMode(stream, mode)],
        records(stream, ...ids.map((one) => `{"id":${one}}`)),
      );
      expect(await database.query('select id::text from t order by id')).toEqual(ids.map((one) => ({ id: one })));
      expect(reports).toMatchObject([{ records_written: 20, values_changed: [] }]);
    }
  });

  it.each([
    ['an integer, then a longer one', id, ['1', '9223372036854775808'], 'numeric', ['1', '9223372036854775808']],
    ['an integer, then a fraction', id, ['1', '0.5'], 'numeric', ['1', '0.5']],
    ['an integer, then text', id, ['1', '"one"'], 'text', ['1', 'one']],
    ['an integer, then a fraction, then text', id, ['1', '0.5', '"x"'], 'text', ['1', '0.5', 'x']],
    ['an integer, then an object', id, ['1', '{"a":9007199254740993}'], 'jsonb', ['1', '{"a": 9007199254740993}']],
    ['an integer, then a boolean', id, ['1', 'true'], 'text', ['1', 'true']],
    ['an integer, then one with leading zeros', id, ['7', '"007"'], 'text', ['7', '007']],
    ['an integer, then more than numeric holds', id, ['1', '1e200000'], 'text', ['1', '1e200000']],
    ['an integer, then less than numeric holds', id, ['1', '1e-20000'], 'text', ['1', '1e-20000']],
    [
      'a double, then a decimal of many digits',
      { type: 'number' },
      ['0.1', '0.1000000000000000055511151231257827'],
      'numeric',
      ['0.1', '0.1000000000000000055511151231257827'],
    ],
    ['a boolean, then text', { type: 'boolean' }, ['true', '"yes"'], 'text', ['true', 'yes']],
    ['a boolean, then a list', { type: 'boolean' }, ['true', '[1]'], 'jsonb', ['true', '[1]']],
    [
      'a date, then one that is none',
      { type: 'string', format: 'date' },
      ['"2024-02-29"', '"2023-02-29"'],
      'text',
      ['2024-02-29', '2023-02-29'],
    ],
    [
      'a date, then one that is too far away',
      { type: 'string', format: 'date' },
      ['"2024-02-29"', '"9999999-01-01"'],
      'text',
      ['2024-02-29', '9999999-01-01'],
    ],
    [
      'a time, then a finer one',
      { ...dateTime, airbyte_type: 'timestamp_without_timezone' },
      ['"2024-01-01T00:00:00.123456"', '"2024-01-01T00:00:00.123456789"'],
      'text',
      ['2024-01-01T00:00:00.123456', '2024-01-01T00:00:00.123456789'],
    ],
    ['bytes, then text', { type: 'string', contentEncoding: 'base64' }, ['"AP8="', '"AP8"'], 'text', ['AP8=', 'AP8']],
    ['text, then a number', { type: 'string' }, ['"x"', '9007199254740993'], 'text', ['x', '9007199254740993']],
  ] as [string, JsonSchema, string[], string, string[]][])(
    'a column is widened within the sync: %s',
    async (_, schema, values, type, expected) => {
      const database = await createDatabase();
      const stream = streamOf({ id, v: schema });
      const { reports } = await writeAndReport(
        database.config,
        [inMode(stream, mode)],
        records(stream, ...values.map((value, n) => `{"id":${n},"v":${value}}`)),
      );
      expect(await typeOf(database, 'v')).toBe(type);
      expect(await database.query('select v::text as v from t order by id')).toEqual(expected.map((v) => ({ v })));
      expect(await database.query('select from t where _inlay_meta is not null')).toEqual([]);
      expect(reports).toEqual([
        {
          stream_descriptor: expect.anything(),
          records_written: values.length,
          records_deleted: 0,
          values_changed: [],
        },
      ]);
    },
  );

  it('a widened column stays so, next to the records of an earlier sync', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id, v: id });
    const sync = (...lines: string[]) =>
      writeAndReport(database.config, [inMode(stream, mode)], records(stream, ...lines));
    await sync('{"id":1,"v":1}');
    await sync('{"id":2,"v":"two"}');
    await sync('{"id":3,"v":3}');
    const kept = mode === 'overwrite' ? ['3'] : ['1', 'two', '3'];
    expect(await database.query('select v from t order by id')).toEqual(kept.map((v) => ({ v })));
  });

  it('a column of the key is widened, and rows stay apart or together by it', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id, v: id });
    const lines = ['{"id":1,"v":1}', '{"id":"a","v":2}', '{"id":1,"v":3}', '{"id":1.5,"v":4}', '{"id":"a","v":5}'];
    await writeAndReport(database.config, [inMode(stream, mode)], records(stream, ...lines));
    expect(await database.query('select id, v::int from t order by v')).toEqual(
      mode === 'append_dedup'
        ? [
            { id: '1', v: 3 },
            { id: '1.5', v: 4 },
            { id: 'a', v: 5 },
          ]
        : ['1', 'a', '1', '1.5', 'a'].map((one, n) => ({ id: one, v: n + 1 })),
    );
  });

  it('numbers and booleans that come as text are understood', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id, number: { type: 'number' }, ok: { type: 'boolean' }, integer: id });
    await writeAndReport(
      database.config,
      [inMode(stream, mode)],
      records(stream, '{"id":"1","number":"1.5","ok":"true","integer":"-7"}'),
    );
    expect(await database.query('select id::int, number, ok, integer::int from t')).toEqual([
      { id: 1, number: 1.5, ok: true, integer: -7 },
    ]);
  });

  it('a field that the schema lacks becomes a column where the schema was inferred, and stays one', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id }, { additionalProperties: true });
    const sync = (...lines: string[]) =>
      writeAndReport(database.config, [inMode(stream, mode)], records(stream, ...lines));
    await sync(
      '{"id":1}',
      '{"id":2,"late":null}',
      '{"id":3,"late":7}',
      '{"id":4,"late":"x","other":{"a":1}}',
      '{"id":5}',
    );
    expect(await database.query('select id::int, late, other from t order by id')).toEqual([
      { id: 1, late: null, other: null },
      { id: 2, late: null, other: null },
      { id: 3, late: '7', other: null },
      { id: 4, late: 'x', other: { a: 1 } },
      { id: 5, late: null, other: null },
    ]);
    const { reports } = await sync('{"id":6,"late":6}');
    expect(reports).toMatchObject([{ values_changed: [] }]);
    expect(await database.query('select late from t where id = 6')).toEqual([{ late: '6' }]);
  });

  it('a field that a declared schema lacks is counted as left out', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id });
    const { reports } = await writeAndReport(
      database.config,
      [inMode(stream, mode)],
      records(stream, '{"id":1}', '{"id":2,"x":1,"y":null}', '{"id":3,"x":2,"z":3}'),
    );
    expect(reports).toEqual([
      {
        stream_descriptor: expect.objectContaining({ name: 't' }),
        records_written: 3,
        records_deleted: 0,
        values_changed: [
          { field: 'x', kind: 'left_out', count: 2, example: 'record 2' },
          { field: 'z', kind: 'left_out', count: 1, example: 'record 3' },
        ],
      },
    ]);
  });

  it('what PostgreSQL cannot store is shortened, and counted', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id, name: { type: 'string' }, doc: {} });
    const { reports } = await writeAndReport(
      database.config,
      [inMode(stream, mode)],
      records(
        stream,
        '{"id":1,"name":"a","doc":[1e999,"\\ud83d\\ude00"]}',
        '{"id":2,"name":"a\\u0000b","doc":[1e999999]}',
        '{"id":3,"name":"a\\ud800","doc":"\\u0000"}',
      ),
    );
    expect(await database.query('select name, doc::text from t order by id')).toEqual([
      { name: 'a', doc: `[1${'0'.repeat(999)}, "😀"]` },
      { name: 'ab', doc: '["1e999999"]' },
      { name: 'a\ufffd', doc: '""' },
    ]);
    expect(reports[0]?.values_changed).toEqual([
      { field: 'name', kind: 'shortened', count: 2, example: 'record 2' },
      { field: 'doc', kind: 'shortened', count: 2, example: 'record 2' },
    ]);
  });

  it('every value of 1,000 columns of integers, or of text, arrives', async () => {
    const database = await createDatabase();
    const names = Array.from({ length: 1000 }, (_, n) => `c${n}`);
    for (const [schema, value] of [
      [{ type: 'integer' }, (n: number) => `${9007199254740993n + BigInt(n)}`],
      [{ type: 'string', airbyte_type: 'big_integer' }, (n: number) => `"${9007199254740993n + BigInt(n)}"`],
      [{ type: 'string' }, (n: number) => `"${'text '.repeat(10)}${n}"`],
    ] as const) {
      await database.query('drop table if exists t');
      const stream = streamOf({ id, ...Object.fromEntries(names.map((name) => [name, schema])) });
      const line = `{"id":1,${names.map((name, n) => `"${name}":${value(n)}`).join(',')}}`;
      const { reports } = await writeAndReport(database.config, [inMode(stream, mode)], records(stream, line));
      expect(reports).toMatchObject([{ records_written: 1, values_changed: [] }]);
      const texts = Object.fromEntries(names.map((name, n) => [name, value(n).replaceAll('"', '')]));
      const [{ found } = { found: undefined }] = await database.query<{ found: Record<string, string> }>(
        `select jsonb_object_agg(key, value) as found from t,
         jsonb_each_text(to_jsonb(t) - '_inlay_more' || coalesce(_inlay_more, '{}')) where key ~ '^c\\d'`,
      );
      expect(found).toEqual(texts);
    }
  });
});

it('a cursor that becomes text is still compared by value', async () => {
  const database = await createDatabase();
  const stream = streamOf({ id, at: id, name: { type: 'string' } });
  const configured = configure(stream, {
    destination_sync_mode: 'append_dedup',
    primary_key: [['id']],
    cursor_field: ['at'],
  });
  const sync = (...lines: string[]) => writeAndReport(database.config, [configured], records(stream, ...lines));
  await sync('{"id":1,"at":9,"name":"old"}', '{"id":2,"at":9,"name":"old"}');
  await sync('{"id":3,"at":"soon","name":"new"}', '{"id":1,"at":10,"name":"new"}');
  await sync('{"id":2,"at":10,"name":"new"}');
  await sync('{"id":1,"at":9,"name":"old"}', '{"id":2,"at":"9","name":"old"}');
  expect(await database.query('select id::int, name from t order by id')).toEqual(
    [1, 2, 3].map((one) => ({ id: one, name: 'new' })),
  );
});

it('any number of further fields is kept, without a column for each', async () => {
  const database = await createDatabase();
  const stream = streamOf({ id }, { additionalProperties: true });
  const lines = Array.from({ length: 2000 }, (_, n) => `{"id":${n},"f${n}":"${n}","g":{"a":${n}}}`);
  const { reports } = await writeAndReport(database.config, [configure(stream)], records(stream, ...lines));
  expect(reports).toMatchObject([{ records_written: 2000, values_changed: [] }]);
  const [found] = await database.query(
    `select count(*)::int, count(distinct key)::int as fields from t,
     jsonb_each_text(jsonb_strip_nulls(to_jsonb(t)) - '_inlay_more' || coalesce(_inlay_more, '{}'))
     where key = 'f' || id and value = id::text`,
  );
  expect(found).toEqual({ count: 2000, fields: 2000 });
});

describe('a stream that cannot be written', () => {
  const other: Stream = { ...streamOf({ id }), name: 'other' };
  const state = (name: string) => ({
    type: 'STREAM' as const,
    stream: { stream_descriptor: { name }, stream_state: { n: 1 } },
  });

  it('because its table is someone else’s stops no other', async () => {
    const database = await createDatabase();
    await database.query('create table t (id int)');
    const { failure, states, reports } = await tryToWrite(
      database.config,
      [configure(streamOf({ id })), configure(other)],
      [
        ...input(streamOf({ id }), [{ id: 1 }], { state: state('t') }),
        ...input(other, [{ id: 1 }, { id: 2 }], { state: state('other') }),
        { type: 'STATE', state: { type: 'GLOBAL', global: { stream_states: [] } } },
      ],
    );
    expect(failure).toMatchObject({
      failureType: 'config_error',
      message: expect.stringContaining('public.t already exists'),
    });
    expect(states).toEqual([state('other')]);
    expect(reports).toMatchObject([{ stream_descriptor: { name: 'other' }, records_written: 2 }]);
    expect(await database.query('select id::int from other order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('because its column cannot be widened stops no other, and keeps what was there', async () => {
    const database = await createDatabase();
    const stream = streamOf({ id });
    await writeAndReport(database.config, [configure(stream)], input(stream, [{ id: 1 }]));
    await database.query('create view seen as select id from t');
    const { failure, states } = await tryToWrite(
      database.config,
      [configure(stream), configure(other)],
      [
        ...input(stream, [{ id: 2 }, { id: 'x' }], { state: state('t') }),
        ...input(other, [{ id: 1 }], { state: state('other') }),
      ],
    );
    expect(failure).toMatchObject({
      failureType: 'config_error',
      message: expect.stringContaining('stream t could not'),
    });
    expect(states).toEqual([state('other')]);
    expect(await database.query('select id::int from t')).toEqual([{ id: 1 }]);
    expect(await database.query('select id::int from other')).toEqual([{ id: 1 }]);
  });
});

describe('a key within an object', () => {
  it('distinguishes records, and so does a cursor there', async () => {
    const database = await createDatabase();
    const stream = streamOf({ doc: { type: 'object' }, name: { type: 'string' } });
    const configured = configure(stream, {
      destination_sync_mode: 'append_dedup',
      primary_key: [['doc', 'key', "it's"]],
      cursor_field: ['doc', 'at'],
    });
    const line = (key: string, at: number, name: string) => ({ doc: { key: { "it's": key }, at }, name });
    const sync = (...lines: Record<string, unknown>[]) =>
      writeAndReport(database.config, [configured], input(stream, lines));
    await sync(line('a', 2, 'new'), line('a', 1, 'old'), line('b', 1, 'b'));
    await sync(line('a', 1, 'late'), line('b', 10, 'newer'), line('b', 9, 'older'));
    expect(await database.query('select name from t order by name')).toEqual([{ name: 'new' }, { name: 'newer' }]);
  });
});

describe('a record that says its row was deleted', () => {
  const stream = streamOf({ id, at: id, _ab_cdc_deleted_at: { type: ['string', 'null'], format: 'date-time' } });
  const deleted = '2024-01-01T00:00:00Z';
  const sync = (database: TestDatabase, ...lines: Record<string, unknown>[]) =>
    writeAndReport(
      database.config,
      [configure(stream, { destination_sync_mode: 'append_dedup', primary_key: [['id']], cursor_field: ['at'] })],
      input(stream, lines),
    );

  it('removes the row, and is counted', async () => {
    const database = await createDatabase();
    await sync(database, { id: 1, at: 1 }, { id: 2, at: 1 }, { id: 3, at: 1 }, { id: 4, at: 5 });
    const { reports } = await sync(
      database,
      { id: 1, at: 2, _ab_cdc_deleted_at: deleted },
      // Deleted and made again.
      { id: 2, at: 2, _ab_cdc_deleted_at: deleted },
      { id: 2, at: 3, _ab_cdc_deleted_at: null },
      // Older than what is stored.
      { id: 4, at: 4, _ab_cdc_deleted_at: deleted },
      // Never seen.
      { id: 5, at: 1, _ab_cdc_deleted_at: deleted },
    );
    expect(await database.query('select id::int, at::int from t order by id')).toEqual([
      { id: 2, at: 3 },
      { id: 3, at: 1 },
      { id: 4, at: 5 },
    ]);
    expect(reports).toMatchObject([{ records_written: 1, records_deleted: 1 }]);
  });
});
