import { describe, expect, test } from 'vitest';
import { itemsStream, startSteered } from '../../test/steered.ts';
import { migrations } from '../db/migrations.ts';
import type { Stream } from '../protocol.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const others: Stream = { ...itemsStream, name: 'others' };
const replaced = { name: 'items', syncMode: 'full_refresh_overwrite' };
const continued = { name: 'others', syncMode: 'incremental_append' };

describe('a source that keeps one state for all its streams', () => {
  test.each(['GLOBAL', 'LEGACY'] as const)(
    'of the kind %s reads a replaced stream whole each time, and goes on with an incremental one',
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
  await migrations['0003-whole-stream-states']?.up(db);
  expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(0);
  expect(connection.givenState()).toBe(
    '[{"type":"STREAM","stream":{"stream_descriptor":{"name":"items"},"stream_state":{"next":10,"big":9007199254740993}}}]',
  );
});
