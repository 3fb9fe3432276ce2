import { setTimeout as delay } from 'node:timers/promises';
import type { DestinationInput } from '@inlay/protocol/connector';
import type { DestinationSyncMode, State, Stream } from '@inlay/protocol/protocol';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  complete,
  configure,
  createDatabase,
  discoverStream,
  input,
  startProgram,
  type TestDatabase,
  write,
  writeAndReport,
} from '../../test/postgres.ts';

const users: Stream = {
  name: 'users',
  supported_sync_modes: ['full_refresh', 'incremental'],
  json_schema: {
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: ['string', 'null'] }, at: { type: 'integer' } },
  },
};

function userStream(destination_sync_mode: DestinationSyncMode, more: Parameters<typeof configure>[1] = {}) {
  const dedup = destination_sync_mode === 'append_dedup' ? { primary_key: [['id']], cursor_field: ['at'] } : {};
  return configure(users, { destination_sync_mode, ...dedup, ...more });
}

function stateOf(name: string, n: number): State {
  return { type: 'STREAM', stream: { stream_descriptor: { name }, stream_state: { n } } };
}

const rowsOf = ({ query }: TestDatabase) => query('select id, name, at from users order by id, at, name');

describe('append', () => {
  it('adds records to those that are there, with when and in which sync they came', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('append')], input(users, [{ id: 1, name: 'Ada' }]));
    await write(
      database.config,
      [userStream('append', { sync_id: 2, generation_id: 3 })],
      input(users, [{ id: 1, name: 'Ada' }], { isComplete: false }),
    );
    expect(
      await database.query(`select id::int, name, at, _inlay_sync_id::int as sync, _inlay_generation::int as generation,
        _inlay_emitted_at as emitted, _inlay_meta as meta from users order by sync`),
    ).toEqual([
      { id: 1, name: 'Ada', at: null, sync: 1, generation: 0, emitted: new Date(1e12), meta: null },
      { id: 1, name: 'Ada', at: null, sync: 2, generation: 3, emitted: new Date(1e12), meta: null },
    ]);
  });

  it('removes records of generations below the minimum once the stream is complete', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('append')], input(users, [{ id: 1 }]));
    const refreshed = userStream('append', { generation_id: 1, minimum_generation_id: 1 });
    await write(database.config, [refreshed], input(users, [{ id: 2 }], { isComplete: false }));
    expect(await database.query('select id::int from users order by id')).toEqual([{ id: 1 }, { id: 2 }]);
    await write(database.config, [refreshed], input(users, [{ id: 3 }]));
    expect(await database.query('select id::int from users order by id')).toEqual([{ id: 2 }, { id: 3 }]);
  });
});

describe('overwrite', () => {
  it('replaces the old records when the stream is complete, and keeps views, grants and indexes', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 1 }, { id: 2 }]));
    await database.client.query('create view seen as select id::int from users; create index by_name on users (name)');
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 3 }]));
    expect(await database.query('select * from seen')).toEqual([{ id: 3 }]);
    expect(await database.query(`select indexname from pg_indexes where indexname = 'by_name'`)).toHaveLength(1);
    await write(database.config, [userStream('overwrite')], [complete(users)]);
    expect(await database.query('select * from seen')).toEqual([]);
  });

  it('leaves the old records, and nothing else, when the input ends before the stream is complete', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 1 }]));
    const relations = `select count(*)::int from pg_class where relname like '%inlay%'`;
    const before = await database.query(relations);
    const states = await write(
      database.config,
      [userStream('overwrite')],
      input(users, [{ id: 2 }], { isComplete: false, state: stateOf('users', 1) }),
    );
    expect(states).toEqual([]);
    expect(await database.query('select id::int from users')).toEqual([{ id: 1 }]);
    expect(await database.query(relations)).toEqual(before);
  });

  it('shows readers the old records or the new ones, never none', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 1 }]));
    await database.client.query('begin isolation level repeatable read');
    await database.client.query('select 1');
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 2 }]));
    expect(await database.query('select id::int from users')).toEqual([{ id: 1 }]);
    await database.client.query('commit');
    expect(await database.query('select id::int from users')).toEqual([{ id: 2 }]);
  });

  it('does not touch a table that someone else made', async () => {
    const database = await createDatabase();
    await database.client.query('create table users (id int); insert into users values (7)');
    await expect(write(database.config, [userStream('overwrite')], input(users, [{ id: 1 }]))).rejects.toMatchObject({
      message: expect.stringContaining('public.users already exists'),
      failureType: 'config_error',
    });
    expect(await database.query('select * from users')).toEqual([{ id: 7 }]);
  });
});

