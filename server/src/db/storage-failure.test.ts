/** What a user of the database is told when it does not answer in time. */
import { Kysely, PostgresDialect, sql } from 'kysely';
import { expect, inject, it, onTestFinished } from 'vitest';
import { openPool } from './postgres-pool.ts';
import { isStorageFailure } from './storage-failure.ts';

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

it('So is a transaction with such a statement, although its connection cannot be told to roll back', async () => {
  const db = impatientStore();
  const error = await db
    .transaction()
    .execute((tx) => slow.execute(tx))
    .catch((caught: Error) => caught);
  expect(isStorageFailure(error), String(error)).toBe(true);
});
