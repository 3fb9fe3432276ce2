/**
 * What the platform promises about data, tried with the real runner, real connectors and real stores while something is
 * killed: the source, the destination, the platform, a session of the database, the database. After every blow the
 * next run starts from the states that were kept. Where the blow falls is drawn from a seed (DATA_PROMISES_SEED). In a
 * short run a test strikes half of the victims, and the next test the other half; with INLAY_LONG_TESTS every test all.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Form, sampleStreams } from '@inlay/connectors/sample-data/made-up-records';
import type { ConfiguredStream, DestinationSyncMode, State } from '@inlay/protocol/protocol';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addedText } from '../../../connectors/test/added-text.ts';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { bundled, linesIn, type RanSync, sync, temporaryFolder, testRunner } from '../../test/connectors.ts';
import { type DataStores, type Store, startDataStores } from '../../test/data-stores.ts';
import type { ConfiguredConnector, JobLog, SyncRequest } from './runner.ts';

type Victim = 'source' | 'destination' | 'destination, late' | 'session' | 'database' | 'database, after a state';

/** Enough for several states, and for a kill between two of them. */
const users = 6_000;
const streamNames = ['users', 'purchases'];
const random = seededRandom(Number(process.env.DATA_PROMISES_SEED ?? 1));
const struckConnector = fileURLToPath(new URL('../../test/struck-connector.mjs', import.meta.url));

let stores: DataStores;

let buildFolder: string;
let syncProcess: string;

beforeAll(async () => {
  stores = await startDataStores({ ownServer: true });
  buildFolder = mkdtempSync(join(tmpdir(), 'inlay-sync-process-'));
  syncProcess = join(buildFolder, 'sync-process.mjs');
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL('../../test/sync-process.ts', import.meta.url))],
    outfile: syncProcess,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
});
afterAll(async () => {
  await stores.stop();
  rmSync(buildFolder, { recursive: true, force: true });
});

const everything: Victim[] = [
  'source',
  'destination',
  'destination, late',
  'session',
  'database',
  'database, after a state',
];

const places: [string, () => Promise<Store>, Victim[]][] = [
  ['local files', () => stores.openLocalFiles(), ['source', 'destination', 'destination, late']],
  ['PostgreSQL', () => stores.openDatabase(), everything],
];
if (isLongRun) places.push(['S3', () => stores.openBucket(), ['source', 'destination', 'destination, late']]);

describe.each(places)('what goes to %s', (name, open, victims) => {
  const isDatabase = name === 'PostgreSQL';
  it('is there at least once when it is appended, whatever is killed in between', async () => {
    const store = await open();
    const count = await grow(store, 'append', half(victims, 0));
    for (const stream of streamNames) {
      const found = await store.records(stream);
      expect(distinctIds(found)).toEqual(allIds(stream, count));
      expectAsMadeUp(stream, found, 1);
    }
  });

  it('stays as it was, and never disappears, until all that replaces it is there', async () => {
    const store = await open();
    expect(await run(store, streamsOf('overwrite', 1), { count: users, seed: 1 })).toMatchObject({
      status: 'succeeded',
    });
    const seen = new Set<number>();
    const stopWatching = watch(() => store.size('users'), seen);
    for (const [index, victim] of shuffled(half(victims, 1)).entries()) {
      const before = await fingerprints(store);
      // Two tries of one job, then another job.
      const streams = streamsOf('overwrite', 2 + Math.floor(index / 2));
      const { status } = await run(store, streams, { count: users, seed: 2 }, [], victim);
      if (mayGetThrough(victim)) {
        // Some or all streams may be complete by then.
        for (const stream of streamNames) {
          expect(distinctIds(await store.records(stream))).toEqual(allIds(stream, users));
        }
      } else {
        expect(status).toBe('failed');
        expect(await fingerprints(store)).toEqual(before);
      }
    }
    const fresh = { count: users / 2, seed: 3 };
    expect(await run(store, streamsOf('overwrite', 9), fresh)).toMatchObject({ status: 'succeeded' });
    await stopWatching();
    for (const stream of streamNames) {
      const found = await store.records(stream);
      expect(found).toHaveLength(allIds(stream, fresh.count).length);
      expectAsMadeUp(stream, found, fresh.seed);
    }
    expect(seen).not.toEqual(new Set());
    expect(seen).not.toContain(0);
    if (isDatabase) expect([users, fresh.count]).toEqual(expect.arrayContaining([...seen]));
  });

  itInLongRun('is there at least once when the platform is killed', async () => {
    const store = await open();
    // Which of its two connectors sees the platform die matters to the platform, not to where the data goes.
    const told = isDatabase ? witnesses : witnesses.filter((who) => (who === 'source') === (name === 'S3'));
    const count = await growWhilePlatformsDie(store, isLongRun ? [...witnesses, 'destination'] : told);
    for (const stream of streamNames) {
      const found = await store.records(stream);
      expect(distinctIds(found)).toEqual(allIds(stream, count));
      expectAsMadeUp(stream, found, 1);
    }
  });
});

