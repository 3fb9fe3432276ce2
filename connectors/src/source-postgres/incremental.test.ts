import type { ConfiguredStream, State } from '@inlay/protocol/protocol';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  collectingEmitter,
  configure,
  createDatabase,
  discoverStream,
  read,
  readWithKills,
  surroundings,
  type TestDatabase,
} from '../../test/postgres.ts';
import type { SavedChanges } from './changes.ts';
import { connector } from './source-postgres.ts';

async function eventsTable(): Promise<TestDatabase> {
  const database = await createDatabase();
  await database.client.query('create table events (id int primary key, at timestamptz, what text)');
  return database;
}

/** With a cursor, rows are found in the same way as without. */
async function incremental(database: TestDatabase, cursor?: string): Promise<ConfiguredStream> {
  const stream = await discoverStream(database.config, 'events');
  return configure(stream, { sync_mode: 'incremental', ...(cursor !== undefined && { cursor_field: [cursor] }) });
}

async function readFrom(database: TestDatabase, state: State[] = [], cursor?: string) {
  const result = await read(database.config, [await incremental(database, cursor)], state);
  const logs = result.messages.flatMap((message) => (message.type === 'LOG' ? [message.log.message] : []));
  return { ...result, ids: result.records.map(({ id }) => id), state: result.states.slice(-1), logs };
}

/** Another session. */
async function session({ config }: TestDatabase): Promise<pg.Client> {
  const { host, port, database, username: user, password } = config as Record<string, string>;
  const client = new pg.Client({ host, port: Number(port), database, user, password });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/**
 * Waits until no transaction is open on the server, in any database, that started before the last one of this database:
 * rows sent next to such a transaction are sent again.
 */
async function untilSeenByAll({ client }: TestDatabase): Promise<void> {
  const { rows } = await client.query('select pg_current_xact_id()::text::bigint as id');
  const oldestOpen = async () =>
    BigInt((await client.query('select pg_snapshot_xmin(pg_current_snapshot())::text as id')).rows[0].id);
  await expect.poll(oldestOpen, { timeout: 600_000 }).toBeGreaterThan(BigInt(rows[0].id));
}

function savedIn([state]: State[]): SavedChanges {
  return state?.stream?.stream_state as SavedChanges;
}

function withSaved(saved: object): State[] {
  const stream_descriptor = { name: 'events', namespace: 'public' };
  return [{ type: 'STREAM', stream: { stream_descriptor, stream_state: saved } }];
}

describe.each([undefined, 'at'])('an incremental table with the cursor %s', (cursor) => {
  it('brings a row that is committed late, after a row with a higher cursor was read', async () => {
    const database = await eventsTable();
    const [one, two] = [await session(database), await session(database)];
    await one.query('begin');
    await one.query(`insert into events values (1, '2024-01-01')`);
    await two.query(`insert into events values (2, '2024-01-02')`);
    const first = await readFrom(database, [], cursor);
    expect(first.ids).toEqual([2]);
    await one.query('commit');
    const second = await readFrom(database, first.state, cursor);
    expect(second.ids).toEqual([1]);
    expect((await readFrom(database, second.state, cursor)).ids).toEqual([]);
  });

  it('brings rows of a subtransaction that is committed late', async () => {
    const database = await eventsTable();
    const [one, two] = [await session(database), await session(database)];
    await one.query('begin');
    await one.query(`insert into events values (1, '2024-01-01')`);
    await one.query('savepoint a');
    await one.query(`insert into events values (2, '2024-01-01')`);
    await two.query(`insert into events values (3, '2024-01-02')`);
    await one.query('savepoint b');
    await one.query(`insert into events values (4, '2024-01-01')`);
    await two.query(`insert into events values (5, '2024-01-02')`);
    const first = await readFrom(database, [], cursor);
    expect(first.ids).toEqual([3, 5]);
    await one.query('commit');
    const second = await readFrom(database, first.state, cursor);
    expect(second.ids).toEqual([1, 2, 4]);
    expect((await readFrom(database, second.state, cursor)).ids).toEqual([]);
  });

  it('brings rows without a cursor value, new and changed ones', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1, null), (2, '2024-01-01')`);
    const first = await readFrom(database, [], cursor);
    expect(first.ids).toEqual([1, 2]);
    await database.client.query(`insert into events values (3, null); update events set at = null where id = 2`);
    const second = await readFrom(database, first.state, cursor);
    expect(second.ids).toEqual([3, 2]);
    expect((await readFrom(database, second.state, cursor)).ids).toEqual([]);
  });

  it('brings a change that lowers the cursor', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1, '2024-01-01'), (2, '2024-01-02')`);
    const first = await readFrom(database, [], cursor);
    await database.client.query(`update events set at = '2020-01-01' where id = 2`);
    expect((await readFrom(database, first.state, cursor)).ids).toEqual([2]);
  });
});

