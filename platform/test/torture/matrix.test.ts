/**
 * Hard values from every kind of source to every kind of destination: each arrives, or the outcome of the sync says which
 * field lost how many. Everything follows from INLAY_TORTURE_SEED. A short run tries every source with a third of the
 * destinations, and one way of writing for each pair; INLAY_LONG_TESTS all pairs, and INLAY_TORTURE_ALL all ways of writing
 * for all pairs.
 */

import { parseJson, stringifyJson } from '@inlay/protocol/json';
import type { ConfiguredStream, DestinationSyncMode } from '@inlay/protocol/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { sync, testRunner } from '../connectors.ts';
import { type DataStores, type Store, startDataStores } from '../data-stores.ts';
import { hasArrived } from './comparing.ts';
import { sources } from './sources.ts';
import { pick, seeded } from './values.ts';

const seed = Number(process.env.INLAY_TORTURE_SEED ?? 1);
const recordsEach = 60;

const destinations: Record<string, { open: (stores: DataStores) => Promise<Store>; modes: DestinationSyncMode[] }> = {
  'local-files': { open: (stores) => stores.openLocalFiles(), modes: ['append', 'overwrite'] },
  s3: { open: (stores) => stores.openBucket(), modes: ['append', 'overwrite'] },
  postgres: { open: (stores) => stores.openDatabase(), modes: ['append', 'overwrite', 'append_dedup'] },
};

let stores: DataStores;
beforeAll(async () => {
  stores = await startDataStores();
});
afterAll(() => stores.stop());

const choose = seeded(seed);
const isEveryPairTried = Boolean(process.env.INLAY_TORTURE_ALL ?? isLongRun);
const pairs = Object.keys(sources).flatMap((source, row) =>
  Object.entries(destinations).flatMap(([destination, { modes }], column) => {
    const mode = pick(choose, modes);
    if (!isEveryPairTried && (row + column) % 3 !== seed % 3) return [];
    return (process.env.INLAY_TORTURE_ALL ? modes : [mode]).map((mode) => ({ source, destination, mode }));
  }),
);

describe(`hard values, seed ${seed}`, () => {
  it.each(pairs)('arrive from $source at $destination ($mode), or are counted', async (pair) => {
    const random = seeded(seed * 1_000 + pairs.indexOf(pair));
    const filled = await sources[pair.source]?.(random, recordsEach);
    const store = await destinations[pair.destination]?.open(stores);
    if (!filled || !store) throw new Error('There is no such source or destination.');
    const runner = testRunner();
    const stream = filled.stream ?? (await runner.discover(filled.connector)).streams[0];
    if (!stream) throw new Error('The source has no stream.');
    const configured: ConfiguredStream = {
      stream,
      sync_mode:
        pair.mode === 'append_dedup' && stream.supported_sync_modes.includes('incremental')
          ? 'incremental'
          : 'full_refresh',
      destination_sync_mode: pair.mode,
      primary_key: [['id']],
      ...(stream.default_cursor_field && { cursor_field: stream.default_cursor_field }),
      generation_id: 1,
      minimum_generation_id: pair.mode === 'overwrite' ? 1 : 0,
      sync_id: 1,
    };
    const outcome = await sync(runner, {
      source: filled.connector,
      destination: store.connector,
      streams: [configured],
      rename: { prefix: '', namespace: () => undefined },
    });
    expect(outcome.failure).toBeUndefined();
    expect(outcome.status).toBe('succeeded');

    const found = new Map(
      (await store.texts('things')).map((text) => {
        const row = parseJson(text) as Record<string, unknown>;
        return [Number(row.id), row] as const;
      }),
    );
    expect([...found.keys()].sort((one, other) => one - other)).toEqual(filled.records.map(({ id }) => id));
    const lost = new Map<string, { count: number; sent: string; found: string | undefined }>();
    for (const { id, fields } of filled.records) {
      for (const [name, sent] of fields) {
        const value = found.get(id)?.[name];
        const text = value === undefined ? undefined : stringifyJson(value);
        if (!hasArrived(sent, text)) {
          const before = lost.get(name);
          lost.set(name, before ? { ...before, count: before.count + 1 } : { count: 1, sent, found: text });
        }
      }
    }
    const counted = countedChanges(outcome);
    const notCounted = [...lost].filter(([name, { count }]) => counted.get(name) !== count);
    expect(notCounted, JSON.stringify([...counted])).toEqual([]);
    expect([...counted.keys()].filter((name) => !lost.has(name))).toEqual([]);
  });
});

/** How many values of each field the outcome says have changed. */
function countedChanges(outcome: Awaited<ReturnType<typeof sync>>): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { valuesChanged } of outcome.streams) {
    for (const { field, count } of valuesChanged) counted.set(field, (counted.get(field) ?? 0) + count);
  }
  return counted;
}