describe('what goes to PostgreSQL without duplicates', () => {
  it('is there exactly once, whatever is killed in between', async () => {
    const store = await stores.openDatabase();
    const count = await grow(store, 'append_dedup', half(everything, 1));
    for (const stream of streamNames) {
      const found = await store.records(stream);
      expect(found).toHaveLength(allIds(stream, count).length);
      expect(distinctIds(found)).toEqual(allIds(stream, count));
      expectAsMadeUp(stream, found, 1);
    }
  });
});

function half(victims: Victim[], which: 0 | 1): Victim[] {
  return isLongRun ? victims : victims.filter((_, index) => index % 2 === which);
}

/** Syncs a source that has more every time, with a blow each time but the last. Gives how many users it has then. */
async function grow(store: Store, mode: DestinationSyncMode, victims: Victim[]): Promise<number> {
  let count = 0;
  let states: State[] = [];
  for (const [index, victim] of shuffled(victims).entries()) {
    count += users;
    const outcome = await run(store, streamsOf(mode, 1, index), { count, seed: 1 }, states, victim);
    if (!mayGetThrough(victim)) expect(outcome.status).toBe('failed');
    states = latest([...states, ...outcome.states]);
  }
  expect(await run(store, streamsOf(mode, 1, 99), { count, seed: 1 }, states)).toMatchObject({ status: 'succeeded' });
  return count;
}

/** The blow falls so late that the sync may be over, or so that there is nothing to wait for. */
function mayGetThrough(victim: Victim): boolean {
  return victim === 'destination, late' || victim === 'database, after a state';
}

/** Notices when it is time for the platform to die. */
const witnesses = ['source', 'destination'] as const;
type Witness = (typeof witnesses)[number];

async function growWhilePlatformsDie(store: Store, told: readonly Witness[]): Promise<number> {
  const folder = temporaryFolder();
  const keptFile = join(folder, 'states.jsonl');
  const kept = () => (existsSync(keptFile) ? latest(linesIn(keptFile).map((line) => JSON.parse(line))) : []);
  let count = 0;
  for (const witness of told) {
    count += users;
    const streams = streamsOf('append', 1);
    const connectors = { source: sampleSource({ count, seed: 1 }), destination: store.connector };
    const afterBytes = pointIn(streams, { count, seed: 1 }, kept(), formOf(connectors));
    const plan = { strike: 'kill the platform', afterBytes };
    const request = {
      ...connectors,
      [witness]: struck(connectors[witness], plan),
      catalog: { streams },
      state: kept(),
    };
    writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
    const platform = spawn(process.execPath, [syncProcess, folder], { stdio: 'inherit' });
    expect(await once(platform, 'exit')).toEqual([null, 'SIGKILL']);
  }
  expect(await run(store, streamsOf('append', 1), { count, seed: 1 }, kept())).toMatchObject({ status: 'succeeded' });
  await untilGone(folder);
  return count;
}

/** Connectors end with their platform. */
async function untilGone(folder: string): Promise<void> {
  const isThere = () => readdirSync('/proc').some((pid) => workingDirOf(pid).startsWith(`${folder}/runs`));
  for (let tries = 0; isThere(); tries++) {
    if (tries === 600) throw new Error('A connector outlives its platform.');
    await delay(50);
  }
}

/** Where the process was started; empty if it is not one of ours. */
function workingDirOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

interface Sample {
  count: number;
  seed: number;
}

async function run(
  store: Store,
  streams: ConfiguredStream[],
  sample: Sample,
  state: State[] = [],
  victim?: Victim,
): Promise<RanSync> {
  let source = sampleSource(sample);
  let destination = store.connector;
  const afterBytes = pointIn(streams, sample, state, formOf({ source, destination }));
  const until = join(temporaryFolder(), 'struck');
  const startedAtMs = Date.now();
  if (victim === 'source') source = struck(source, { strike: 'kill', afterBytes });
  else if (victim === 'destination') destination = struck(destination, { strike: 'kill', afterBytes });
  else if (victim === 'destination, late')
    destination = struck(destination, { strike: 'kill', afterEndMs: random(60) });
  else if (victim === 'session' || victim === 'database') {
    destination = struck(destination, { strike: 'tell', afterBytes, until });
  }
  let blow: Promise<void> | undefined;
  const states: State[] = [];
  const log: JobLog = {
    write(_level, _origin, message) {
      if (message !== 'strike') return;
      blow = stores
        .untilConnected(startedAtMs)
        .then(victim === 'session' ? stores.endSessions : stores.killDatabase)
        .finally(() => writeFileSync(until, ''));
    },
  };
  const keepState: SyncRequest['keepState'] = async (confirmed) => {
    states.push(confirmed);
    if (victim === 'database, after a state') blow ??= stores.killDatabase();
  };
  const outcome = await sync(testRunner(), { source, destination, streams, state, log, keepState });
  await blow;
  return { ...outcome, states };
}

