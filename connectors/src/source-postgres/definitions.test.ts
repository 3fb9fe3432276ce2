/* Changes of the catalog that make existing rows read differently, without a row being written. */

import type { State } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import { configure, createDatabase, discoverStream, read, type TestDatabase } from '../../test/postgres.ts';

async function readFrom({ config }: TestDatabase, name: string, state: State[] = [], fields?: string[]) {
  const stream = await discoverStream(config, name);
  const properties = stream.json_schema.properties as Record<string, object>;
  const selected = Object.entries(properties).filter(([field]) => fields?.includes(field) ?? true);
  stream.json_schema = { ...stream.json_schema, properties: Object.fromEntries(selected) };
  const result = await read(config, [configure(stream, { sync_mode: 'incremental', cursor_field: ['id'] })], state);
  const logs = result.messages.flatMap((message) => (message.type === 'LOG' ? [message.log.message] : []));
  return { records: result.records, state: result.states.slice(-1), logs };
}

const moods = `create type mood as enum ('sad', 'ok');`;
const anew = (type: string) => [
  `t is read from the start: earlier rows now have different values because the type ${type} changed.`,
];

describe.each([
  ['an enum', `${moods} create table t (id int, v mood); insert into t values (1, 'sad'), (2, 'ok')`, ['glum', 'ok']],
  [
    'a domain over an enum, of an array',
    `${moods} create domain feeling as mood; create domain feelings as feeling[];
     create table t (id int, v feelings); insert into t values (1, '{sad,ok}')`,
    [['glum', 'ok']],
  ],
  [
    'a composite of an enum',
    `${moods} create type pair as (n int, m mood); create table t (id int, v pair); insert into t values (1, '(1,sad)')`,
    ['(1,glum)'],
  ],
  [
    'an array of composites',
    `${moods} create type pair as (n int, m mood); create table t (id int, v pair[]);
     insert into t values (1, array[row(1, 'sad')::pair])`,
    [['(1,glum)']],
  ],
  [
    'a range of enums',
    `${moods} create type span as range (subtype = mood); create table t (id int, v span);
     insert into t values (1, '[sad,ok]')`,
    ['[glum,ok]'],
  ],
  [
    'several ranges of enums',
    `${moods} create type span as range (subtype = mood, multirange_type_name = spans); create table t (id int, v spans);
     insert into t values (1, '{[sad,ok]}')`,
    ['{[glum,ok]}'],
  ],
  [
    'partitions with an enum',
    `${moods} create table t (id int, v mood) partition by range (id);
     create table p partition of t for values from (0) to (9); insert into t values (1, 'sad')`,
    ['glum'],
  ],
])('a table with a column of %s', (_, sql, renamed) => {
  it('is read from the start when a label of the enum has another name, and only then', async () => {
    const database = await createDatabase();
    await database.client.query(sql);
    const first = await readFrom(database, 't');
    await database.client.query(`alter type mood rename value 'sad' to 'glum'`);
    const second = await readFrom(database, 't', first.state);
    expect(second.records.map(({ v }) => v)).toEqual(renamed);
    expect(second.logs).toEqual(anew('mood'));
    const third = await readFrom(database, 't', second.state);
    expect(third).toMatchObject({ records: [], logs: [] });
    await database.client.query(`alter type mood add value 'great' before 'ok'`);
    expect(await readFrom(database, 't', third.state)).toMatchObject({ records: [], logs: [] });
  });
});

