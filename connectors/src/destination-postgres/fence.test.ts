import type { Configuration, DestinationInput } from '@inlay/protocol/connector';
import {
  type ConfiguredStream,
  type DestinationSyncMode,
  rowsType,
  type State,
  type Stream,
} from '@inlay/protocol/protocol';
import type { RowBlock } from '@inlay/protocol/row-blocks';
import { describe, expect, it } from 'vitest';
import { startPartition } from '../../test/partition.ts';
import { configure, createDatabase, input, type TestDatabase, tryToWrite, write } from '../../test/postgres.ts';

const writer = '11111111-1111-4111-8111-111111111111';
const overtaken = {
  message: 'A later attempt of this sync has taken over, so nothing more was written.',
  failureType: 'transient_error',
};

const users: Stream = {
  name: 'users',
  supported_sync_modes: ['full_refresh', 'incremental'],
  json_schema: { type: 'object', properties: { id: { type: 'integer' }, who: { type: 'string' } } },
};

function attempt(inlay_epoch: number, mode: DestinationSyncMode, more: Partial<ConfiguredStream> = {}) {
  return configure(users, {
    destination_sync_mode: mode,
    ...(mode === 'append_dedup' && { primary_key: [['id']] }),
    inlay_writer: writer,
    inlay_epoch,
    ...more,
  });
}

const state: State = { type: 'STREAM', stream: { stream_descriptor: { name: 'users' }, stream_state: { at: 1 } } };
const record = (id: number, who: string) => ({ id, who });
const batch = (count: number, who: (id: number) => string) =>
  input(
    users,
    Array.from({ length: count }, (_, index) => record(index + 1, who(index + 1))),
    { state },
  );

/** The same records as rows. */
function asRows(messages: DestinationInput[]): (DestinationInput | RowBlock)[] {
  const rows = messages.flatMap((message) => (message.type === 'RECORD' ? [Object.values(message.record.data)] : []));
  const text = Buffer.from(rows.map((values) => `${values.join('\t')}\n`).join(''));
  const columns = [
    { name: 'id', type: 'bigint' },
    { name: 'who', type: 'text' },
  ];
  const header = { stream: 'users', emitted_at: 1e12, columns, count: rows.length, bytes: text.length };
  const block: RowBlock = { type: rowsType, rows: { ...header, length: text.length }, pieces: [text] };
  return [block, ...messages.filter(({ type }) => type !== 'RECORD')];
}

const rowsOf = ({ query }: TestDatabase) => query('select id::int, who from users order by id, who');

/** As if the later attempt's user weren't allowed to end the session. */
const hideSession = ({ query }: TestDatabase) => query('update _inlay_epochs set pid = 0');

/** Writes as an attempt whose network fails when it sends `from`; `meanwhile` happens before what it sent arrives. */
async function writeLate(
  { config }: TestDatabase,
  stream: ConfiguredStream,
  messages: DestinationInput[],
  from: string,
  meanwhile: () => Promise<unknown>,
) {
  const { host, port } = config as { host: string; port: number };
  const partition = await startPartition({ host, port }, from);
  const late: Configuration = { ...config, host: '127.0.0.1', port: partition.port };
  const writing = tryToWrite(late, [stream], messages);
  await partition.begun;
  await meanwhile();
  partition.end();
  return await writing;
}

const modes = ['append', 'append_dedup', 'overwrite'] as const;

