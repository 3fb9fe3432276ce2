import type { DestinationInput } from '@inlay/protocol/connector';
import type { State } from '@inlay/protocol/protocol';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { configure, createDatabase, discoverStream, read, type TestDatabase, write } from '../../test/postgres.ts';

const rounds = isLongRun ? 50 : 5;
const writers = 4;
const transactionsPerWriter = 40;

const createItems = `
  create table items (id int primary key, at timestamptz, amount numeric(30, 10), doc jsonb);
  create schema copy`;

/** Inserts and updates in transactions of several steps, some of which are undone. */
async function writeItems(client: pg.Client, writer: number, round: number): Promise<void> {
  for (let step = 0; step < transactionsPerWriter; step++) {
    const id = (round * writers + writer) * transactionsPerWriter + step;
    const isUndone = step % 7 === 3;
    // The cursor is of the beginning of the transaction, of another time, or missing.
    const at = ['now()', 'clock_timestamp()', `now() - interval '1 hour' * random()`, 'null'][step % 4];
    await client.query('begin');
    await client.query(`insert into items values (${id}, ${at}, random() * 1e15, jsonb_build_object('n', 1))`);
    await client.query('savepoint one');
    await client.query(`
      with chosen as (select id from items where random() < 0.05 order by id for update skip locked limit 5)
      update items set at = ${at}, amount = random() * 1e15 from chosen where items.id = chosen.id`);
    if (step % 3 === 0) await client.query('rollback to savepoint one');
    await client.query('savepoint two');
    await client.query(`update items set doc = doc || jsonb_build_object('step', ${step}) where id = ${id}`);
    await client.query(isUndone ? 'rollback' : 'commit');
  }
}

async function session({ config }: TestDatabase): Promise<pg.Client> {
  const { host, port, database, username: user, password } = config as Record<string, string>;
  const client = new pg.Client({ host, port: Number(port), database, user, password });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe.each([undefined, 'at'])('four writers at the same time, with the cursor %s', (cursor) => {
  it('leave the same rows at the source and at the destination', async () => {
    const database = await createDatabase();
    await database.client.query(createItems);
    const configured = configure(await discoverStream(database.config, 'items'), {
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
      primary_key: [['id']],
      ...(cursor !== undefined && { cursor_field: [cursor] }),
    });
    const { namespace: _source, ...stream } = configured.stream;
    const target = { ...configured, stream };
    let state: State[] = [];
    let records = 0;
    const sync = async () => {
      const result = await read(database.config, [configured], state);
      records += result.records.length;
      const messages = result.messages.filter((message) => message.type !== 'LOG').map(withoutNamespace);
      await write({ ...database.config, schema: 'copy' }, [target], messages);
      state = result.states.slice(-1);
    };
    const sessions = await Promise.all(Array.from({ length: writers }, () => session(database)));
    for (let round = 0; round < rounds; round++) {
      let isWriting = true;
      const writing = Promise.all(sessions.map((client, writer) => writeItems(client, writer, round))).finally(() => {
        isWriting = false;
      });
      while (isWriting) await sync();
      await writing;
      await sync();
      const sum = (table: string) =>
        database.query(`select count(*), md5(string_agg(md5(row(id, at, amount, doc)::text), '' order by id)) as sum
          from ${table}`);
      expect(await sum('copy.items')).toEqual(await sum('items'));
    }
    expect(records).toBeGreaterThan(rounds * writers * transactionsPerWriter * 0.8);
  });
});

function withoutNamespace(message: unknown): DestinationInput {
  return JSON.parse(JSON.stringify(message), (key, value) => (key === 'namespace' ? undefined : value));
}
