import type { Stream } from '@inlay/protocol/protocol';
import { describe, expect, test } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { nthGeneration } from '../../test/start-platform.ts';
import { itemsStream, startSteered } from '../../test/steered.ts';
import { migrations } from '../db/migrations.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const others: Stream = { ...itemsStream, name: 'others' };
const replaced = { name: 'items', syncMode: 'full_refresh_overwrite' };
const continued = { name: 'others', syncMode: 'incremental_append' };

const kinds = isLongRun ? (['GLOBAL', 'LEGACY'] as const) : (['GLOBAL'] as const);

describe('a source that keeps one state for all its streams', () => {
  test.each(kinds)(
    'of the kind %s reads a replaced stream whole each time, and continues with an incremental one',
    async (states) => {
      const { connect, ended } = await startSteered();
      const connection = await connect();
      connection.setCatalog(itemsStream, others);
      connection.steer({ states });
      const count = (stream: string) => connection.written().filter((line) => line.startsWith(`["${stream}"`)).length;
      await connection.configure(replaced, continued);
      expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 20 });
      expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
      expect(connection.ids()).toEqual([...range(0, 10), ...range(0, 10)]);
      expect(count('others')).toBe(10);
      expect(connection.givenState()).not.toContain('items');
      if (states === 'GLOBAL') expect(connection.givenState()).toContain('"shared_state":{"lsn":1}');
    },
  );

  test.each(kinds)('of the kind %s forgets in it only the stream that is read from its start', async (states) => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect();
    connection.setCatalog(itemsStream, others);
    connection.steer({ states });
    const { connectionId } = connection;
    const count = (stream: string) => connection.written().filter((line) => line.startsWith(`["${stream}"`)).length;
    const run = async (body: object = {}) =>
      await ended((await call('POST', '/jobs', { connectionId, jobType: 'sync', ...body })).body.jobId);
    await connection.configure({ ...continued, name: 'items' }, continued);
    expect(await run()).toMatchObject({ rowsSynced: 20 });
    const causes: [string, () => unknown, object?][] = [
      [
        'mode_changed',
        () => connection.configure({ name: 'items', syncMode: 'incremental_deduped_history' }, continued),
      ],
      ['refreshed', () => undefined, { jobType: 'refresh', streams: [{ name: 'items' }] }],
      ['destination_gone', () => connection.setLost({ stream_descriptor: { name: 'items' }, lost: 'gone' })],
    ];
    for (const [code, happen, body] of causes) {
      await happen();
      expect(await run(body), code).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
      expect(connection.catalog().streams[0], code).not.toHaveProperty('inlay_held');
      expect(await run()).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
    }
    expect([count('items'), count('others')]).toEqual([40, 10]);
  });

  itInLongRun('that has no parts for streams starts all of them over when one is cleared or starts over', async () => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect();
    connection.setCatalog(itemsStream, others);
    connection.steer({ states: 'SHARED' });
    const { connectionId } = connection;
    const run = async (body: object = {}) =>
      await ended((await call('POST', '/jobs', { connectionId, jobType: 'sync', ...body })).body.jobId);
    await connection.configure({ ...continued, name: 'items' }, continued);
    await run();
    await run({ jobType: 'clear', streams: [{ name: 'items' }] });
    const again = await run();
    expect(connection.ids()).toEqual([...range(0, 10), ...range(0, 10)]);
    // What was appended comes a second time, and replaces the first.
    expect(again.streams[1]).toMatchObject({ notices: [{ code: 'state_shared' }] });
    expect(connection.catalog().streams[1]).toMatchObject({
      generation_id: nthGeneration(2),
      minimum_generation_id: nthGeneration(2),
    });
    await connection.configure({ name: 'items', syncMode: 'incremental_deduped_history' }, continued);
    const { streams } = await run();
    expect(streams).toMatchObject([{ notices: [{ code: 'mode_changed' }] }, { notices: [{ code: 'state_shared' }] }]);
    expect(connection.catalog().streams[1]).toMatchObject({
      generation_id: nthGeneration(3),
      minimum_generation_id: nthGeneration(3),
    });
    expect(await run()).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
  });

  test('is given none when all its streams are read whole', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect();
    for (const states of ['GLOBAL', 'LEGACY'] as const) {
      connection.steer({ states });
      for (const _ of [1, 2]) {
        expect(await ended((await connection.sync()).jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
        expect(connection.givenState()).toBeUndefined();
      }
    }
  });
});

test('a state that an earlier version kept is handed back whole', async () => {
  const { connect, ended, platform } = await startSteered();
  const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
  await ended((await connection.sync()).jobId);
  const { db } = platform.store;
  await db.updateTable('connection_streams').set({ state: '{"next":10,"big":9007199254740993}' }).execute();
  await migrations['0003-whole-stream-states']?.(db);
  expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(0);
  expect(connection.givenState()).toBe(
    '[{"type":"STREAM","stream":{"stream_descriptor":{"name":"items"},"stream_state":{"next":10,"big":9007199254740993}}}]',
  );
});