describe('a table', () => {
  it('is not read again because of a column that is not selected', async () => {
    const database = await createDatabase();
    await database.client.query(`${moods} create table t (id int, v mood); insert into t values (1, 'sad')`);
    const first = await readFrom(database, 't', [], ['id']);
    await database.client.query(`alter type mood rename value 'sad' to 'glum'`);
    expect(await readFrom(database, 't', first.state, ['id'])).toMatchObject({ records: [], logs: [] });
  });

  it('is not read again by a version that is new to definitions, and is watched from then on', async () => {
    const database = await createDatabase();
    await database.client.query(`${moods} create table t (id int, v mood); insert into t values (1, 'sad')`);
    const first = await readFrom(database, 't');
    const withoutDefinitions = JSON.parse(
      JSON.stringify(first.state, (key, value) => (key === 'definitions' ? undefined : value)),
    ) as State[];
    expect(JSON.stringify(first.state)).not.toBe(JSON.stringify(withoutDefinitions));
    await database.client.query(`alter type mood rename value 'sad' to 'glum'`);
    const second = await readFrom(database, 't', withoutDefinitions);
    expect(second).toMatchObject({ records: [], logs: [] });
    await database.client.query(`alter type mood rename value 'glum' to 'low'`);
    const third = await readFrom(database, 't', second.state);
    expect(third.records).toEqual([{ id: 1, v: 'low' }]);
    expect(third.logs).toEqual(anew('mood'));
  });

  it('is read from the start when a run was cut off before the change', async () => {
    const database = await createDatabase();
    await database.client.query(
      `${moods} create table t (id int, v mood); insert into t select n, 'sad' from generate_series(1, 10001) n`,
    );
    const { config } = database;
    const stream = configure(await discoverStream(config, 't'), { sync_mode: 'incremental' });
    const { states } = await read(config, [stream]);
    await database.client.query(`alter type mood rename value 'sad' to 'glum'`);
    const { records } = await read(config, [stream], states.slice(0, 1));
    expect(records.filter(({ v }) => v === 'glum')).toHaveLength(10_001);
  });

  it('is read from the start when a composite type has lost or got an attribute', async () => {
    const database = await createDatabase();
    await database.client.query(
      `create type pair as (a int, b int); create table t (id int, v pair); insert into t values (1, '(1,2)')`,
    );
    const first = await readFrom(database, 't');
    await database.client.query('alter type pair add attribute c int');
    const second = await readFrom(database, 't', first.state);
    expect(second).toMatchObject({ records: [{ id: 1, v: '(1,2,)' }], logs: anew('pair') });
    await database.client.query('alter type pair rename attribute c to d');
    const third = await readFrom(database, 't', second.state);
    expect(third).toMatchObject({ records: [], logs: [] });
    await database.client.query('alter type pair drop attribute a');
    expect(await readFrom(database, 't', third.state)).toMatchObject({ records: [{ id: 1, v: '(2,)' }] });
  });

  it('is read from the start when a column has another type without being rewritten', async () => {
    const database = await createDatabase();
    await database.client.query(
      `create table t (id int, at timestamp, name varchar(9)); insert into t values (1, '2024-01-01', 'a')`,
    );
    const first = await readFrom(database, 't');
    await database.client.query(
      `alter table t alter column name type text; alter table t alter column name type varchar`,
    );
    const second = await readFrom(database, 't', first.state);
    expect(second).toMatchObject({ records: [], logs: [] });
    await database.client.query(`set timezone = 'UTC'; alter table t alter column at type timestamptz`);
    const third = await readFrom(database, 't', second.state);
    expect(third.records).toEqual([{ id: 1, at: '2024-01-01T00:00:00Z', name: 'a' }]);
    expect(third.logs).toEqual([expect.stringMatching(/^t is read from the start: .*column at /)]);
  });

  it('brings rows that an added or renamed column has changed, whatever filled it', async () => {
    const database = await createDatabase();
    await database.client.query('create table t (id int, a int); insert into t values (1, 1), (2, null)');
    const first = await readFrom(database, 't');
    await database.client.query(`alter table t add column b int default 7`);
    const second = await readFrom(database, 't', first.state);
    expect(second.records).toEqual([
      { id: 1, a: 1, b: 7 },
      { id: 2, a: null, b: 7 },
    ]);
    await database.client.query(`alter table t rename column a to c`);
    const third = await readFrom(database, 't', second.state);
    expect(third.records).toEqual([{ id: 1, c: 1, b: 7 }]);
    await database.client.query(`alter table t add column d int generated always as (b + 1) stored`);
    expect((await readFrom(database, 't', third.state)).records).toHaveLength(2);
  });

  it('is not read again when a domain is altered, the table vacuumed or the type renamed', async () => {
    const database = await createDatabase();
    await database.client.query(
      `${moods} create domain feeling as mood; create table t (id int, v feeling); insert into t values (1, 'sad')`,
    );
    const first = await readFrom(database, 't');
    await database.client.query(
      `alter domain feeling add check (value <> 'ok'); alter type mood rename to humour; alter domain feeling rename to f`,
    );
    await database.client.query('vacuum full t');
    expect(await readFrom(database, 't', first.state)).toMatchObject({ records: [], logs: [] });
  });
});

it('a view with a cursor is read from the start when a label has another name', async () => {
  const database = await createDatabase();
  await database.client.query(
    `${moods} create table stored (id int, v mood); insert into stored values (1, 'sad'), (2, 'ok');
     create view t as select * from stored`,
  );
  const first = await readFrom(database, 't');
  expect(first.records).toHaveLength(2);
  expect((await readFrom(database, 't', first.state)).records).toEqual([]);
  await database.client.query(`alter type mood rename value 'sad' to 'glum'`);
  const second = await readFrom(database, 't', first.state);
  expect(second.records.map(({ v }) => v)).toEqual(['glum', 'ok']);
  expect(second.logs).toEqual(expect.arrayContaining(anew('mood')));
  expect((await readFrom(database, 't', second.state)).records).toEqual([]);
});
