/* Events of whole servers: ids that wrap around, prepared transactions, standbys that take over. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { State } from '@inlay/protocol/protocol';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Postgres, type PostgresOptions, startPostgres } from '../../../scripts/postgres.mjs';
import { configure, discoverStream, read } from '../../test/postgres.ts';

async function startServer(options: PostgresOptions = {}) {
  const server = await startPostgres(options);
  onTestFinished(() => server.stop());
  const config = {
    host: '127.0.0.1',
    port: Number(new URL(server.url).port),
    database: 'postgres',
    username: 'postgres',
  };
  const execute = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const readEvents = async (state: State[] = []) => {
    const stream = await discoverStream(config, 'events');
    const result = await read(config, [configure(stream, { sync_mode: 'incremental' })], state);
    const logs = result.messages.flatMap((message) => (message.type === 'LOG' ? [message.log.message] : []));
    return { ids: result.records.map(({ id }) => id), state: result.states.slice(-1), logs };
  };
  return { server, execute, readEvents };
}

const createEvents = 'create table events (id int)';
/** Each in a subtransaction with its own id. */
const insertMany = (count: number) => `do $$ begin
  for n in 1..${count} loop begin insert into events values (0); exception when others then raise; end; end loop; end $$`;

/** So that the next transaction gets this id. */
async function jumpTo(server: Postgres, id: number): Promise<void> {
  await server.restart(async ({ data, run }) => {
    await run('pg_resetwal', ['-D', data, '-x', String(id), '-u', String(id - 10_000_000)]);
    // Where the outcomes of transactions near the id are stored: a megabyte of ids per file, two bits each.
    const name = Math.floor(id / 2 ** 20)
      .toString(16)
      .toUpperCase()
      .padStart(4, '0');
    const file = await open(join(data, 'pg_xact', name), 'a');
    await file.truncate(2 ** 18);
    await file.chown(...(await ownerOf(data)));
    await file.close();
  });
}

async function ownerOf(path: string): Promise<[uid: number, gid: number]> {
  const folder = await open(path);
  try {
    const { uid, gid } = await folder.stat();
    return [uid, gid];
  } finally {
    await folder.close();
  }
}

test('every change is found while the ids that rows keep wrap around', async () => {
  const { server, execute, readEvents } = await startServer({ settings: { autovacuum: 'off' } });
  await execute('vacuum freeze');
  await jumpTo(server, 2 ** 32 - 300);
  await execute(createEvents, 'insert into events values (1)');
  const open = new pg.Client({ connectionString: server.url });
  await open.connect();
  onTestFinished(() => open.end());
  await open.query('begin');
  await open.query('insert into events values (2)');
  const first = await readEvents();
  expect(first.ids).toEqual([1]);
  await execute(insertMany(400), 'insert into events values (3)');
  const second = await readEvents(first.state);
  expect(second.ids.filter((id) => id !== 0)).toEqual([3]);
  expect(second.ids).toHaveLength(401);
  await open.query('commit');
  const third = await readEvents(second.state);
  expect(third.ids).toEqual([2]);
  expect(third.logs).toEqual([]);
  const state = third.state[0]?.stream?.stream_state as { complete: { open_from: string } };
  expect(Number(state.complete.open_from)).toBeGreaterThan(2 ** 32);
  await execute('insert into events values (4)');
  expect((await readEvents(third.state)).ids).toEqual([4]);
});

test('a transaction that was prepared is found when it is committed, also after a restart', async () => {
  const { server, execute, readEvents } = await startServer({ settings: { max_prepared_transactions: 2 } });
  await execute(createEvents, 'begin', 'insert into events values (1)', `prepare transaction 'one'`);
  await execute('insert into events values (2)');
  const first = await readEvents();
  expect(first.ids).toEqual([2]);
  await server.restart();
  const second = await readEvents(first.state);
  expect(second.ids).toEqual([]);
  await execute(`commit prepared 'one'`);
  expect((await readEvents(second.state)).ids).toEqual([1]);
});

test('a standby brings what its primary would, and everything again once it has taken over', async () => {
  const primary = await startServer({ settings: { wal_level: 'replica', max_wal_senders: 4 } });
  await primary.execute(createEvents, 'insert into events values (1)');
  const standby = await startServer({ standbyOf: primary.server.url });
  const caughtUp = (count: number) => expect.poll(async () => (await standby.readEvents()).ids.length).toBe(count);
  await caughtUp(1);
  const open = new pg.Client({ connectionString: primary.server.url });
  await open.connect();
  onTestFinished(() => open.end());
  await open.query('begin');
  await open.query('savepoint a');
  await open.query('insert into events values (2)');
  await primary.execute('insert into events values (3)');
  await caughtUp(2);
  const first = await standby.readEvents();
  expect(first.ids).toEqual([1, 3]);
  await open.query('commit');
  await caughtUp(3);
  const second = await standby.readEvents(first.state);
  expect(second.ids).toEqual([2]);
  // The same data, so the state is valid on the primary too.
  expect(await primary.readEvents(second.state)).toMatchObject({ ids: [], logs: [] });
  await standby.execute('select pg_promote()', 'checkpoint');
  const third = await standby.readEvents(second.state);
  expect(third.ids).toEqual([1, 2, 3]);
  expect(third.logs).toEqual([expect.stringContaining('failed over')]);
});
