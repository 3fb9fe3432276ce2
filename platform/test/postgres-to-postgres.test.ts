/* From one PostgreSQL to another through the platform's API and scheduler, while the source tables change. */
import { describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../connectors/test/postgres.ts';
import { connectTables as connect } from './tables.ts';

const twoTables = `
  create table items (id bigint primary key, doc jsonb);
  create table notes (id int primary key, text text);
  insert into items values (9007199254740993, '{"n": 9007199254740993, "d": 0.10000000000000000000001}');
  insert into notes values (1, 'one')`;

describe('tables that change', () => {
  test('arrive digit for digit, without a cursor, and only what is new', async () => {
    const { source, target, sync } = await connect(twoTables);
    expect(await sync()).toMatchObject({ status: 'succeeded', rowsSynced: 2 });
    await source.client.query(`
      insert into items values (9007199254740992, '1e400'), (9007199254740994, '[-1e-7, 1.5]');
      update notes set text = 'changed'`);
    expect(await sync()).toMatchObject({ status: 'succeeded', rowsSynced: 3 });
    const rows = (database: TestDatabase) =>
      database.query(`select id::text, doc::text from items union all select id::text, text from notes order by 1`);
    expect(await rows(target)).toEqual(await rows(source));
    expect(await sync()).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
  });

  test.each([
    ['ignore', ['id', 'text'], []],
    ['propagate_columns', ['id', 'text', 'added'], []],
    ['propagate_fully', ['id', 'text', 'added'], ['id']],
  ])('%s: a new column gives %j, a new table %j', async (behavior, noteColumns, newColumns) => {
    const { source, target, sync, columns } = await connect(twoTables, {
      nonBreakingSchemaUpdatesBehavior: behavior,
    });
    expect(await sync()).toMatchObject({ status: 'succeeded' });
    // The row that was there has the value without having been written.
    await source.client.query(`
      alter table notes add column added int default 7; insert into notes values (2, 'two');
      create table new_ones (id int primary key); insert into new_ones values (1)`);
    const { status, streams } = await sync();
    expect(status).toBe('succeeded');
    // The row that was there gets the value too.
    expect(streams.flatMap(({ notices = [] }) => notices)).toEqual([]);
    expect(await columns('notes')).toEqual(noteColumns);
    expect(await columns('new_ones')).toEqual(newColumns);
    const list = noteColumns.map((name) => (name === 'text' ? name : `${name}::int`)).join(', ');
    const rows = ({ query }: TestDatabase) => query(`select ${list} from notes order by id`);
    expect(await rows(target)).toEqual(await rows(source));
  });

  test('a table that is dropped stops its stream, and the others move on', async () => {
    const { source, target, sync, call, connectionId } = await connect(twoTables);
    expect(await sync()).toMatchObject({ status: 'succeeded' });
    await source.client.query(`drop table notes; insert into items values (5, '{}')`);
    expect(await sync()).toMatchObject({
      status: 'failed',
      rowsSynced: 1,
      failureReason: {
        message: expect.stringMatching(/ stream notes\. .*other streams were synced/),
      },
    });
    expect(await target.query('select count(*)::int as count from items')).toEqual([{ count: 2 }]);
    expect((await call('GET', `/connections/${connectionId}`)).body.status).toBe('active');
    await source.client.query(`insert into items values (6, '{}')`);
    expect(await sync()).toMatchObject({ status: 'failed', rowsSynced: 1 });
  });
});