function sampleSource(sample: Sample): ConfiguredConnector {
  return bundled('source', 'sample-data', { ...sample });
}

function struck(connector: ConfiguredConnector, plan: object): ConfiguredConnector {
  const args = [struckConnector, JSON.stringify(plan), connector.program, ...(connector.args as readonly string[])];
  return { ...connector, program: process.execPath, args };
}

/** How the records travel. */
function formOf({ source, destination }: Record<'source' | 'destination', ConfiguredConnector>): Form {
  return source.rowBlocks !== undefined && source.rowBlocks === destination.rowBlocks ? 'row' : 'json';
}

/** Somewhere among the bytes that such a sync moves, but for the last few. */
function pointIn(streams: ConfiguredStream[], { count, seed }: Sample, states: readonly State[], form: Form): number {
  const bytes = streams.map(({ stream, sync_mode }) => {
    const { countFor } = sampleOf(stream.name);
    const own = states.find((state) => state.stream?.stream_descriptor.name === stream.name);
    const position = own?.stream?.stream_state as { id: number } | undefined;
    const from = sync_mode === 'incremental' ? (position?.id ?? 0) : 0;
    return (countFor(count) - from) * madeUpText(stream.name, 1, seed, form).length;
  });
  return 1 + random(bytes.reduce((sum, each) => sum + each, 0));
}

function streamsOf(mode: DestinationSyncMode, generation: number, syncId = generation): ConfiguredStream[] {
  return streamNames.map((name) => ({
    stream: {
      name,
      json_schema: sampleOf(name).json_schema,
      supported_sync_modes: ['full_refresh', 'incremental'],
    },
    sync_mode: mode === 'overwrite' ? 'full_refresh' : 'incremental',
    destination_sync_mode: mode,
    cursor_field: ['updated_at'],
    primary_key: [['id']],
    generation_id: generation,
    minimum_generation_id: mode === 'overwrite' ? generation : 0,
    sync_id: syncId,
  }));
}

function sampleOf(name: string) {
  const sample = sampleStreams.find((known) => known.name === name);
  if (!sample) throw new Error(`There is no sample of ${name}.`);
  return sample;
}

function madeUpText(stream: string, id: number, seed: number, form: Form = 'json'): string {
  return addedText((to) => sampleOf(stream).addRecord(to, id, seed, form));
}

/** The last state of each stream. */
function latest(states: readonly State[]): State[] {
  return [...new Map(states.map((state) => [state.stream?.stream_descriptor.name, state])).values()];
}

/** Polls until the returned function is called. Queries that fail are repeated later. */
function watch(look: () => Promise<number>, seen: Set<number>): () => Promise<void> {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      await look().then(
        (size) => seen.add(size),
        () => {},
      );
      await delay(10);
    }
  })();
  return () => {
    isOver = true;
    return watching;
  };
}

async function fingerprints(store: Store): Promise<string[]> {
  const texts = streamNames.map(async (stream) =>
    (await store.records(stream)).map((record) => JSON.stringify(record)),
  );
  return (await Promise.all(texts)).map((lines) => createHash('sha256').update(lines.sort().join('\n')).digest('hex'));
}

/** Times are omitted, because databases return them as times and not as text. */
function expectAsMadeUp(stream: string, found: Record<string, unknown>[], seed: number): void {
  const different = found.filter((stored) =>
    Object.entries(JSON.parse(madeUpText(stream, Number(stored.id), seed))).some(
      ([name, value]) => !name.endsWith('_at') && String(stored[name]) !== String(value),
    ),
  );
  expect({ number: different.length, examples: different.slice(0, 3) }).toEqual({ number: 0, examples: [] });
}

function distinctIds(records: Record<string, unknown>[]): number[] {
  return [...new Set(records.map(({ id }) => Number(id)))].sort((a, b) => a - b);
}

function allIds(stream: string, count: number): number[] {
  return Array.from({ length: sampleOf(stream).countFor(count) }, (_, index) => index + 1);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: random(1e9) }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** Whole numbers below a limit, always the same for a seed (a linear congruential generator). */
function seededRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
