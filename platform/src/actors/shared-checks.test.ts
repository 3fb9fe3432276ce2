/** Checks with two coordinators on one PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../../../server/test/support/databases.ts';
import { startPlatform } from '../../test/start-platform.ts';
import { until } from '../../test/steered.ts';

it('The outcome of a check is told by every coordinator, also when the one that ran it is gone', async () => {
  const { url: databaseUrl = '', drop } = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  onTestFinished(drop);
  const [one, other] = [await startPlatform({ databaseUrl }), await startPlatform({ databaseUrl })];
  const path = '/destinations/check_connection';
  const check = async (configuration: object) => {
    const reply = await one.call('POST', path, { configuration });
    expect(reply).toMatchObject({ status: 200, body: { status: 'running' } });
    return reply.body.checkId as string;
  };
  const good = await check({ destinationType: 'local-files', path: 'a' });
  expect((await other.call('GET', `${path}/${good}`)).status).toBe(200);
  let told = await other.call('GET', `${path}/${good}`);
  await until(async () => {
    told = await other.call('GET', `${path}/${good}`);
    return told.body.status !== 'running';
  });
  expect(told).toEqual({ status: 200, body: { checkId: good, status: 'succeeded' } });
  expect((await other.call('GET', `/sources/check_connection/${good}`)).status).toBe(404);
  expect((await other.call('GET', `${path}/${randomUUID()}`)).status).toBe(404);

  const { store } = other.platform;
  const stored = await store.db.selectFrom('checks').select('outcome').execute();
  expect(JSON.stringify(stored)).not.toContain('succeeded');
  // As one that was killed leaves it.
  await sql`update ${sql.table('inlay_platform.checks')} set alive_until = now_ms()`.execute(store.db);
  const pending = randomUUID();
  const outcome = one.platform.sealer.seal(
    JSON.stringify({ checkId: pending, status: 'running' }),
    `connector check ${pending}`,
  );
  const row = { check_id: pending, owner: 'destination', outcome, alive_until: await store.now() };
  await store.db
    .insertInto('checks')
    .values({ ...row, created_at: row.alive_until })
    .execute();
  const gone = await other.call('GET', `${path}/${pending}`);
  expect(gone.body).toMatchObject({ status: 'failed', message: expect.stringContaining('interrupted') });
  // An hour later nobody knows any of them.
  await sql`update ${sql.table('inlay_platform.checks')} set created_at = now_ms() - 3600000`.execute(store.db);
  expect((await other.call('GET', `${path}/${good}`)).status).toBe(404);
});