describe('append_dedup', () => {
  it('keeps one record a key, the newest by cursor and then by arrival, within a sync and across', async () => {
    const database = await createDatabase();
    const stream = userStream('append_dedup');
    await write(
      database.config,
      [stream],
      input(users, [
        { id: 1, name: 'newest', at: 3 },
        { id: 1, name: 'oldest', at: 1 },
        { id: 1, name: 'middle', at: 2 },
        { id: 2, name: 'first of equals', at: 1 },
        { id: 2, name: 'last of equals', at: 1 },
        { id: 3, name: 'without a cursor', at: null },
      ]),
    );
    await write(
      database.config,
      [stream],
      input(users, [
        { id: 1, name: 'late and old', at: 2 },
        { id: 2, name: 'equal and later', at: 1 },
        { id: 3, name: 'now with one', at: 0 },
        { id: 3, name: 'again without', at: null },
      ]),
    );
    expect(await database.query('select id::int, name from users order by id')).toEqual([
      { id: 1, name: 'newest' },
      { id: 2, name: 'equal and later' },
      { id: 3, name: 'again without' },
    ]);
  });

  it('keeps one record a key from the first sync on, whenever a key comes again', async () => {
    const database = await createDatabase();
    const stream = userStream('append_dedup');
    const { reports } = await writeAndReport(
      database.config,
      [stream],
      [
        // Each COMPLETE stores what came before it.
        ...input(users, [
          { id: 1, name: 'a', at: 1 },
          { id: 2, name: 'b', at: 1 },
        ]),
        // A column is widened between records of which one repeats a key.
        ...input(users, [
          { id: 3, name: 'c', at: 1 },
          { id: 4, name: 'd', at: 1.5 },
          { id: 2, name: 'b again', at: 2 },
        ]),
        ...input(users, [
          { id: 5, name: 'e', at: 1 },
          { id: 1, name: 'a of before', at: 0 },
        ]),
      ],
    );
    expect(await database.query('select id::int, name, at::float from users order by id')).toEqual([
      { id: 1, name: 'a', at: 1 },
      { id: 2, name: 'b again', at: 2 },
      { id: 3, name: 'c', at: 1 },
      { id: 4, name: 'd', at: 1.5 },
      { id: 5, name: 'e', at: 1 },
    ]);
    expect(reports).toMatchObject([{ records_written: 5 }]);
  });

  it('keeps the last that came where there is no cursor', async () => {
    const database = await createDatabase();
    const stream = configure(users, { destination_sync_mode: 'append_dedup', primary_key: [['id']] });
    const names = ['a', 'c', 'b'].map((name) => ({ id: 1, name }));
    await write(database.config, [stream], input(users, names));
    expect(await database.query('select name from users')).toEqual([{ name: 'b' }]);
  });

  it('lets a newer generation win over a newer cursor', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('append_dedup')], input(users, [{ id: 1, name: 'old', at: 9 }]));
    const refreshed = userStream('append_dedup', { generation_id: 1, minimum_generation_id: 1 });
    await write(database.config, [refreshed], input(users, [{ id: 1, name: 'new', at: 1 }]));
    expect(await database.query('select name from users')).toEqual([{ name: 'new' }]);
  });

  it('knows records with an empty part of the key by the other parts', async () => {
    const database = await createDatabase();
    const stream = userStream('append_dedup', { primary_key: [['id'], ['name']] });
    const records = [
      { id: 1, name: null, at: 1 },
      { id: 1, name: null, at: 2 },
    ];
    await write(database.config, [stream], input(users, records));
    await write(database.config, [stream], input(users, records));
    expect(await database.query('select at::int from users')).toEqual([{ at: 2 }]);
  });

  it('removes duplicates that are there from a time without it, and stops to when it is turned off', async () => {
    const database = await createDatabase();
    const doubles = [
      { id: 1, name: 'new', at: 2 },
      { id: 1, name: 'old', at: 1 },
    ];
    await write(database.config, [userStream('append')], input(users, doubles));
    await write(database.config, [userStream('append_dedup')], input(users, []));
    expect(await rowsOf(database)).toEqual([{ id: '1', name: 'new', at: '2' }]);
    await write(database.config, [userStream('append')], input(users, doubles));
    expect(await rowsOf(database)).toHaveLength(3);
  });

  it.each([
    [{}, 'Choose a primary key'],
    [{ primary_key: [['missing']] }, 'must consist of its selected fields'],
    [{ primary_key: [['id', 'nested']] }, 'must consist of its selected fields'],
    [{ primary_key: [['id']], cursor_field: ['missing'] }, 'The cursor of the stream users'],
  ])('refuses the key %j', async (more, message) => {
    const { config } = await createDatabase();
    const stream = configure(users, { destination_sync_mode: 'append_dedup', ...more });
    await expect(write(config, [stream], [])).rejects.toMatchObject({
      message: expect.stringContaining(message),
      failureType: 'config_error',
    });
  });
});

