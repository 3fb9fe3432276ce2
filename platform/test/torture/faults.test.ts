/**
 * Connectors that misbehave, each in one way: what they meant arrives, or the sync fails and says so, and no state is kept
 * beyond what is at the destination. A fault that only the runner notices is tried with one destination, in turns;
 * INLAY_LONG_TESTS tries every fault with every destination.
 */
import { fileURLToPath } from 'node:url';
import { parseJson } from '@inlay/protocol/json';
import type { ConfiguredStream, DestinationSyncMode } from '@inlay/protocol/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import type { ConfiguredConnector } from '../../src/runner/runner.ts';
import { configured, sync, testRunner } from '../connectors.ts';
import { type DataStores, type Store, startDataStores } from '../data-stores.ts';

const program = fileURLToPath(new URL('faulty-connector.mjs', import.meta.url));
const isEveryPairTried = Boolean(process.env.INLAY_TORTURE_ALL ?? isLongRun);
const allIds = Array.from({ length: 20 }, (_, index) => index + 1);

let stores: DataStores;
beforeAll(async () => {
  stores = await startDataStores();
});
afterAll(() => stores.stop());

const faulty = (fault?: string): ConfiguredConnector => ({
  kind: 'source',
  program: process.execPath,
  args: [program],
  env: {},
  configuration: { fault: fault ?? 'none' },
  secrets: [],
});

function things(mode: DestinationSyncMode, generation = 1): ConfiguredStream {
  const properties = {
    id: { type: 'integer' },
    price: { type: ['null', 'number'] },
    name: { type: ['null', 'string'] },
  };
  const stream = configured('things', {
    destination_sync_mode: mode,
    primary_key: [['id']],
    generation_id: generation,
    minimum_generation_id: mode === 'overwrite' ? generation : 0,
  });
  return { ...stream, stream: { ...stream.stream, json_schema: { type: 'object', properties } } };
}

const idsIn = async (store: Store) =>
  (await store.texts('things'))
    .map((text) => Number((parseJson(text) as { id: unknown }).id))
    .sort((one, other) => one - other);

const open: Record<string, () => Promise<Store>> = {
  'local-files': () => stores.openLocalFiles(),
  s3: () => stores.openBucket(),
  postgres: () => stores.openDatabase(),
};

describe.each(Object.keys(open))('into %s', (name) => {
  const turn = Object.keys(open).indexOf(name);
  const inTurns = (faults: string[]) =>
    faults.filter((_, index) => isEveryPairTried || index % Object.keys(open).length === turn);
  const openStore = () => open[name]?.() as Promise<Store>;

  it.each(
    inTurns([
      'NaN as Python writes it',
      'NaN in the shortest form',
      'an infinity',
      'a byte order mark',
      'a leading blank',
    ]),
  )('%s is read as what it means', async (fault) => {
    const store = await openStore();
    const outcome = await sync(testRunner(), {
      source: faulty(fault),
      destination: store.connector,
      streams: [things('append')],
    });
    expect(outcome.failure).toBeUndefined();
    expect(await idsIn(store)).toEqual(allIds);
    expect(outcome.states).toHaveLength(4);
  });

  it.each(
    inTurns([
      'a record cut off in the middle',
      'single quotes',
      'a comma too many',
      'two records on one line',
      'text behind the record',
      'a record without data',
      'a state cut off in the middle',
    ]),
  )('%s fails the sync, and no later state is kept', async (fault) => {
    const store = await openStore();
    const outcome = await sync(testRunner(), {
      source: faulty(fault),
      destination: store.connector,
      streams: [things('append')],
    });
    expect(outcome.status).toBe('failed');
    expect(outcome.failure).toMatchObject({ origin: 'source' });
    const last = outcome.states.at(-1)?.stream?.stream_state as { at: number } | undefined;
    expect(last?.at ?? 0).toBeLessThanOrEqual(5);
    expect(await idsIn(store)).toEqual(expect.arrayContaining(allIds.slice(0, last?.at ?? 0)));
  });

  it.each([
    'incomplete, and exit code 0',
    'silence about a stream that was begun',
    'a status for another stream alone',
  ])('%s replaces nothing', async (fault) => {
    const store = await openStore();
    const first = await sync(testRunner(), {
      source: faulty(),
      destination: store.connector,
      streams: [things('overwrite')],
    });
    expect(first.status).toBe('succeeded');
    const before = await store.texts('things');
    await sync(testRunner(), {
      source: faulty(fault),
      destination: store.connector,
      streams: [things('overwrite', 2)],
    });
    expect(await store.texts('things')).toEqual(before);
  });
});
