/** The error that users of the database get if it does not respond in time. */
import { randomUUID } from 'node:crypto';
import { openPool } from '@inlay/database/postgres-pool';
import { isStorageFailure } from '@inlay/database/storage-failure';
import { StorageState } from '@inlay/database/storage-state';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { systemRuntime } from '../runtime.ts';
import { openPostgres } from './open.ts';

const slow = sql`select pg_sleep(60)`;

function impatientStore() {
  const options = { url: inject('postgresUrl'), maxConnections: 1, queryTimeoutMs: 50, onIdleError: () => {} };
  const db = new Kysely({ dialect: new PostgresDialect({ pool: async () => openPool(options) }) });
  onTestFinished(() => db.destroy());
  return db;
}

it('A statement that is not answered in time is a failure of the store', async () => {
  const error = await slow.execute(impatientStore()).catch((caught: Error) => caught);
  expect(error).toMatchObject({ message: 'Query read timeout' });
  expect(isStorageFailure(error)).toBe(true);
});

it('So is a transaction with such a statement, although its connection cannot roll back', async () => {
  const db = impatientStore();
  const error = await db
    .transaction()
    .execute((tx) => slow.execute(tx))
    .catch((caught: Error) => caught);
  expect(isStorageFailure(error), String(error)).toBe(true);
});

it('A full disk of PostgreSQL is a failure of the store, and the storage counts as full', async () => {
  const storage = new StorageState(systemRuntime);
  onTestFinished(() => storage.close());
  const logged: unknown[] = [];
  storage.logTo({ info: () => {}, warn: () => {}, error: (fields) => void logged.push(fields) });
  const store = openPostgres({ url: inject('postgresUrl'), maxConnections: 1, storage });
  onTestFinished(() => store.close());
  const refusing = sql`do $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`;
  const failing = store.transaction((tx) => refusing.execute(tx));
  const error = await failing.catch((caught: Error) => caught);
  expect(error).toMatchObject({ code: '53100' });
  expect(isStorageFailure(error)).toBe(true);
  expect(storage.fault).toBe('full');
  expect(logged).toMatchObject([{ err: { code: '53100' } }]);
  // The disk is not full in truth: a probe that really writes finds that out.
  expect(await storage.check()).toBeUndefined();
});

it('A full disk is over also where the user may not make temporary tables', async () => {
  const url = new URL(inject('postgresUrl'));
  const name = `hardened_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`create role ${name} login`);
  await admin.query(`create database ${name}`);
  await admin.query(`revoke temporary on database ${name} from public`);
  await admin.query(`grant create on database ${name} to ${name}`);
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.query(`drop role ${name}`);
    await admin.end();
  });
  Object.assign(url, { username: name, pathname: name });
  const storage = new StorageState(systemRuntime);
  onTestFinished(() => storage.close());
  const store = openPostgres({ url: url.href, maxConnections: 1, storage });
  onTestFinished(() => store.close());
  await sql`create schema ${sql.id(name)}`.execute(store.db);
  storage.note(Object.assign(new Error('could not extend file'), { code: '53100' }));
  expect(await storage.check()).toBeUndefined();
  const { rows } = await sql`select from pg_class where relname = 'storage_probe'`.execute(store.db);
  expect(rows).toEqual([]);
});
