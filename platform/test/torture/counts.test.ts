/**
 * A job counts exactly what it put at the destination: rows, bytes and the report of each stream, for every destination
 * and way of writing, whatever the source reports about its streams and however it ends.
 */

import { join } from 'node:path';
import type { ConfiguredStream, DestinationSyncMode } from '@inlay/protocol/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { configured, scriptedDestination, scriptedSource, sync, temporaryFolder, testRunner } from '../connectors.ts';
import { type DataStores, type Store, startDataStores } from '../data-stores.ts';

let stores: DataStores;
beforeAll(async () => {
  stores = await startDataStores();
});
afterAll(() => stores.stop());

const isEveryPairTried = Boolean(process.env.INLAY_TORTURE_ALL ?? isLongRun);
/** Two streams per way of writing. The source may not mention the second. */
const all = (modes: readonly DestinationSyncMode[]) => modes.flatMap((mode) => [`${mode}_a`, `${mode}_b`]);
const modeOf = (name: string) => name.slice(0, -2) as DestinationSyncMode;
const isFirst = (name: string) => name.endsWith('_a');
/** Which streams the source says to be complete. */
const mentions: Record<string, (names: string[]) => string[]> = {
  'all streams': (names) => names,
  'some streams': (names) => names.filter(isFirst),
  'another stream': () => ['others'],
  none: () => [],
};
const ends: Record<string, (names: string[]) => object[]> = {
  'ends well': () => [],
  fails: () => [{ exit: 3 }],
  'leaves streams incomplete': (names) =>
    names.filter((name) => !isFirst(name)).map((name) => ({ status: [name, 'INCOMPLETE'] })),
};
const cases = Object.keys(mentions).flatMap((told) =>
  Object.keys(ends)
    .filter((end) => isEveryPairTried || end === 'ends well' || told === 'some streams')
    .map((end) => [told, end] as const),
);
/** A short run tries every case, a third of them at each destination. */
const casesAt = (destination: number) =>
  cases.filter((_, index) => isEveryPairTried || (index + destination) % 3 === 0);

const open: Record<string, [() => Promise<Store>, DestinationSyncMode[]]> = {
  'local-files': [() => stores.openLocalFiles(), ['append', 'overwrite']],
  s3: [() => stores.openBucket(), ['append', 'overwrite']],
  postgres: [() => stores.openDatabase(), ['append', 'overwrite', 'append_dedup']],
};

function stream(name: string, syncId: number): ConfiguredStream {
  const mode = modeOf(name);
  return configured(name, {
    destination_sync_mode: mode,
    ...(mode === 'append_dedup' && { primary_key: [['id']] }),
    ...(mode === 'overwrite' && { generation_id: syncId, minimum_generation_id: syncId, sync_mode: 'full_refresh' }),
    sync_id: syncId,
  });
}

const rowsOf = async (store: Store, name: string, syncId: number) =>
  (await store.records(name)).filter(({ _inlay_sync_id }) => Number(_inlay_sync_id) === syncId).length;

/** Records of one length. Every second one has the key of another, before or after a state. */
const steps = (names: readonly string[], told: readonly string[], end: readonly object[]) => [
  ...names.flatMap((name) => [
    { records: { stream: name, from: 10, to: 30 } },
    { state: [name, { at: 1 }] },
    { records: { stream: name, from: 20, to: 40 } },
    { state: [name, { at: 2 }] },
  ]),
  ...told.map((name) => ({ status: [name, 'COMPLETE'] })),
  ...end,
];
const bytesOf = (name: string) =>
  `{"type":"RECORD","record":{"stream":"${name}","emitted_at":10,"data":{"id":10,"fill":""}}}`.length;

describe.each(Object.entries(open))('into %s', (into, [openStore, modes]) => {
  const names = all(modes);
  const tried = casesAt(Object.keys(open).indexOf(into));

  it.each(tried)(`Counts at ${into} are right when a source says the end of %s and %s`, async (told, end) => {
    const store = await openStore();
    const run = (syncId: number, source: object[]) =>
      sync(testRunner(), {
        source: scriptedSource(source),
        destination: store.connector,
        streams: names.map((name) => stream(name, syncId)),
      });
    // Something is there already, to be replaced or added to.
    expect(await run(1, steps(names, names, []))).toMatchObject({ status: 'succeeded' });
    const outcome = await run(2, steps(names, mentions[told]?.(names) ?? [], ends[end]?.(names) ?? []));
    expect(outcome.status).toBe(end === 'ends well' ? 'succeeded' : 'failed');
    let [rows, bytes] = [0, 0];
    for (const [index, name] of names.entries()) {
      const there = await rowsOf(store, name, 2);
      const whole = modeOf(name) === 'append_dedup' ? 30 : 40;
      expect(outcome.streams[index], name).toMatchObject({ recordsEmitted: 40, recordsWritten: there });
      if (modeOf(name) !== 'overwrite') expect(there, name).toBe(whole);
      else expect([0, whole], name).toContain(there);
      rows += there;
      // As many of the 40 records count as there are rows.
      bytes += there * bytesOf(name);
    }
    const counted = outcome.status === 'succeeded' ? outcome : outcome.arrived;
    expect({ records: counted?.records, bytes: counted?.bytes }).toEqual({ records: rows, bytes });
  });
});

it('A destination that reports nothing counts what it was given to store', async () => {
  const names = ['overwrite_a', 'overwrite_b', 'append_a'];
  const run = (told: string[], end: object[] = []) =>
    sync(testRunner(), {
      source: scriptedSource(steps(names, told, end)),
      destination: scriptedDestination(join(temporaryFolder(), 'received'), { echo: 'none' }),
      streams: names.map((name) => ({ ...stream(name, 1) })),
    });
  const withoutStates = (told: string[], end: object[] = []) =>
    sync(testRunner(), {
      source: scriptedSource(steps(names, told, end).filter((step) => !('state' in step))),
      destination: scriptedDestination(join(temporaryFolder(), 'received')),
      streams: names.map((name) => stream(name, 1)),
    });
  const bytes = 40 * (bytesOf('overwrite_a') + bytesOf('append_a'));
  expect(await withoutStates(['overwrite_a'])).toMatchObject({ status: 'succeeded', records: 80, bytes });
  expect(await withoutStates(names)).toMatchObject({ status: 'succeeded', records: 120 });
  expect(await withoutStates([])).toMatchObject({ status: 'succeeded', records: 120 });
  const incomplete = [{ status: ['overwrite_b', 'INCOMPLETE'] }];
  expect(await withoutStates(['overwrite_a'], incomplete)).toMatchObject({ arrived: { records: 40 } });
  // A missing confirmation is the destination's error only for a stream it had to keep.
  expect(await run(['overwrite_a'])).toMatchObject({ status: 'failed', failure: { origin: 'destination' } });
});
