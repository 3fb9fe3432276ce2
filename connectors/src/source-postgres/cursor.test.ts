import type { State } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import {
  configure,
  createDatabase,
  discoverStream,
  read,
  readWithKills,
  type TestDatabase,
} from '../../test/postgres.ts';

/** Its rows do not show when they changed. */
async function eventsView(type = 'timestamptz'): Promise<TestDatabase> {
  const database = await createDatabase();
  await database.client.query(`
    create table stored (id int primary key, at ${type}, what text);
    create view events as select * from stored`);
  return database;
}

async function incremental(database: TestDatabase, cursor = 'at') {
  const stream = await discoverStream(database.config, 'events');
  return configure(stream, { sync_mode: 'incremental', cursor_field: [cursor] });
}

async function readFrom(database: TestDatabase, state: State[] = [], cursor = 'at') {
  const result = await read(database.config, [await incremental(database, cursor)], state);
  const warnings = result.messages.flatMap((message) =>
    message.type === 'LOG' && message.log.level === 'WARN' ? [message.log.message] : [],
  );
  return { ...result, ids: result.records.map(({ id }) => id), state: result.states.slice(-1), warnings };
}

function cursorOf({ stream }: State): unknown {
  return Object.entries(stream?.stream_state ?? {}).find(([key]) => key === 'cursor')?.[1];
}

describe('an incremental view', () => {
  it('is read in the order of its cursor, rows without one first, and then from where it was', async () => {
    const database = await eventsView();
    await database.client.query(`insert into stored values (1, '2024-01-03'), (2, '2024-01-01'), (3, null)`);
    const first = await readFrom(database);
    expect(first.ids).toEqual([3, 2, 1]);
    expect(first.statuses).toEqual(['events STARTED', 'events COMPLETE']);
    await database.client.query(`insert into stored values (4, '2024-01-04'), (5, '2024-01-02'), (6, null)`);
    const second = await readFrom(database, first.state);
    expect(second.ids).toEqual([4]);
    // Rows 5 and 6 are missed, and the log says why.
    expect(second.warnings).toEqual([expect.stringMatching(/^events .* missed .* no at, .*higher at/)]);
  });

  it('misses no row that arrives later with the same value, and repeats none', async () => {
    const database = await eventsView('date');
    await database.client.query(`insert into stored select n, date '2024-01-01' + n % 3 from generate_series(1, 9) n`);
    const first = await readFrom(database);
    expect(first.ids).toHaveLength(9);
    // One row leaves the last value, another takes its place: a row count would not show this.
    await database.client.query(`insert into stored values (10, '2024-01-03'); delete from stored where id = 2`);
    const second = await readFrom(database, first.state);
    expect(second.ids).toEqual([10]);
    const third = await readFrom(database, second.state);
    expect(third.ids).toEqual([]);
    await database.client.query(`update stored set what = 'changed' where id = 10`);
    expect((await readFrom(database, third.state)).ids).toEqual([10]);
  });

  it('distinguishes equal rows of a table without a key by their number', async () => {
    const database = await createDatabase();
    await database.client.query(`
      create table stored (id int, at int); create view events as select * from stored;
      insert into stored values (1, 1), (1, 1)`);
    const first = await readFrom(database);
    expect(first.ids).toEqual([1, 1]);
    await database.client.query('insert into stored values (1, 1)');
    const second = await readFrom(database, first.state);
    expect(second.ids).toEqual([1]);
    expect((await readFrom(database, second.state)).ids).toEqual([]);
  });

  it('sends the rows of a value again where too many share it to be remembered', async () => {
    const database = await eventsView('date');
    await database.client.query(`insert into stored select n, '2024-01-01' from generate_series(1, 1500) n`);
    const first = await readFrom(database);
    expect(JSON.stringify(first.state).length).toBeLessThan(300);
    expect((await readFrom(database, first.state)).ids).toHaveLength(1500);
  });

  it('is not stuck at infinity', async () => {
    const database = await eventsView();
    await database.client.query(`insert into stored values (1, '2024-01-01'), (2, 'infinity')`);
    const first = await readFrom(database);
    expect(first.ids).toEqual([1, 2]);
    await database.client.query(`insert into stored values (3, '2024-01-02')`);
    expect((await readFrom(database, first.state)).ids).toEqual([3, 2]);
  });

  it('is read from the start when another column becomes the cursor, or when nothing was there', async () => {
    const database = await eventsView();
    const empty = await readFrom(database);
    expect(empty.states).toHaveLength(1);
    await database.client.query(`insert into stored values (1, null), (2, '2024-01-01')`);
    const second = await readFrom(database, empty.state);
    expect(second.ids).toEqual([1, 2]);
    expect((await readFrom(database, second.state, 'id')).ids).toEqual([1, 2]);
  });

  it.each([
    ['bigint', "'9007199254740993'", "'9007199254740994'"],
    ['numeric', "'0.10'", "'0.11'"],
    ['timestamptz', "'2024-01-01 00:00:00.000001+00'", "'2024-01-01 00:00:00.000002+00'"],
    ['text', "'it''s'", "'its'"],
    ['uuid', "'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'"],
    ['double precision', "'0.1'", "'0.2'"],
    ['time', "'10:00'", "'10:00:00.000001'"],
  ])('follows a cursor of type %s exactly', async (type, before, after) => {
    const database = await eventsView(`${type}`);
    await database.client.query(`insert into stored values (1, ${before})`);
    const { state } = await readFrom(database);
    await database.client.query(`insert into stored values (2, ${before}), (3, ${after})`);
    expect((await readFrom(database, state)).ids).toEqual([2, 3]);
  });

  it.each([
    [['doc'], 'have no order'],
    [['missing'], 'has no column missing'],
    [[], 'Choose a cursor column'],
  ])('refuses the cursor %j', async (cursor_field, message) => {
    const database = await createDatabase();
    await database.client.query('create view events as select 1 as id, null::jsonb as doc');
    const stream = await discoverStream(database.config, 'events');
    await expect(
      read(database.config, [configure(stream, { sync_mode: 'incremental', cursor_field })]),
    ).rejects.toMatchObject({ message: expect.stringContaining(message), failureType: 'config_error' });
  });

  it('emits a state for every 10,000 records, each after the records it covers', async () => {
    const database = await eventsView('int');
    await database.client.query(`insert into stored select n, n / 7 from generate_series(1, 25000) n`);
    const { messages } = await readFrom(database);
    let records = 0;
    const seen: [number, unknown][] = [];
    for (const message of messages) {
      if (message.type === 'RECORD') records += 1;
      if (message.type === 'STATE') {
        seen.push([records, cursorOf(message.state)]);
      }
    }
    expect(seen).toEqual([
      [10_000, '1428'],
      [20_000, '2857'],
      [25_000, '3571'],
    ]);
  });

  it('loses and repeats nothing when the program is killed after any state and started again from it', async () => {
    const database = await eventsView('int');
    await database.client.query(`insert into stored select n, n / 300 from generate_series(1, 45000) n`);
    const { ids, kills } = await readWithKills(database, await incremental(database), 45_000);
    expect(kills).toBe(4);
    expect(ids).toEqual(Array.from({ length: 45_000 }, (_, index) => index + 1));
  });
});
