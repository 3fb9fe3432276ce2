/**
 * Connectors that other people's kit makes, on either side: they say more than the protocol names, and in another order. A
 * process of the kit takes long to start, also as one file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfiguredStream } from '@inlay/protocol/protocol';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installOwnPackages, kitFolder } from '../../../scripts/own-packages.mjs';
import type { ConfiguredConnector } from '../../src/runner/runner.ts';
import { bundled, configured, received, sync, temporaryFolder, testRunner } from '../connectors.ts';
import { type DataStores, type Store, startDataStores } from '../data-stores.ts';

let stores: DataStores;
beforeAll(async () => {
  await installOwnPackages(kitFolder);
  // Loading the kit's many files takes three times as long as loading one. The kit reads the package.json next to the
  // folder of its program.
  await esbuild.build({
    absWorkingDir: kitFolder,
    entryPoints: ['source.mjs', 'destination.mjs'],
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  stores = await startDataStores();
});
afterAll(() => stores.stop());

const made = (kind: 'source' | 'destination', configuration: Record<string, unknown>): ConfiguredConnector => ({
  kind,
  program: process.execPath,
  args: [join(kitFolder, 'dist', `${kind}.cjs`)],
  env: {},
  configuration,
  secrets: [],
});

const streams: ConfiguredStream[] = [
  configured('things', { destination_sync_mode: 'append', generation_id: 1 }),
  configured('others', {
    sync_mode: 'full_refresh',
    destination_sync_mode: 'overwrite',
    generation_id: 1,
    minimum_generation_id: 1,
  }),
];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('answer what they are asked', async () => {
  const runner = testRunner();
  const source = made('source', { count: 3 });
  expect((await runner.readSpecification(source)).connectionSpecification).toHaveProperty('properties.count');
  expect(await runner.check(source)).toEqual({ status: 'succeeded' });
  expect((await runner.discover(source)).streams.map(({ name }) => name)).toEqual(['things', 'others']);
  const destination = made('destination', { file: '/nowhere' });
  expect(await runner.check(destination)).toEqual({ status: 'succeeded' });
});

const destinations: [string, () => Promise<Store>][] = [
  ['postgres', () => stores.openDatabase()],
  ['local-files', () => stores.openLocalFiles()],
  ['s3', () => stores.openBucket()],
];

describe.each(destinations)('a source of the kit into %s', (_name, open) => {
  it('brings everything, and the next time only what is new', async () => {
    const store = await open();
    const ids = async (stream: string) =>
      (await store.records(stream)).map(({ id }) => Number(id)).sort((a, b) => a - b);
    const first = await sync(testRunner(), {
      source: made('source', { count: 30 }),
      destination: store.connector,
      streams,
    });
    expect(first.failure).toBeUndefined();
    expect(await ids('things')).toEqual(numbers(30));
    expect(await ids('others')).toEqual(numbers(5));
    const state = first.states.slice(-1);
    const second = await sync(testRunner(), {
      source: made('source', { count: 40 }),
      destination: store.connector,
      streams,
      state,
    });
    expect(second).toMatchObject({ status: 'succeeded', records: 15 });
    expect(await ids('things')).toEqual(numbers(40));
    expect(await ids('others')).toEqual(numbers(5));
  });
});

describe('a destination of the kit', () => {
  it('gets what a source of the kit says beside its states, and what it confirms is kept', async () => {
    const file = join(temporaryFolder(), 'messages');
    const destination = made('destination', { file });
    const outcome = await sync(testRunner(), { source: made('source', { count: 30 }), destination, streams });
    expect(outcome.failure).toBeUndefined();
    const messages = received(file);
    expect(messages.filter(({ type }) => type === 'RECORD')).toHaveLength(35);
    const states = messages.filter(({ type }) => type === 'STATE');
    // Its destinations use these to decide whether to reset what a stream no longer has.
    expect(states[0]).toMatchObject({ sourceType: 'torture' });
    expect(states).toContainEqual(expect.objectContaining({ sourceStatus: { status: 'SUCCESS' } }));
    // The kit compresses its states, so they can only be compared.
    expect(outcome.states).toEqual(states.map(({ state }) => state));
  });

  it('gets the records of a bundled source', async () => {
    const file = join(temporaryFolder(), 'messages');
    const source = bundled('source', 'sample-data', { count: 50, seed: 1 });
    const runner = testRunner();
    const [users] = (await runner.discover(source)).streams;
    if (!users) throw new Error('There are no users.');
    const outcome = await sync(runner, {
      source,
      destination: made('destination', { file }),
      streams: [{ ...configured(users.name), stream: users }],
    });
    expect(outcome.failure).toBeUndefined();
    expect(existsSync(file)).toBe(true);
    expect(received(file).filter(({ type }) => type === 'RECORD')).toHaveLength(outcome.records);
  });
});
