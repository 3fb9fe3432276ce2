/* From one PostgreSQL to another through the platform's API and scheduler, while the tables at the source change. */
import { describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { startPlatform } from './start-platform.ts';
import { until } from './steered.ts';

const deduplicated = 'incremental_deduped_history';

/** A connection of the tables `items` and `notes`, each record once. */
async function connect(sql: string, more: object = {}) {
  const [source, target] = [await createDatabase(), await createDatabase()];
  await source.client.query(sql);
  const { platform, call } = await startPlatform({ allowPrivateNetworks: true });
  platform.start();
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'tables' })).body;
  const create = async (kind: 'source' | 'destination', definitionId: string, { config }: TestDatabase) =>
    (await call('POST', `/${kind}s`, { name: kind, workspaceId, definitionId, configuration: config })).body[
      `${kind}Id`
    ];
  const { body: connection } = await call('POST', '/connections', {
    sourceId: await create('source', '9e0b7c34-52a1-4d6f-b8e3-1f46a7d05c92', source),
    destinationId: await create('destination', '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043', target),
    namespaceDefinition: 'destination',
    configurations: {
      streams: [
        { name: 'items', syncMode: deduplicated },
        { name: 'notes', syncMode: deduplicated },
      ],
    },
    ...more,
  });
  const { connectionId } = connection;
  const sync = async () => {
    const { jobId } = (await call('POST', '/jobs', { connectionId, jobType: 'sync' })).body;
    let job = (await call('GET', `/jobs/${jobId}`)).body;
    await until(async () => {
      job = (await call('GET', `/jobs/${jobId}`)).body;
      return job.lastUpdatedAt !== undefined;
    });
    return job;
  };
  const columns = async (table: string) =>
    (
      await target.query<{ name: string }>(
        `select column_name as name from information_schema.columns
         where table_name = $1 and column_name not like '\\_inlay%' order by ordinal_position`,
        [table],
      )
    ).map(({ name }) => name);
  return { source, target, sync, columns, call, connectionId };
}

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
    expect(await sync()).toMatchObject({ status: 'succeeded' });
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
        message:
          'The source has no stream notes any more. Take it out of the connection. All other streams were moved.',
      },
    });
    expect(await target.query('select count(*)::int as count from items')).toEqual([{ count: 2 }]);
    expect((await call('GET', `/connections/${connectionId}`)).body.status).toBe('active');
    await source.client.query(`insert into items values (6, '{}')`);
    expect(await sync()).toMatchObject({ status: 'failed', rowsSynced: 1 });
  });
});