describe('an incremental table', () => {
  it('needs neither a cursor nor a key', async () => {
    const database = await createDatabase();
    await database.client.query(`create table events (id jsonb); insert into events values ('1'), ('1')`);
    expect(await discoverStream(database.config, 'events')).toMatchObject({
      supported_sync_modes: ['full_refresh', 'incremental'],
      source_defined_cursor: true,
    });
    const first = await readFrom(database);
    expect(first.ids).toEqual([1, 1]);
    await database.client.query(`insert into events values ('1')`);
    expect((await readFrom(database, first.state)).ids).toEqual([1]);
  });

  it('repeats nothing of what ended while an older transaction stays open', async () => {
    const database = await eventsTable();
    const open = await session(database);
    await open.query('begin');
    await open.query(`insert into events values (1)`);
    await database.client.query(`insert into events values (2)`);
    const first = await readFrom(database);
    await database.client.query(`insert into events values (3)`);
    const second = await readFrom(database, first.state);
    const third = await readFrom(database, second.state);
    expect([first.ids, second.ids, third.ids]).toEqual([[2], [3], []]);
    await open.query('commit');
    expect((await readFrom(database, third.state)).ids).toEqual([1]);
  });

  it('leaves out nothing when more transactions end meanwhile than are remembered', async () => {
    const database = await eventsTable();
    const open = await session(database);
    await open.query('begin');
    await open.query(`insert into events values (0)`);
    // Each exception handler is a subtransaction with its own id.
    await database.client.query(`do $$ begin
      for n in 1..2100 loop
        begin insert into events values (n); exception when others then raise; end;
      end loop; end $$`);
    const first = await readFrom(database);
    expect(first.ids).toHaveLength(2100);
    expect(first.logs).toEqual([expect.stringContaining('sent again')]);
    expect(JSON.stringify(first.state).length).toBeLessThan(50_000);
    expect((await readFrom(database, first.state)).ids).toHaveLength(100);
    await open.query('commit');
    expect((await readFrom(database, first.state)).ids).toContain(0);
  });

  it('is read from the start when more transactions have passed than ids can distinguish', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1)`);
    const { complete } = savedIn((await readFrom(database)).state);
    const longAgo = BigInt(complete?.open_from ?? 0) - 2n ** 31n;
    const state = withSaved({ complete: { ...complete, open_from: String(longAgo) } });
    const { ids, logs } = await readFrom(database, state);
    expect(ids).toEqual([1]);
    expect(logs).toEqual([expect.stringMatching(/^events is read from the start: .*transactions/)]);
  });

  it.each([
    ['of another server', { history: '1/1' }, 'the server was replaced'],
    ['of a time that has not come', { open_from: String(2n ** 60n) }, 'reset to an earlier point in time'],
  ])('is read from the start after a state %s', async (_, change, reason) => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1)`);
    const { complete } = savedIn((await readFrom(database)).state);
    const { ids, logs } = await readFrom(database, withSaved({ complete: { ...complete, ...change } }));
    expect(ids).toEqual([1]);
    expect(logs).toEqual([expect.stringContaining(reason)]);
  });

  it('brings all rows of a partition that is attached, and of a table that takes the name of another', async () => {
    const database = await createDatabase();
    const { client } = database;
    await client.query(`
      create table events (id int, at int) partition by range (at);
      create table events_1 partition of events for values from (1) to (2);
      create table events_2 (id int, at int); create table other (id int, at int);
      insert into events values (1, 1); insert into events_2 values (2, 2); insert into other values (3, 3)`);
    const first = await readFrom(database);
    expect(first.ids).toEqual([1]);
    await client.query('alter table events attach partition events_2 for values from (2) to (3)');
    const second = await readFrom(database, first.state);
    expect(second.ids).toEqual([2]);
    await client.query('alter table events rename to old; alter table other rename to events');
    expect((await readFrom(database, second.state)).ids).toEqual([3]);
  });

  it('brings the rows in which a new column has a value', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1), (2)`);
    const first = await readFrom(database);
    await database.client.query('alter table events add column empty text');
    const second = await readFrom(database, first.state);
    expect(second.ids).toEqual([]);
    // No row is written for it.
    await database.client.query('alter table events add column filled int default 7');
    const third = await readFrom(database, second.state);
    expect(third.records).toMatchObject([
      { id: 1, filled: 7 },
      { id: 2, filled: 7 },
    ]);
    expect((await readFrom(database, third.state)).ids).toEqual([]);
  });

  it('continues from a cursor that an earlier version has kept', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events values (1, '2024-01-01'), (2, '2024-01-02'), (3, null)`);
    await untilSeenByAll(database);
    const kept = withSaved({ cursor_field: ['at'], cursor: '2024-01-02 00:00:00+00', sent_at_cursor: [] });
    const first = await readFrom(database, kept, 'at');
    // The row without a value may never have been sent.
    expect(first.ids).toEqual([3, 2]);
    await database.client.query(`insert into events values (4, '2023-01-01')`);
    expect((await readFrom(database, first.state, 'at')).ids).toEqual([4]);
  });

  it('fails as a transient error when a table was rewritten since the sync began', async () => {
    const database = await createDatabase();
    const { client, config } = database;
    await client.query(`create table a as select 1 as id; create table b as select 1 as id`);
    const streams = await Promise.all(['a', 'b'].map(async (name) => configure(await discoverStream(config, name))));
    const { emitter } = collectingEmitter();
    const reading = connector.read(
      config,
      { streams },
      [],
      {
        ...emitter,
        recordOf: () => client.query('alter table b alter column id type bigint').then(() => {}),
      },
      surroundings,
    );
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(/table b was rewritten/),
      failureType: 'transient_error',
    });
  });

  it('leaves the settings of the server as they are for the streams after it', async () => {
    const { client, config } = await createDatabase();
    await client.query(`
      create table a as select 1 as id; alter database ${config.database} set enable_bitmapscan = off;
      create view b as select current_setting('enable_indexscan') as one, current_setting('enable_bitmapscan') as two`);
    const streams = [
      configure(await discoverStream(config, 'a'), { sync_mode: 'incremental' }),
      configure(await discoverStream(config, 'b')),
    ];
    expect((await read(config, streams)).records).toEqual([{ id: 1 }, { one: 'on', two: 'off' }]);
  });

  it('emits a state for every 10,000 records, each after the records it covers', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events (id) select n from generate_series(1, 25000) n`);
    const { messages } = await readFrom(database);
    let records = 0;
    const seen: number[] = [];
    for (const message of messages) {
      if (message.type === 'RECORD') records += 1;
      if (message.type === 'STATE') seen.push(records);
    }
    expect(seen).toEqual([10_000, 20_000, 25_000]);
  });

  it.each([
    ['a table', 'create table events (id int primary key, at int)'],
    [
      'partitions',
      `create table events (id int, at int) partition by range (id);
       create table a partition of events for values from (0) to (4000);
       create table b partition of events for values from (4000) to (8000);
       create table c partition of events for values from (8000) to (99999)`,
    ],
  ])('loses and repeats nothing of %s when the program is killed after any state and continues', async (_, sql) => {
    const database = await createDatabase();
    await database.client.query(`${sql}; insert into events select n from generate_series(1, 45000) n`);
    const { ids, kills } = await readWithKills(database, await incremental(database), 45_000);
    expect(kills).toBe(4);
    expect(ids).toEqual(Array.from({ length: 45_000 }, (_, index) => index + 1));
  });

  it('brings what changed at places that were passed when an earlier run was cut off', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events (id) select n from generate_series(1, 15000) n`);
    const { states } = await readFrom(database);
    const cutOff = states.slice(0, 1);
    // Freed places are taken again, before and after the place of the state.
    await database.client.query(`delete from events where id in (1, 2, 14999)`);
    await database.client.query('vacuum events');
    await database.client.query(`insert into events (id) values (20001), (20002), (20003), (20004)`);
    await database.client.query(`update events set what = 'changed' where id in (3, 15000)`);
    const { records } = await readFrom(database, cutOff);
    const ids = records.map(({ id }) => Number(id));
    for (const id of [3, 12_000, 15_000, 20_001, 20_002, 20_003, 20_004]) expect(ids).toContain(id);
    expect(records.filter(({ what }) => what === 'changed').map(({ id }) => id)).toEqual(
      expect.arrayContaining([3, 15_000]),
    );
  });

  it('reads a table from its start when its rows were moved while a run was cut off', async () => {
    const database = await eventsTable();
    await database.client.query(`insert into events (id) select n from generate_series(15000, 1, -1) n`);
    const { states } = await readFrom(database);
    await database.client.query('cluster events using events_pkey');
    const { ids } = await readFrom(database, states.slice(0, 1));
    expect(new Set(ids).size).toBe(15_000);
  });
});