describe('states', () => {
  it('are passed on in order, those of an overwrite stream only when it is complete, others without waiting for it', async () => {
    const database = await createDatabase();
    const other = { ...users, name: 'others' };
    const streams = [userStream('overwrite'), configure(other)];
    const messages: DestinationInput[] = [
      ...input(users, [{ id: 1 }], { isComplete: false, state: stateOf('users', 1) }),
      ...input(other, [{ id: 1 }], { isComplete: false, state: stateOf('others', 2) }),
      ...input(other, [{ id: 2 }], { isComplete: false, state: stateOf('others', 3) }),
    ];
    const numbers = (states: State[]) => states.map(({ stream }) => Object.values(stream?.stream_state ?? {})[0]);
    expect(numbers(await write(database.config, streams, messages))).toEqual([2, 3]);
    expect(numbers(await write(database.config, streams, [...messages, complete(users)]))).toEqual([1, 2, 3]);
  });

  it('of all streams at once wait for every overwrite stream', async () => {
    const { config } = await createDatabase();
    const global: State = { type: 'GLOBAL', global: { stream_states: [] } };
    const messages = input(users, [{ id: 1 }], { isComplete: false, state: global });
    expect(await write(config, [userStream('overwrite')], messages)).toEqual([]);
    expect(await write(config, [userStream('overwrite')], [...messages, complete(users)])).toEqual([global]);
  });

  it('are passed on while the input continues', async () => {
    const { config } = await createDatabase();
    const program = startProgram('destination-postgres', 'write', {
      config,
      catalog: { streams: [userStream('append')] },
    });
    const [line, state] = input(users, [{ id: 1, name: 'x'.repeat(1_000_000) }], {
      isComplete: false,
      state: stateOf('users', 1),
    }).map((message) => `${JSON.stringify(message)}\n`);
    program.child.stdin.write(`${String(line).repeat(9)}${state}`);
    for await (const message of program.messages) {
      if (message.type === 'TRACE') continue;
      expect(message).toMatchObject({ type: 'STATE', state: stateOf('users', 1) });
      break;
    }
    program.child.stdin.end();
    expect(await program.exitCode).toBe(0);
  });
});

describe('two syncs at once', () => {
  it('that replace one stream leave the records of one of them, not of both', async () => {
    const database = await createDatabase();
    await write(database.config, [userStream('overwrite')], input(users, [{ id: 1 }]));
    const { host, port, database: name, username, password } = database.config;
    const somebody = new pg.Client({ host, port, database: name, user: username, password } as pg.ClientConfig);
    await somebody.connect();
    onTestFinished(() => somebody.end());
    await somebody.query('begin');
    await somebody.query('select from users for update');
    const untilWaiting = async (sessions: number) => {
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await database.query(waiting)).length < sessions) await delay(10);
    };
    // The first one was given up for dead, and the second one started in its place.
    const first = write(database.config, [userStream('overwrite', { generation_id: 2 })], input(users, [{ id: 2 }]));
    await untilWaiting(1);
    const second = write(database.config, [userStream('overwrite', { generation_id: 3 })], input(users, [{ id: 3 }]));
    await untilWaiting(2);
    await somebody.query('commit');
    await Promise.all([first, second]);
    expect(await database.query('select id::int from users')).toEqual([{ id: 3 }]);
  });

  it('write to different tables of one database and create their schema once', async () => {
    const database = await createDatabase();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      names.map((name) => {
        const stream = { ...users, name, namespace: 'new schema' };
        return write(
          database.config,
          [configure(stream, { destination_sync_mode: 'overwrite' })],
          input(stream, [{ id: 1 }]),
        );
      }),
    );
    for (const name of names) expect(await database.query(`select from "new schema".${name}`)).toHaveLength(1);
  });
});

describe('the programs of source and destination, one into the other', () => {
  it('copy a table, and then what is new in it', async () => {
    const from = await createDatabase();
    const to = await createDatabase();
    await from.client.query(`create table t (id bigint primary key, at timestamptz not null, doc jsonb);
      insert into t select n, now() + n * interval '1 microsecond', '{"a": [1]}' from generate_series(1, 25000) n`);
    const stream = await discoverStream(from.config, 't');
    const catalog = {
      streams: [
        configure(stream, {
          sync_mode: 'incremental',
          destination_sync_mode: 'append_dedup',
          cursor_field: ['at'],
          primary_key: [['id']],
        }),
      ],
    };
    const sync = async (state: State[]) => {
      const reading = startProgram('source-postgres', 'read', { config: from.config, catalog, state });
      const writing = startProgram('destination-postgres', 'write', { config: to.config, catalog });
      reading.child.stdout.pipe(writing.child.stdin);
      const states: State[] = [];
      for await (const message of writing.messages) if (message.type === 'STATE') states.push(message.state);
      expect([await reading.exitCode, await writing.exitCode]).toEqual([0, 0]);
      return states.slice(-1);
    };
    const state = await sync([]);
    await from.client.query(`update t set at = now() + interval '1 day', doc = '{}' where id <= 10`);
    await sync(state);
    const rows = 'select id::text, at, doc from t order by t.id';
    expect(await to.query(rows)).toEqual(await from.query(rows));
    expect(await to.query('select count(*)::int from t where _inlay_meta is null')).toEqual([{ count: 25_000 }]);
  });
});
