import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DestinationInput } from '@inlay/protocol/connector';
import type { ConfiguredStream, Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import { collectingEmitter, configure, input, summarize, surroundings } from '../../test/postgres.ts';
import { temporaryFolder } from '../../test/run-source.ts';
import { connector } from './connector.ts';

const items: Stream = { name: 'items', supported_sync_modes: ['full_refresh'], json_schema: { type: 'object' } };
const overtaken = {
  message: 'A later attempt of this sync has taken over, so nothing more was written.',
  failureType: 'transient_error',
};

type Mode = ConfiguredStream['destination_sync_mode'];

function attempt(inlay_epoch: number, destination_sync_mode: Mode, more: Partial<ConfiguredStream> = {}) {
  return configure(items, { destination_sync_mode, inlay_writer: 'one', inlay_epoch, ...more });
}

const state = { type: 'STREAM' as const, stream: { stream_descriptor: { name: 'items' }, stream_state: {} } };
const record = (id: string) => input(items, [{ id }], { isComplete: false });

type Batches = DestinationInput[][] | AsyncIterable<DestinationInput[]>;

/** Returns the states that were passed on, and the failure, if any. */
async function write(workspaceDir: string, stream: ConfiguredStream, batches: Batches) {
  const { emitter, messages } = collectingEmitter();
  const from = (async function* () {
    yield* batches;
  })();
  const failure = await connector
    .write({ path: 'out' }, { streams: [stream] }, from, emitter, { ...surroundings, workspaceDir })
    .catch((error: unknown) => error);
  return { failure, states: summarize(messages).states };
}

/** What readers see. */
function idsIn(workspaceDir: string): string[] {
  const folder = join(workspaceDir, 'out', 'items');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl') && !name.split('/').some((part) => part.startsWith('.')))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line).id)
    .sort();
}

describe('an attempt that goes on after the next one has finished', () => {
  it.each([
    ['append', ['before', 'next']],
    ['overwrite', ['next']],
  ] as const)('makes nothing visible (%s)', async (mode, expected) => {
    const folder = temporaryFolder();
    await write(folder, attempt(1, mode), [input(items, [{ id: 'before' }])]);
    const { failure, states } = await write(
      folder,
      attempt(2, mode),
      (async function* () {
        yield record('late');
        const next = await write(folder, attempt(3, mode), [input(items, [{ id: 'next' }], { state })]);
        expect(next).toEqual({ failure: undefined, states: [state] });
        yield input(items, [{ id: 'later' }], { state });
      })(),
    );
    expect(failure).toMatchObject(overtaken);
    expect(states).toEqual([]);
    expect(idsIn(folder)).toEqual(expected);
  });

  it.each([
    ['removes no earlier generation', input(items, [])],
    ['opens no file', record('late')],
  ])('%s', async (_, late) => {
    const folder = temporaryFolder();
    const generation = { generation_id: 1, minimum_generation_id: 1 };
    await write(folder, attempt(1, 'append'), [record('before')]);
    const { failure } = await write(
      folder,
      attempt(2, 'append', generation),
      (async function* () {
        await write(folder, attempt(3, 'append', generation), []);
        yield late;
      })(),
    );
    expect(failure).toMatchObject(overtaken);
    expect(idsIn(folder)).toEqual(['before']);
  });
});

describe('an attempt', () => {
  it('that begins after a later one changes nothing', async () => {
    const folder = temporaryFolder();
    await write(folder, attempt(2, 'overwrite'), [input(items, [{ id: 'next' }])]);
    expect((await write(folder, attempt(1, 'overwrite'), [input(items, [])])).failure).toMatchObject(overtaken);
    expect(idsIn(folder)).toEqual(['next']);
  });

  it('clears up what a killed one has left, and may start again', async () => {
    const folder = temporaryFolder();
    const killed = (async function* () {
      yield record('late');
      throw new Error('killed');
    })();
    await write(folder, attempt(1, 'append'), killed);
    const hidden = join(folder, 'out', '.epoch-1-one');
    expect(readdirSync(join(hidden, 'items'))).toHaveLength(1);
    await write(folder, attempt(1, 'append'), [record('again')]);
    expect(readdirSync(join(hidden, 'items'))).toEqual([]);
    await write(folder, attempt(2, 'append'), [record('next')]);
    expect(existsSync(hidden)).toBe(false);
    expect(idsIn(folder)).toEqual(['again', 'next']);
  });

  it('of another connection is left alone', async () => {
    const folder = temporaryFolder();
    const { failure } = await write(
      folder,
      attempt(1, 'append'),
      (async function* () {
        yield record('one');
        await write(folder, attempt(2, 'append', { inlay_writer: 'other' }), [record('other')]);
        yield record('one again');
      })(),
    );
    expect(failure).toBeUndefined();
    expect(idsIn(folder)).toEqual(['one', 'one again', 'other']);
  });
});
