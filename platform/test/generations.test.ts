/* When a stream continues from its state, and when it has to be read from its start, on real tables. */
import { describe, expect, test } from 'vitest';
import { itInLongRun } from '../../scripts/long-run.ts';
import { connectTables, deduplicated } from './tables.ts';

const append = 'incremental_append';
const byKey = (...fields: string[]) => ({
  name: 'items',
  syncMode: deduplicated,
  primaryKey: fields.map((field) => [field]),
});

/** Without its own primary key, so that the connection chooses one. */
const hundred = `
  create table items (id int, g int, v text);
  insert into items select n, n % 3, 'v' || n from generate_series(1, 100) n`;

async function connectItems(stream: object, sql = hundred) {
  const connected = await connectTables(sql, { configurations: { streams: [stream] } });
  const { target } = connected;
  const rows = () => target.query<{ id: number; g: number; v: string }>('select id::int, g::int, v from items');
  const count = async () => (await rows()).length;
  const syncItems = async (body: object = {}) => {
    const job = await connected.sync(body);
    expect(job).toMatchObject({ status: 'succeeded', attempts: 1 });
    return { ...job.streams[0], jobId: job.jobId };
  };
  return { ...connected, rows, count, syncItems };
}

describe('a changed primary key', () => {
  test('starts a new generation: the rows follow the key, and come back with it', async () => {
    const { configure, syncItems, count, rows, warnings } = await connectItems(byKey('id'));
    await syncItems();
    expect(await count()).toBe(100);
    await configure(byKey('g'));
    const grouped = await syncItems();
    expect(grouped).toMatchObject({ recordsEmitted: 100, recordsWritten: 3, recordsDeleted: 97 });
    expect(grouped.notices).toMatchObject([{ code: 'key_changed' }]);
    expect(await warnings(grouped.jobId)).toEqual([grouped.notices[0].message]);
    expect((await rows()).map(({ g }) => g).sort()).toEqual([0, 1, 2]);
    await configure(byKey('id'));
    expect(await syncItems()).toMatchObject({ recordsWritten: 100, recordsDeleted: 0 });
    expect(new Set((await rows()).map(({ id }) => id)).size).toBe(100);
    expect(await syncItems()).not.toHaveProperty('notices');
    expect(await count()).toBe(100);
  });
});

test('from append to deduplication every key has its newest version, and the others are counted', async () => {
  const { source, configure, syncItems, rows, count } = await connectItems({ name: 'items', syncMode: append });
  for (const version of [1, 2]) {
    await syncItems();
    await source.client.query(`update items set v = 'version ${version} of ' || id`);
  }
  await syncItems();
  expect(await count()).toBe(300);
  await configure(byKey('id'));
  const merged = await syncItems();
  expect(merged).toMatchObject({ recordsWritten: 100, recordsDeleted: 200, notices: [{ code: 'mode_changed' }] });
  expect((await rows()).filter(({ id, v }) => v !== `version 2 of ${id}`)).toEqual([]);
  expect(await count()).toBe(100);
});

itInLongRun('from overwriting to appending no row is there twice', async () => {
  const { configure, syncItems, count } = await connectItems({ name: 'items', syncMode: 'full_refresh_overwrite' });
  await syncItems();
  await configure({ name: 'items', syncMode: append });
  expect(await syncItems()).not.toHaveProperty('notices');
  expect(await count()).toBe(100);
});

itInLongRun('from deduplication to appending the stream continues from its state', async () => {
  const { source, configure, syncItems, count } = await connectItems(byKey('id'));
  await syncItems();
  await configure({ name: 'items', syncMode: append });
  await source.client.query(`update items set v = 'changed' where id = 1`);
  expect(await syncItems()).toMatchObject({ recordsEmitted: 1 });
  expect(await count()).toBe(101);
});

test('a connection that is made again removes what the one before it left', async () => {
  const stream = byKey('id');
  const { source, call, clock, connectionId, syncItems, ended, count } = await connectItems(stream);
  await syncItems();
  for (const _ of [1, 2]) await syncItems({ jobType: 'refresh' });
  const { sourceId, destinationId } = (await call('GET', `/connections/${connectionId}`)).body;
  expect((await call('DELETE', `/connections/${connectionId}`)).status).toBe(204);
  clock.time += 60_000;
  const again = (
    await call('POST', '/connections', {
      sourceId,
      destinationId,
      namespaceDefinition: 'destination',
      configurations: { streams: [stream] },
    })
  ).body;
  const run = async (jobType: string) =>
    await ended((await call('POST', '/jobs', { connectionId: again.connectionId, jobType })).body.jobId);
  await source.client.query('delete from items where id = 1');
  expect(await run('sync')).toMatchObject({ status: 'succeeded' });
  expect(await run('refresh')).toMatchObject({ status: 'succeeded' });
  expect(await count()).toBe(99);
});
