import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import { configure, createDatabase, input, type TestDatabase, write } from '../../test/postgres.ts';

function streamOf(properties: Record<string, JsonSchema>, name = 't'): Stream {
  return { name, supported_sync_modes: ['full_refresh'], json_schema: { type: 'object', properties } };
}

async function put(database: TestDatabase, schema: JsonSchema, ...values: unknown[]): Promise<void> {
  const stream = streamOf({ v: schema });
  await write(
    database.config,
    [configure(stream)],
    input(
      stream,
      values.map((v) => ({ v })),
    ),
  );
}

async function typeAndTexts(database: TestDatabase) {
  const [type] = await database.query<{ type: string }>('select pg_typeof(v)::text as type from t limit 1');
  const rows = await database.query<{ text: string }>('select v::text as text from t order by ctid');
  return [type?.type, ...rows.map(({ text }) => text)];
}

const integer = { type: 'integer' };
const number = { type: 'number' };
const string = { type: 'string' };
const anything = {};

describe('a stream whose schema changes', () => {
  it('gets columns for new fields and keeps those of old ones', async () => {
    const { config, query } = await createDatabase();
    const before = streamOf({ a: string, b: string });
    await write(config, [configure(before)], input(before, [{ a: '1', b: '2' }]));
    const after = streamOf({ b: string, c: string });
    await write(config, [configure(after)], input(after, [{ b: '3', c: '4' }]));
    expect(await query('select a, b, c from t order by b')).toEqual([
      { a: '1', b: '2', c: null },
      { a: null, b: '3', c: '4' },
    ]);
  });

  it.each([
    ['an integer, then a fraction', [integer, 7], [number, 0.5], ['numeric', '7', '0.5']],
    [
      '17 digits, then an integer',
      [number, 0.30000000000000004],
      [integer, 7],
      ['numeric', '0.30000000000000004', '7'],
    ],
    ['a boolean, then text', [{ type: 'boolean' }, true], [string, 'yes'], ['text', 'true', 'yes']],
    ['text, then an integer', [string, 'seven'], [integer, 7], ['text', 'seven', '7']],
    [
      'an instant, then text',
      [{ type: 'string', format: 'date-time' }, '2024-01-01T00:00:00.123456Z'],
      [string, 'soon'],
      ['text', '2024-01-01T00:00:00.123456Z', 'soon'],
    ],
    [
      'a date, then an integer',
      [{ type: 'string', format: 'date' }, '2024-01-01'],
      [integer, 7],
      ['text', '2024-01-01', '7'],
    ],
    [
      'bytes, then text',
      [{ type: 'string', contentEncoding: 'base64' }, Buffer.alloc(60).toString('base64')],
      [string, 'x'],
      ['text', 'A'.repeat(80), 'x'],
    ],
    ['text, then anything', [string, '7'], [anything, { a: 1 }], ['jsonb', '"7"', '{"a": 1}']],
    ['an integer, then anything', [integer, 7], [anything, [7]], ['jsonb', '7', '[7]']],
    ['anything, then text', [anything, { a: 1 }], [string, 'x'], ['jsonb', '{"a": 1}', '"x"']],
    ['NaN, then anything', [number, 'NaN'], [anything, 1], ['jsonb', '"NaN"', '1']],
  ] as [string, [JsonSchema, unknown], [JsonSchema, unknown], string[]][])(
    'has its column widened without loss: %s',
    async (_, before, after, expected) => {
      const database = await createDatabase();
      await put(database, ...before);
      await put(database, ...after);
      expect(await typeAndTexts(database)).toEqual(expected);
      // The column stays wide.
      await put(database, ...before);
      expect((await typeAndTexts(database))[0]).toBe(expected[0]);
    },
  );

  it('keeps its key when a column of the key is widened', async () => {
    const { config, query } = await createDatabase();
    for (const [schema, id] of [
      [integer, 1],
      [string, '1'],
    ] as const) {
      const stream = streamOf({ id: schema });
      const configured = configure(stream, { destination_sync_mode: 'append_dedup', primary_key: [['id']] });
      await write(config, [configured], input(stream, [{ id }]));
    }
    expect(await query('select id from t')).toEqual([{ id: '1' }]);
  });

  it('says so when a column cannot be changed', async () => {
    const database = await createDatabase();
    await put(database, integer, 1);
    await database.client.query('create view seen as select v from t');
    await expect(put(database, string, 'x')).rejects.toMatchObject({ failureType: 'config_error' });
    await database.client.query('drop view seen; alter table t alter column v type int');
    await expect(put(database, integer, 1)).rejects.toMatchObject({
      message: expect.stringContaining('was changed to integer'),
      failureType: 'config_error',
    });
  });
});

describe('names', () => {
  it('are kept where PostgreSQL can, and stay different where it cannot', async () => {
    const { config, query } = await createDatabase();
    const long = 'x'.repeat(100);
    const names = [
      'Name',
      'name',
      'na"me',
      'na me',
      '🐘',
      'constructor',
      '__proto__',
      'select',
      '',
      'a\0b',
      'ctid',
      '_inlay_meta',
      '\ud800',
      `${long}1`,
      `${long}2`,
      `${'ä'.repeat(40)}1`,
      `${'ä'.repeat(40)}2`,
    ];
    const stream = {
      ...streamOf(
        JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, integer])))),
        `My "odd" ${long}`,
      ),
      namespace: `Schema "${long}"`,
    };
    const record = Object.fromEntries(names.map((name, index) => [name, index]));
    const configured = configure(stream, {
      destination_sync_mode: 'append_dedup',
      primary_key: names.slice(0, 3).map((name) => [name]),
      cursor_field: [`${long}1`],
    });
    for (const _ of [1, 2]) await write(config, [configured], input(stream, [record]));
    const [table] = await query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where tablename like 'My%'`,
    );
    expect(table?.name).toMatch(/^"Schema ""x+_[0-9a-f]{12}"\."My ""odd"" x+_[0-9a-f]{12}"$/);
    const rows = await query<Record<string, unknown>>(`select * from ${table?.name}`);
    expect(rows).toHaveLength(1);
    const columns = Object.entries(rows[0] ?? {}).filter(([, value]) => typeof value === 'string');
    const kept = Object.fromEntries(columns);
    expect(columns.length).toBe(names.length + 2);
    for (const name of names.slice(0, 8))
      expect(Object.getOwnPropertyDescriptor(kept, name)?.value).toBe(String(names.indexOf(name)));
  });

  it('of two streams that would be one table are refused', async () => {
    const { config } = await createDatabase();
    const streams = [streamOf({}), { ...streamOf({}), namespace: 'public' }].map((stream) => configure(stream));
    await expect(write(config, streams, [])).rejects.toMatchObject({
      message: expect.stringContaining('the same table'),
      failureType: 'config_error',
    });
  });
});
