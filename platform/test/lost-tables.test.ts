/* Destination tables that someone drops or empties while the platform keeps the state of their streams. */
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../connectors/test/postgres.ts';
import { itInLongRun } from '../../scripts/long-run.ts';
import { findPostgres } from '../../scripts/postgres.mjs';
import { connectTables, deduplicated } from './tables.ts';

const hundred = `
  create table items (id int primary key, v text);
  insert into items select n, 'v' || n from generate_series(1, 100) n`;
const oneMore = `insert into items select max(id) + 1, 'new' from items`;

async function connectItems(syncMode: string, sql = hundred) {
  const connected = await connectTables(sql, { configurations: { streams: [{ name: 'items', syncMode }] } });
  const syncItems = async () => {
    const job = await connected.sync();
    expect(job).toMatchObject({ status: 'succeeded', attempts: 1, failedAttempts: 0 });
    return { ...job.streams[0], jobId: job.jobId, rowsSynced: job.rowsSynced };
  };
  const count = async ({ query }: TestDatabase = connected.target) =>
    (await query<{ count: number }>('select count(*)::int as count from items'))[0]?.count;
  return { ...connected, syncItems, count };
}

describe('deduplicated rows', () => {
  test.each([
    ['dropped', 'drop table items', 'destination_gone'],
    ['emptied by TRUNCATE', 'truncate items', 'destination_emptied'],
  ])('of a table that was %s come again in the same job, which says so', async (_, sql, code) => {
    const { source, target, syncItems, count, warnings } = await connectItems(deduplicated);
    await syncItems();
    await source.client.query(oneMore);
    await target.client.query(sql);
    const again = await syncItems();
    expect(again).toMatchObject({ recordsEmitted: 101, rowsSynced: 101, notices: [{ code }] });
    expect(await warnings(again.jobId)).toEqual([again.notices[0].message]);
    expect(await count()).toBe(101);
    await source.client.query(oneMore);
    const next = await syncItems();
    expect(next).toMatchObject({ recordsEmitted: 1, recordsWritten: 1 });
    expect(next).not.toHaveProperty('notices');
    expect(await count()).toBe(102);
  });

  test('stay where the database is dumped and restored, and come again where it is an empty one', async () => {
    const { source, target, syncItems, count, call, destinationId } = await connectItems(deduplicated);
    await syncItems();
    const moveTo = async (database: TestDatabase) =>
      await call('PATCH', `/destinations/${destinationId}`, { configuration: database.config });
    const restored = await createDatabase();
    await restore(target, restored);
    await moveTo(restored);
    await source.client.query(oneMore);
    expect(await syncItems()).toMatchObject({ recordsEmitted: 1, recordsWritten: 1 });
    expect(await count(restored)).toBe(101);
    const empty = await createDatabase();
    await moveTo(empty);
    expect(await syncItems()).toMatchObject({ recordsEmitted: 101, notices: [{ code: 'destination_gone' }] });
    expect(await count(empty)).toBe(101);
  });

  itInLongRun('of one table come again, and those of the others continue', async () => {
    const { source, target, sync } = await connectTables(`
      create table items (id int primary key); create table notes (id int primary key);
      insert into items values (1), (2); insert into notes values (1), (2)`);
    await sync();
    await source.client.query('insert into notes values (3)');
    await target.client.query('drop table items');
    const { streams } = await sync();
    expect(streams).toMatchObject([
      { streamName: 'items', recordsEmitted: 2, notices: [{ code: 'destination_gone' }] },
      { streamName: 'notes', recordsEmitted: 1 },
    ]);
  });

  itInLongRun('follow their stream to a table of another name', async () => {
    const { syncItems, target, call, connectionId } = await connectItems(deduplicated);
    await syncItems();
    await call('PATCH', `/connections/${connectionId}`, { prefix: 'new_' });
    expect(await syncItems()).toMatchObject({ recordsEmitted: 100 });
    expect(await target.query('select count(*)::int as count from new_items')).toEqual([{ count: 100 }]);
  });
});

describe('appended rows', () => {
  test('of an emptied table are not sent again, and the job says so once', async () => {
    const { source, target, syncItems, count } = await connectItems('incremental_append');
    await syncItems();
    await target.client.query('truncate items');
    expect(await syncItems()).toMatchObject({ recordsEmitted: 0, notices: [{ code: 'emptied_not_refilled' }] });
    await source.client.query(oneMore);
    const next = await syncItems();
    expect(next).toMatchObject({ recordsEmitted: 1 });
    expect(next).not.toHaveProperty('notices');
    expect(await count()).toBe(1);
  });

  itInLongRun('of a table that was dropped come again', async () => {
    const { target, syncItems, count } = await connectItems('incremental_append');
    await syncItems();
    await target.client.query('drop table items');
    expect(await syncItems()).toMatchObject({ recordsEmitted: 100, notices: [{ code: 'destination_gone' }] });
    expect(await count()).toBe(100);
  });
});

/** With the programs that are commonly used for it. */
async function restore(from: TestDatabase, to: TestDatabase): Promise<void> {
  const { postgres } = await findPostgres();
  const folder = dirname(realpathSync(postgres));
  const at = ({ config }: TestDatabase) => [
    `--host=${config.host}`,
    `--port=${config.port}`,
    `--username=${config.username}`,
    `--dbname=${config.database}`,
  ];
  const dump = execFileSync(join(folder, 'pg_dump'), [...at(from), '--no-owner']);
  execFileSync(join(folder, 'psql'), [...at(to), '--quiet', '--set=ON_ERROR_STOP=1'], { input: dump, stdio: 'pipe' });
}