describe('an attempt whose lease has ended, with the next one finished', () => {
  describe.each(modes)('%s', (mode) => {
    it.each([
      ['records', 'ended', (messages: DestinationInput[]) => messages],
      ['records', 'left alone', (messages: DestinationInput[]) => messages],
      ['rows', 'left alone', asRows],
    ])('stores nothing of a COPY (%s) that arrives late, its session %s', async (_, session, form) => {
      const database = await createDatabase();
      await write(database.config, [attempt(1, mode)], input(users, [record(1, 'before')]));
      const late = form(batch(300, (id) => (id === 200 ? 'hold here' : 'late'))) as DestinationInput[];
      const { failure, states } = await writeLate(database, attempt(2, mode), late, 'hold here', async () => {
        if (session === 'left alone') await hideSession(database);
        const next = input(users, [record(1, 'next'), record(2, 'next')], { state });
        expect(await write(database.config, [attempt(3, mode)], next)).toEqual([state]);
      });
      expect(failure).toMatchObject(session === 'ended' ? { failureType: 'transient_error' } : overtaken);
      expect(states).toEqual([]);
      const before = mode === 'append' ? [record(1, 'before')] : [];
      expect(await rowsOf(database)).toEqual([...before, record(1, 'next'), record(2, 'next')]);
    });
  });

  it.each([
    ['left alone', 'before it replaces the old records', 'lock table'],
    ['ended', 'after it has replaced them, and holds their lock', 'drop table'],
  ])('never completes an overwrite, its session %s %s', async (session, _, from) => {
    const database = await createDatabase();
    const { config } = database;
    await write(config, [attempt(1, 'overwrite')], input(users, [record(1, 'before')]));
    const stream = attempt(2, 'overwrite');
    let isStored = false;
    async function* sent() {
      // Two batches: what is held is the transaction of the COMPLETE.
      yield input(users, [record(1, 'late')], { isComplete: false });
      isStored = true;
      yield input(users, [], { state });
    }
    const { failure, states } = await writeLate(database, stream, sent() as never, from, async () => {
      expect(isStored).toBe(true);
      if (session === 'left alone') await hideSession(database);
      await write(config, [attempt(3, 'overwrite')], input(users, [record(2, 'next')]));
    });
    expect(failure).toMatchObject(session === 'ended' ? { failureType: 'transient_error' } : overtaken);
    expect(states).toEqual([]);
    expect(await rowsOf(database)).toEqual([record(2, 'next')]);
  });
});

describe('an attempt', () => {
  it('that begins after a later one changes nothing', async () => {
    const database = await createDatabase();
    await write(database.config, [attempt(2, 'append')], input(users, [record(1, 'next')]));
    const wider = { ...users, json_schema: { properties: { id: { type: 'string' }, more: { type: 'string' } } } };
    const late = attempt(1, 'append', { stream: wider });
    const { failure } = await tryToWrite(database.config, [late], input(users, [record(1, 'late')]));
    expect(failure).toMatchObject(overtaken);
    expect(await rowsOf(database)).toEqual([record(1, 'next')]);
  });

  it('stores nothing of a stream that the later one does not have', async () => {
    const database = await createDatabase();
    const deselected = attempt(2, 'append', { stream: { ...users, name: 'deselected' } });
    const streams = [attempt(2, 'append'), deselected];
    const { failure } = await tryToWrite(
      database.config,
      streams,
      (async function* () {
        await hideSession(database);
        await write(database.config, [attempt(3, 'append')], []);
        yield input({ name: 'deselected' }, [record(1, 'late')]);
      })(),
    );
    expect(failure).toMatchObject(overtaken);
    expect(await database.query('select from deselected')).toEqual([]);
  });

  it('may start again, and fences every schema that it writes to', async () => {
    const database = await createDatabase();
    const both = (epoch: number) =>
      [undefined, 'other'].map((namespace) =>
        attempt(epoch, 'append', { stream: { ...users, ...(namespace !== undefined && { namespace }) } }),
      );
    await write(database.config, both(2), []);
    await write(database.config, both(2), []);
    await database.query(`update other._inlay_epochs set epoch = 3`);
    const { failure } = await tryToWrite(database.config, both(2), []);
    expect(failure).toMatchObject(overtaken);
  });

  it('of another connection writes to the same table with epochs of its own', async () => {
    const database = await createDatabase();
    await write(database.config, [attempt(2, 'append')], input(users, [record(1, 'one')]));
    const other = attempt(1, 'append', { inlay_writer: 'another' });
    await write(database.config, [other], input(users, [record(2, 'other')]));
    expect(await rowsOf(database)).toEqual([record(1, 'one'), record(2, 'other')]);
  });

  it('of an earlier platform leaves no table of epochs', async () => {
    const database = await createDatabase();
    await write(database.config, [configure(users)], input(users, [record(1, 'one')]));
    expect(await database.query(`select from pg_class where relname = '_inlay_epochs'`)).toEqual([]);
  });
});
