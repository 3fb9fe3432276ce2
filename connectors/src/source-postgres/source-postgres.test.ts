import type { Emitter } from '@inlay/protocol/connector';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { addedText } from '../../test/added-text.ts';
import {
  collectingEmitter,
  configure,
  createDatabase,
  discoverStream,
  read,
  startProgram,
  summarize,
  surroundings,
} from '../../test/postgres.ts';
import { connector } from './source-postgres.ts';

describe('discovery', () => {
  it('offers the tables and views of the chosen schemas, a partitioned table once', async () => {
    const { client, config } = await createDatabase();
    await client.query(`
      create table plain (id int primary key);
      create view seen as select id from plain;
      create materialized view kept as select id from plain;
      create table parts (day date, n int) partition by range (day);
      create table parts_2024 partition of parts for values from ('2024-01-01') to ('2025-01-01');
      create schema other; create table other.plain (id int);
      create schema hidden; create table hidden.plain (id int);
    `);
    const { streams } = await connector.discover({ ...config, schemas: ['public', 'other'] }, surroundings);
    expect(streams.map(({ namespace, name }) => `${namespace}.${name}`)).toEqual([
      'other.plain',
      'public.kept',
      'public.parts',
      'public.plain',
      'public.seen',
    ]);
  });

  it('describes types, keys in their order, and what may be a cursor', async () => {
    const { client, config } = await createDatabase();
    await client.query(`
      create type mood as enum ('sad', 'happy');
      create domain positive as int check (value > 0);
      create domain very_positive as positive check (value > 100);
      create table everything (
        b int, a bigint, feeling mood not null, much very_positive, amounts numeric[], many positive[],
        at timestamptz, raw bytea, doc jsonb, ok boolean not null,
        primary key (a, b)
      );
      create view unordered as select null::jsonb as doc;
      create view ordered as select 1 as n;
    `);
    const everything = await discoverStream(config, 'everything');
    expect(everything).toEqual({
      name: 'everything',
      namespace: 'public',
      supported_sync_modes: ['full_refresh', 'incremental'],
      source_defined_cursor: true,
      source_defined_primary_key: [['a'], ['b']],
      json_schema: {
        type: 'object',
        properties: {
          b: { type: 'integer' },
          a: { type: 'integer' },
          feeling: { type: 'string' },
          much: { type: ['integer', 'null'] },
          amounts: { type: ['array', 'null'], items: { type: ['string', 'null'], airbyte_type: 'big_number' } },
          many: { type: ['array', 'null'], items: { type: ['integer', 'null'] } },
          at: { type: ['string', 'null'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
          raw: { type: ['string', 'null'], contentEncoding: 'base64' },
          doc: { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] },
          ok: { type: 'boolean' },
        },
      },
    });
    expect((await discoverStream(config, 'unordered')).supported_sync_modes).toEqual(['full_refresh']);
    const ordered = await discoverStream(config, 'ordered');
    expect(ordered.supported_sync_modes).toEqual(['full_refresh', 'incremental']);
    expect(ordered).not.toHaveProperty('source_defined_cursor');
  });

  it('leaves out what the user may not read, tables and columns', async () => {
    const { client, config } = await createDatabase();
    await client.query(`
      create table open (id int, secret text); create table closed (id int);
      create role reader_of_${config.database} login; grant select (id) on open to reader_of_${config.database};
    `);
    const username = `reader_of_${config.database}`;
    const { streams } = await connector.discover({ ...config, username }, surroundings);
    expect(streams.map(({ name }) => name)).toEqual(['open']);
    expect(Object.keys(streams[0]?.json_schema.properties ?? {})).toEqual(['id']);
    const { records } = await read(
      { ...config, username },
      streams.map((stream) => configure(stream)),
    );
    expect(records).toEqual([]);
    await client.query(`drop owned by ${username}; drop role ${username}`);
  });
});

describe('values', () => {
  /** Each with the very text in the record. */
  const cases: [type: string, sql: string, json: string][] = [
    ['smallint', '-32768', '-32768'],
    ['integer', '2147483647', '2147483647'],
    ['bigint', '9223372036854775807', '9223372036854775807'],
    ['bigint', '-9007199254740993', '-9007199254740993'],
    ['numeric', '123456789012345678901234567890.000100', '"123456789012345678901234567890.000100"'],
    ['numeric', "'NaN'", '"NaN"'],
    ['numeric', "'-Infinity'", '"-Infinity"'],
    ['numeric(50, 10)[]', `'{1e39,NaN,null,0.1}'`, `["1${'0'.repeat(39)}.0000000000","NaN",null,"0.1000000000"]`],
    ['real', '1.1', '1.1'],
    ['real', '16777217', '1.6777216e+07'],
    ['double precision', '0.1 + 0.2::float8', '0.30000000000000004'],
    ['double precision', "'-0'", '-0'],
    ['double precision', '1e300', '1e+300'],
    ['double precision', '4.9e-324', '5e-324'],
    ['double precision', "'NaN'", '"NaN"'],
    ['double precision', "'-Infinity'", '"-Infinity"'],
    ['double precision[]', `'{0.1,NaN,-Infinity,null}'`, '[0.1,"NaN","-Infinity",null]'],
    ['money', '1234.5', '"$1,234.50"'],
    ['boolean', 'false', 'false'],
    ['boolean[]', "'{t,f,null}'", '[true,false,null]'],
    ['text', `E'a\\\\b"c\\n\\r\\t\\b\\f\\x0b\\x01\\x7f/äあ🐘'`, JSON.stringify('a\\b"c\n\r\t\b\f\v\x01\x7f/äあ🐘')],
    ['text', "'\\N'", '"\\\\N"'],
    ['text', "''", '""'],
    ['char(4)', "'ab'", '"ab  "'],
    ['char(4)[]', "'{ab}'", '["ab  "]'],
    ['varchar', "'null'", '"null"'],
    ['date', "'2024-02-29'", '"2024-02-29"'],
    ['date', "'infinity'", '"infinity"'],
    ['date', "'0044-03-15 BC'", '"0044-03-15 BC"'],
    ['date', "'99999-12-31'", '"99999-12-31"'],
    ['timestamp', "'2024-02-29 12:34:56.123456'", '"2024-02-29T12:34:56.123456"'],
    ['timestamp', "'0044-03-15 12:00:00 BC'", '"0044-03-15T12:00:00 BC"'],
    ['timestamptz', "'2024-02-29 12:34:56.123456+05:30'", '"2024-02-29T07:04:56.123456Z"'],
    ['timestamptz', "'-infinity'", '"-infinity"'],
    ['timestamptz', "'0044-03-15 12:00:00+00 BC'", '"0044-03-15T12:00:00Z BC"'],
    ['time', "'23:59:59.999999'", '"23:59:59.999999"'],
    ['timetz', "'12:00:00+02'", '"12:00:00+02:00"'],
    ['timetz', "'12:00:00-02:30'", '"12:00:00-02:30"'],
    ['interval', "'1 year 2 months 3 days 04:05:06.789'", '"P1Y2M3DT4H5M6.789S"'],
    ['interval', "'-1 year 2 days -00:00:01'", '"P-1Y2DT-1S"'],
    ['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
    [
      'json',
      `'{"a": [1, null], "a": 2, "z": "\\u0000\\n\\"\\\\"}'`,
      `{"a": [1, null], "a": 2, "z": "\\u0000\\n\\"\\\\"}`,
    ],
    ['json', `E'{"n":\\n\\t9007199254740993,\\r\\n"e":1e400}'`, '{"n":  9007199254740993,  "e":1e400}'],
    ['json', `'1.10000000000000000000000000000000000001e-400'`, '1.10000000000000000000000000000000000001e-400'],
    [
      'jsonb',
      `'{"n":9007199254740993,"d":0.1000000000000000000000000000001}'`,
      '{"d": 0.1000000000000000000000000000001, "n": 9007199254740993}',
    ],
    ['jsonb', "'1e400'", `1${'0'.repeat(400)}`],
    ['jsonb', `'"text"'`, '"text"'],
    ['jsonb', "'null'", 'null'],
    ['json[]', `array[E'{"a":\\n12345678901234567890}'::json]`, '[{"a": 12345678901234567890}]'],
    ['jsonb[]', `array['{"a":1e30}'::jsonb, null]`, `[{"a": 1${'0'.repeat(30)}},null]`],
    ['bytea', "'\\x00ff'", '"AP8="'],
    ['bytea', "''", '""'],
    ['bytea[]', "array['\\x00'::bytea]", '["AA=="]'],
    ['inet', "'192.168.0.1'", '"192.168.0.1"'],
    ['inet[]', "'{192.168.0.1}'", '["192.168.0.1"]'],
    ['cidr', "'10.0.0.0/8'", '"10.0.0.0/8"'],
    ['macaddr', "'08:00:2b:01:02:03'", '"08:00:2b:01:02:03"'],
    ['point', "'(1,2)'", '"(1,2)"'],
    ['polygon', "'((0,0),(1,1))'", '"((0,0),(1,1))"'],
    ['int4range', "'[1,5)'", '"[1,5)"'],
    ['tstzrange', "'[2024-01-01 00:00+00,)'", String.raw`"[\"2024-01-01 00:00:00+00\",)"`],
    ['bit(3)', "'101'", '"101"'],
    ['xml', "'<a/>'", '"<a/>"'],
    ['tsvector', "'a b'", `"'a' 'b'"`],
    ['mood', "'happy day'", '"happy day"'],
    ['mood[]', `'{"happy day"}'`, '["happy day"]'],
    ['positive', '5', '5'],
    ['pair', `row(1, 'x "y"')`, String.raw`"(1,\"x \"\"y\"\"\")"`],
    ['pair[]', `array[row(1, 'x')::pair]`, '["(1,x)"]'],
    ['bigint[]', "'{9007199254740993,null}'", '[9007199254740993,null]'],
    ['integer[]', "'{{1,2},{3,4}}'", '[[1,2],[3,4]]'],
    ['integer[]', "'{}'", '[]'],
    ['timestamptz[]', `'{"2024-01-01 00:00:00+00"}'`, '["2024-01-01T00:00:00Z"]'],
    ['text[]', `'{"a,\\"b","null",null}'`, String.raw`["a,\"b","null",null]`],
  ];

  it('are written as JSON without losing anything, whatever the formats of the server are', async () => {
    const { client, config } = await createDatabase();
    const columns = cases.map(([type], index) => `v${index} ${type}`);
    await client.query(`
      alter database ${config.database} set timezone = 'Asia/Tokyo';
      alter database ${config.database} set datestyle = 'German';
      alter database ${config.database} set bytea_output = 'escape';
      alter database ${config.database} set extra_float_digits = -3;
      create type mood as enum ('sad', 'happy day');
      create domain positive as int check (value > 0);
      create type pair as (n int, t text);
      create table t (${columns.join(', ')});
      insert into t values (${cases.map(([, sql]) => sql).join(', ')}), (${cases.map(() => 'null').join(', ')});
    `);
    const texts: string[] = [];
    const emit: Emitter = {
      ...collectingEmitter().emitter,
      recordOf: (_, addData) => void texts.push(addedText(addData)),
    };
    await connector.read(config, { streams: [configure(await discoverStream(config, 't'))] }, [], emit, surroundings);
    const expected = (json: (index: number) => string | undefined) =>
      `{${cases.map((_, index) => `"v${index}":${json(index)}`).join(',')}}`;
    expect(texts[0]).toBe(expected((index) => cases[index]?.[2]));
    expect(texts[1]).toBe(expected(() => 'null'));
  });
});

describe('a database without an encoding', () => {
  it('has its texts as UTF-8, and values with other bytes are replaced in part and counted', async () => {
    const { client, config } = await createDatabase();
    const database = `${config.database}_bytes`;
    await client.query(`create database ${database} template template0 encoding 'SQL_ASCII' locale 'C'`);
    onTestFinished(() => client.query(`drop database ${database} with (force)`).then(() => {}));
    const other = new pg.Client({
      host: '127.0.0.1',
      ...config,
      database: String(database),
      user: String(config.username),
    } as pg.ClientConfig);
    await other.connect();
    await other.query(`create table t (id int, a text, b text);
      insert into t values (1, 'ä', 'b'), (2, E'\\xe4\\t"', 'b'), (3, E'x\\xff', E'\\xc3')`);
    await other.end();
    const there = { ...config, database };
    const { records, messages } = await read(there, [configure(await discoverStream(there, 't'))]);
    expect(records).toEqual([
      { id: 1, a: 'ä', b: 'b' },
      { id: 2, a: '\ufffd\t"', b: 'b' },
      { id: 3, a: 'x\ufffd', b: '\ufffd' },
    ]);
    const reports = messages.flatMap((message) => (message.type === 'TRACE' ? [message.trace.analytics?.value] : []));
    expect(JSON.parse(reports.find(Boolean) ?? '{}').values_changed).toEqual([
      { field: 'a', kind: 'shortened', count: 2, example: 'record 2' },
      { field: 'b', kind: 'shortened', count: 1, example: 'record 3' },
    ]);
  });
});

describe('a full refresh', () => {
  it('reads odd names, only the selected columns, and reports when a stream begins and ends', async () => {
    const { client, config } = await createDatabase();
    const name = 'My "odd" täble 🐘';
    await client.query(`create table "My ""odd"" täble 🐘" ("a""b" int, "C D" text, "__proto__" int, x int);
      insert into "My ""odd"" täble 🐘" values (1, 'x', 2, 3)`);
    const stream = await discoverStream(config, name);
    const properties = { ...(stream.json_schema.properties as object) } as Record<string, unknown>;
    delete properties.x;
    const selected = { ...stream, json_schema: { type: 'object', properties } };
    const { records, statuses } = await read(config, [configure(selected)]);
    expect(JSON.stringify(records)).toBe('[{"a\\"b":1,"C D":"x","__proto__":2}]');
    expect(statuses).toEqual([`${name} STARTED`, `${name} COMPLETE`]);
  });

  it('reads all streams as of one moment', async () => {
    const { client, config } = await createDatabase();
    await client.query(
      'create table a (n int); create table b (n int); insert into a values (1); insert into b values (1)',
    );
    const streams = (await connector.discover(config, surroundings)).streams.map((stream) => configure(stream));
    const seen: unknown[] = [];
    await connector.read(
      config,
      { streams },
      [],
      {
        ...collectingEmitter().emitter,
        recordOf: (stream, addData) => {
          seen.push([stream.name, JSON.parse(addedText(addData)).n]);
          // Between the first stream and the second.
          return stream.name === 'a' ? client.query('insert into b values (2)').then(() => {}) : undefined;
        },
      },
      surroundings,
    );
    expect(seen).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('reads the other tables when one is gone, and says so', async () => {
    const { client, config } = await createDatabase();
    await client.query('create table gone (n int); create table kept as select 1 as n');
    const streams = [await discoverStream(config, 'gone'), await discoverStream(config, 'kept')];
    await client.query('drop table gone');
    const { emitter, messages } = collectingEmitter();
    const reading = connector.read(
      config,
      { streams: streams.map((stream) => configure(stream)) },
      [],
      emitter,
      surroundings,
    );
    await expect(reading).rejects.toMatchObject({
      message: expect.stringContaining('table gone is'),
      failureType: 'transient_error',
    });
    const { records, statuses } = summarize(messages);
    expect(records).toEqual([{ n: 1 }]);
    expect(statuses).toEqual(['kept STARTED', 'kept COMPLETE', 'gone INCOMPLETE']);
  });

  it('says what the server says when a view cannot be computed', async () => {
    const { client, config } = await createDatabase();
    await client.query('create view broken as select 1 / (n - 2) as q from generate_series(1, 3) n');
    await expect(read(config, [configure(await discoverStream(config, 'broken'))])).rejects.toMatchObject({
      message: expect.stringMatching(/^broken .*division by zero/),
      failureType: 'config_error',
    });
  });

  it.each(['full_refresh', 'incremental'] as const)(
    'skips rows that are larger than can be moved, and counts them with their keys (%s)',
    async (sync_mode) => {
      const { client, config } = await createDatabase();
      await client.query(`create table large (text text, id int primary key, note text)`);
      await client.query(`insert into large select repeat('x', case n when 2 then 41000000 else 1 end), n, 'n' || n
        from generate_series(1, 3) n`);
      await client.query(`create table after as select 1 as n`);
      const streams = [
        configure(await discoverStream(config, 'large'), { sync_mode, primary_key: [['id']] }),
        configure(await discoverStream(config, 'after')),
      ];
      const { messages } = await read(config, streams);
      const { records, statuses } = summarize(messages);
      expect(records).toEqual([{ text: 'x', id: 1, note: 'n1' }, { text: 'x', id: 3, note: 'n3' }, { n: 1 }]);
      expect(statuses).toEqual(['large STARTED', 'large COMPLETE', 'after STARTED', 'after COMPLETE']);
      const reports = messages.flatMap((message) => (message.type === 'TRACE' ? [message.trace.analytics?.value] : []));
      expect(reports.filter(Boolean).map((text) => JSON.parse(String(text)))).toEqual([
        { stream_descriptor: { name: 'large', namespace: 'public' }, records_skipped: { count: 1, keys: ['id 2'] } },
      ]);
      const states = messages.flatMap((message) => (message.type === 'STATE' ? [message.state] : []));
      if (sync_mode === 'full_refresh') return;
      // It is not retried forever.
      const again = await read(config, streams.slice(0, 1), states);
      expect(JSON.stringify(again.messages)).not.toContain('records_skipped');
    },
  );

  it('fails as a passing fault, without COMPLETE, when its session is ended', async () => {
    const { client, config, query } = await createDatabase();
    await client.query(`create table t as select n, repeat('x', 1000) as text from generate_series(1, 50000) n`);
    const catalog = { streams: [configure(await discoverStream(config, 't'))] };
    const program = startProgram('source-postgres', 'read', { config, catalog });
    const statuses: unknown[] = [];
    let isEnded = false;
    for await (const message of program.messages) {
      if (message.type === 'TRACE')
        statuses.push(message.trace.stream_status?.status ?? message.trace.error?.failure_type);
      if (isEnded || message.type !== 'RECORD') continue;
      isEnded = true;
      await query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'inlay' and datname = current_database()`);
    }
    expect(await program.exitCode).toBe(1);
    expect(statuses).toEqual(['STARTED', 'transient_error']);
  });

  itInLongRun('reads wide rows of twice the memory that its process has for all of its objects', async () => {
    const [rows, megabytes] = isLongRun ? [250_000, 128] : [100_000, 64];
    const { client, config } = await createDatabase();
    await client.query(`create table wide as
      select n as id, repeat(md5(n::text), 30) as text, now() as at from generate_series(1, ${rows}) n`);
    const catalog = { streams: [configure(await discoverStream(config, 'wide'))] };
    const program = startProgram('source-postgres', 'read', { config, catalog }, [`--max-old-space-size=${megabytes}`]);
    let count = 0;
    for await (const message of program.messages) if (message.type === 'RECORD') count += 1;
    expect(await program.exitCode).toBe(0);
    expect(count).toBe(rows);
  });
});
