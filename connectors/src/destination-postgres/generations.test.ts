/* New generations of a stream, and tables that someone else dropped or emptied. */

import type { ConfiguredStream, State, Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import { configure, createDatabase, input, type TestDatabase, writeAndReport } from '../../test/postgres.ts';

const stream: Stream = {
  name: 't',
  supported_sync_modes: ['incremental'],
  json_schema: {
    type: 'object',
    properties: { id: { type: 'integer' }, g: { type: 'integer' }, at: { type: 'integer' } },
  },
};
const deletable: Stream = {
  ...stream,
  json_schema: {
    type: 'object',
    properties: { id: { type: 'integer' }, _ab_cdc_deleted_at: { type: ['string', 'null'] } },
  },
};
const state: State = { type: 'STREAM', stream: { stream_descriptor: { name: 't' }, stream_state: { next: 1 } } };
const rowsOf = (count: number) => Array.from({ length: count }, (_, id) => ({ id, g: id % 3, at: id }));

const keyed = (key: string, more: Partial<ConfiguredStream> = {}) =>
  configure(stream, { destination_sync_mode: 'append_dedup', primary_key: [[key]], generation_id: 1, ...more });
const appended = (more: Partial<ConfiguredStream> = {}) =>
  configure(stream, { destination_sync_mode: 'append', generation_id: 1, ...more });
const generation = (number: number) => ({ generation_id: number, minimum_generation_id: number });

async function write(
  { config }: TestDatabase,
  configured: ConfiguredStream,
  records: Record<string, unknown>[] = [],
  more: Parameters<typeof input>[2] = { state },
) {
  const { reports, states, holdings } = await writeAndReport(config, [configured], input(stream, records, more));
  return { report: reports[0], states, holdings, held: holdings.findLast(({ held }) => held !== undefined)?.held };
}

const countRows = async ({ query }: TestDatabase) =>
  (await query<{ count: number }>('select count(*)::int as count from t'))[0]?.count;

describe('a new generation with another key', () => {
  it('replaces the rows at its end: a reader sees the old ones until then', async () => {
    const database = await createDatabase();
    await write(database, keyed('id'), rowsOf(9));
    const cut = await write(database, keyed('g', generation(2)), rowsOf(5), { state, isComplete: false });
    expect(cut).toMatchObject({ states: [], report: { records_written: 0 } });
    expect(await countRows(database)).toBe(9);
    const { report, states } = await write(database, keyed('g', generation(2)), rowsOf(9));
    expect(report).toMatchObject({ records_written: 3, records_deleted: 6 });
    expect(states).toEqual([state]);
    expect(await database.query('select id::int from t order by g')).toEqual([{ id: 6 }, { id: 7 }, { id: 8 }]);
  });

  it('continues with its own rows, also while the platform does not know yet that it is complete', async () => {
    const database = await createDatabase();
    await write(database, keyed('id'), rowsOf(9));
    await write(database, keyed('g', generation(2)), rowsOf(9));
    const { report } = await write(database, keyed('g', generation(2)), [{ id: 100, g: 1, at: 100 }]);
    expect(report).toMatchObject({ records_written: 1, records_deleted: 0 });
    expect(await countRows(database)).toBe(3);
  });

  it('keeps what it has stored where someone drops the index of its key', async () => {
    const database = await createDatabase();
    await write(database, keyed('id', generation(2)), rowsOf(9), { state, isComplete: false });
    await database.query(`do $$ begin execute format('drop index %I',
      (select indexname from pg_indexes where tablename = 't')); end $$`);
    await write(database, keyed('id', generation(2)), [{ id: 100, g: 0, at: 100 }]);
    expect(await countRows(database)).toBe(10);
  });
});

it('a new generation with the same key overwrites row by row, and removes and counts what it did not bring', async () => {
  const database = await createDatabase();
  await write(database, keyed('id'), rowsOf(9));
  const cut = await write(database, keyed('id', generation(2)), rowsOf(2), { state, isComplete: false });
  expect(cut.states).toEqual([state]);
  expect(await countRows(database)).toBe(9);
  const { report } = await write(database, keyed('id', generation(2)), rowsOf(5));
  expect(report).toMatchObject({ records_written: 5, records_deleted: 4 });
  expect(await countRows(database)).toBe(5);
});

it('records that say that they were deleted are no part of a new generation', async () => {
  const database = await createDatabase();
  const configured: Partial<ConfiguredStream> = { destination_sync_mode: 'append_dedup', primary_key: [['id']] };
  await write(database, configure(deletable, { destination_sync_mode: 'append' }), [{ id: 1 }, { id: 2 }]);
  const gone = { id: 2, _ab_cdc_deleted_at: '2024-01-01' };
  await write(database, configure(deletable, { ...configured, ...generation(1) }), [{ id: 1 }, { id: 2 }, gone]);
  expect(await database.query('select id::int from t')).toEqual([{ id: 1 }]);
});

it('without a new generation, rows of one key are merged into the newest, and the others are counted', async () => {
  const database = await createDatabase();
  // All of one generation, cursor and moment: what came last counts.
  for (const g of [0, 1, 2]) {
    await write(database, appended({ sync_id: g }), [
      { id: 1, g, at: 7 },
      { id: 2, g, at: 7 },
    ]);
  }
  const { report } = await write(database, keyed('id', { cursor_field: ['at'] }));
  expect(report).toMatchObject({ records_written: 0, records_deleted: 4 });
  expect(await database.query('select id::int, g::int from t order by id')).toEqual([
    { id: 1, g: 2 },
    { id: 2, g: 2 },
  ]);
});

describe('what the platform keeps with a state', () => {
  it('is reported before the state, and again only when it changes', async () => {
    const database = await createDatabase();
    const { held, holdings } = await write(database, keyed('id'), rowsOf(1));
    expect(holdings.map((each) => JSON.parse(each.held ?? ''))).toEqual([{ table: expect.any(String), rows: true }]);
    expect((await write(database, keyed('id', { inlay_held: held ?? null }), rowsOf(2))).holdings).toEqual([]);
  });

  it('says that a table is empty which the records of its source have emptied', async () => {
    const database = await createDatabase();
    const configured = configure(deletable, { destination_sync_mode: 'append_dedup', primary_key: [['id']] });
    const { held } = await write(database, configured, [{ id: 1 }]);
    const gone = { id: 1, _ab_cdc_deleted_at: '2024-01-01' };
    const emptied = await write(database, { ...configured, inlay_held: held ?? null }, [gone]);
    expect(JSON.parse(emptied.held ?? '')).toMatchObject({ rows: false });
    const next = await write(database, { ...configured, inlay_held: emptied.held ?? null });
    expect(next.holdings).toEqual([]);
  });

  it('says that there are rows where someone else empties the table while the sync runs', async () => {
    const database = await createDatabase();
    const { held } = await write(database, keyed('id'), rowsOf(3));
    async function* whileEmptied() {
      yield input(stream, [], { state, isComplete: false });
      await database.query('truncate t');
      yield input(stream, [], { state });
    }
    await writeAndReport(database.config, [keyed('id', { inlay_held: held ?? null })], whileEmptied());
    expect((await write(database, keyed('id', { inlay_held: held ?? null }))).holdings).toMatchObject([
      { lost: 'emptied' },
    ]);
  });
});

describe('a table that the platform keeps a state for', () => {
  const copy = (where: string) =>
    `create table copy as select * from t ${where}; drop table t; alter table copy rename to t`;
  const key = `(select indexname from pg_indexes where tablename = 't')`;

  it.each([
    ['dropped', 'drop table t', 'gone', 'gone'],
    ['dropped with its schema', 'drop schema public cascade', 'gone', 'gone'],
    ['made again, empty', copy('with no data'), 'gone', 'gone'],
    ['made again, with its rows', copy(''), 'gone', 'gone'],
    ['emptied by TRUNCATE', 'truncate t', 'emptied', undefined],
    ['emptied by DELETE', 'delete from t', 'emptied', undefined],
  ])('is lost when it was %s, and nothing is stored', async (_, sql, lostByKey, lostAppended) => {
    for (const [configured, lost] of [
      [keyed('id'), lostByKey],
      [appended(), lostAppended],
    ] as const) {
      const database = await createDatabase();
      const { held } = await write(database, configured, rowsOf(3));
      await database.query(sql);
      const again = { ...configured, inlay_held: held ?? null };
      const { holdings, states } = await write(database, again, [{ id: 9, g: 9, at: 9 }]);
      if (lost) {
        expect(holdings).toEqual([{ stream_descriptor: expect.objectContaining({ name: 't' }), lost }]);
        expect(states).toEqual([]);
        // Every time it is asked, until the platform has forgotten the state.
        expect((await write(database, again)).holdings).toMatchObject([{ lost }]);
      } else {
        expect(holdings[0]).toMatchObject({ is_emptied: true });
        expect(states).toEqual([state]);
        expect(await countRows(database)).toBe(1);
      }
    }
  });

  it.each([
    ['VACUUM FULL', 'vacuum full t'],
    ['CLUSTER', `do $$ begin execute format('cluster t using %I', ${key}); end $$`],
    ['a change of its storage', 'alter table t set unlogged; alter table t set logged'],
    ['a change of a column', 'alter table t alter g type text; alter table t alter g type bigint using g::bigint'],
    ['another name for a while', 'alter table t rename to u; alter table u rename to t'],
    ['other comments', `comment on table t is 'mine'; comment on column t.id is 'mine too'`],
    ['the loss of single rows', 'delete from t where id < 2'],
    ['another owner', 'create role inlay_other; alter table t owner to inlay_other'],
  ])('is the same after %s', async (_, sql) => {
    const database = await createDatabase();
    const { held } = await write(database, keyed('id'), rowsOf(3));
    await database.query(sql);
    const next = await write(database, keyed('id', { inlay_held: held ?? null }), [{ id: 9, g: 9, at: 9 }]);
    expect(next).toMatchObject({ holdings: [], states: [state], report: { records_written: 1 } });
    await database.query('drop table t; drop role if exists inlay_other');
  });

  it('is missed where it is not there, also by a state that an earlier version kept', async () => {
    const database = await createDatabase();
    expect((await write(database, keyed('id', { inlay_held: null }))).holdings).toMatchObject([{ lost: 'gone' }]);
  });

  it('is taken as it is where an earlier version kept the state, or where the user may not comment on it', async () => {
    const database = await createDatabase();
    await write(database, appended(), rowsOf(3));
    await database.query(`comment on column t._inlay_generation is null`);
    const marked = await write(database, appended({ inlay_held: null }), [{ id: 9 }]);
    expect(JSON.parse(marked.held ?? '')).toEqual({ table: expect.any(String), rows: true });
    const role = `inlay_writer_${String(database.config.database).slice(-12)}`;
    await database.query(`comment on column t._inlay_generation is null;
      create role ${role} login; grant all on t to ${role}; grant temporary on database ${database.config.database} to ${role}`);
    const writer = { ...database, config: { ...database.config, username: role } };
    const { held, holdings } = await write(writer, appended({ inlay_held: null }), [{ id: 10 }]);
    expect(holdings).toHaveLength(1);
    expect(JSON.parse(held ?? '')).toEqual({ rows: true });
    expect((await write(writer, appended({ inlay_held: held ?? null }))).holdings).toEqual([]);
    await database.query(`drop owned by ${role}; drop role ${role}`);
  });
});
