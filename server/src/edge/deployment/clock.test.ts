/**
 * Work that waits for a time continues after the clock was set back: on both databases, immediately and after a
 * restart.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases, describeOnOneDatabase } from '../../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, unreachable } from '../../../test/support/faults.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from '../../../test/support/pipelines.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { dueTimes } from './clock.worker.store.ts';

const day = 86_400_000;
const minute = 60_000;

/** On PostgreSQL, the database has the clock. */
async function setDatabaseClock({ app }: TestApp, aheadMs: number): Promise<void> {
  const body = `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${aheadMs}`;
  await sql`create or replace function now_ms() returns bigint language sql stable as ${sql.lit(body)}`.execute(
    app.store.db,
  );
}

describeOnBothDatabases('After the clock was set back', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let aheadMs = 0;
  const sleep: typeof systemRuntime.sleep = (ms, signal) => systemRuntime.sleep(ms / 10, signal);
  const runtime = { ...systemRuntime, sleep, now: () => Date.now() + aheadMs };
  const setClock = async (ms: number) => {
    aheadMs = ms;
    if (kind === 'postgres') await setDatabaseClock(test, ms);
  };
  const wrapTransport: FaultyPlatform['wrapTransport'] = (transport) => faulty.wrapTransport(transport);
  beforeAll(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { runtime, wrapTransport } });
  });
  afterAll(() => test.stop());

  /** A source whose change never reached the platform and is to be retried. */
  const waiting = async (name: string) => {
    const who = await customer(test, name);
    const mend = faulty.rule(unreachable(({ method, path }) => method === 'POST' && path === '/sources'));
    const id = await who.connect(await makeSourceTemplate(test));
    await expect.poll(async () => (await rowOf(id)).attempts, { timeout: 120_000 }).toBeGreaterThan(0);
    const path = `/api/v1/integrations/sources/${id}?workspace_id=${who.workspaceId}`;
    return { id, mend, status: async () => (await test.request('GET', path)).body.status };
  };
  const rowOf = async (id: string) =>
    await test.app.store.db.selectFrom('sources').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('a source is set up at once, and what was left of other times stays', async () => {
    await makeConnectionTemplate(test);
    const calm = await customer(test, 'calm');
    await calm.settled(await calm.connect(await makeSourceTemplate(test)));
    const findDestination = async () =>
      await test.app.store.db
        .selectFrom('destinations')
        .selectAll()
        .where('workspace_id', '=', calm.workspaceId)
        .executeTakeFirstOrThrow();
    const destination = await findDestination();
    await setClock(3 * day);
    await test.app.workers.clockWatch.pass();
    const source = await waiting('acme');
    const { db } = test.app.store;
    const before = await test.app.store.now();
    // Lease of a destination that nobody works on.
    const held = { lease_until: before + 2 * minute, lease_id: 'dead', no_post_before: before + 5 * minute };
    await db.updateTable('destinations').set(held).where('id', '=', destination.id).execute();
    await db
      .updateTable('sources')
      .set({ due_at: before + 2_000 })
      .where('id', '=', source.id)
      .execute();

    await setClock(0);
    source.mend();
    await test.app.workers.clockWatch.pass();
    const now = await test.app.store.now();
    expect(now).toBeLessThan(before - 2 * day);
    const after = await findDestination();
    expect(after.lease_until).toBeGreaterThan(now);
    expect(after.lease_until - now).toBeLessThanOrEqual(2 * minute);
    expect(after.no_post_before - now).toBeGreaterThan(3 * minute);
    expect(after.no_post_before - now).toBeLessThanOrEqual(6 * minute);
    await db.updateTable('destinations').set({ lease_id: null, lease_until: 0, no_post_before: 0 }).execute();
    const ready = async () => {
      await test.app.workers.setUps.pass();
      return await source.status();
    };
    await expect.poll(ready, { timeout: 120_000 }).toBe('ready');
  });

  it('so it is after a restart', async () => {
    await setClock(3 * day);
    await test.app.workers.clockWatch.pass();
    const source = await waiting('beta');
    await setClock(0);
    source.mend();
    await test.restart();
    await test.app.workers.clockWatch.pass();
    const ready = async () => {
      await test.app.workers.setUps.pass();
      return await source.status();
    };
    await expect.poll(ready, { timeout: 120_000 }).toBe('ready');
  });

  it('a time that is further away than it is ever set is brought nearer, whatever the clock has done', async () => {
    const { db } = test.app.store;
    const source = await waiting('gamma');
    const now = await test.app.store.now();
    const far = { due_at: now + day, lease_until: now + day, lease_id: 'dead' };
    await db.updateTable('sources').set(far).where('id', '=', source.id).execute();
    await db
      .updateTable('connections')
      .set({ looked_at: now + day })
      .execute();
    await test.app.workers.clockWatch.pass();
    const row = await rowOf(source.id);
    source.mend();
    expect(row.due_at).toBeLessThanOrEqual(await test.app.store.now());
    expect(row.lease_until).toBeLessThanOrEqual((await test.app.store.now()) + 2 * minute);
    const { looked } = await db
      .selectFrom('connections')
      .select(({ fn }) => fn.max('looked_at').as('looked'))
      .executeTakeFirstOrThrow();
    expect(Number(looked)).toBeLessThanOrEqual(await test.app.store.now());
  });
});

describeOnBothDatabases('After the clock jumped', (kind) => {
  let test: TestApp;
  let aheadMs = 0;
  const runtime = { ...systemRuntime, now: () => Date.now() + aheadMs };
  const setClock = async (ms: number) => {
    aheadMs = ms;
    if (kind === 'postgres') await setDatabaseClock(test, ms);
  };
  const jumps = async (direction: string) => {
    const { text } = await test.request('GET', '/metrics');
    return Number(new RegExp(`^inlay_clock_jumps_total{direction="${direction}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  beforeAll(async () => {
    test = await startTestApp(kind, { overrides: { runtime } });
  });
  afterAll(() => test.stop());

  it('leases and guards that were held keep what was left of them, and each jump is counted', async () => {
    const { db } = test.app.store;
    await makeConnectionTemplate(test);
    const acme = await customer(test, 'acme');
    await acme.settled(await acme.connect(await makeSourceTemplate(test)));
    const { clockWatch } = test.app.workers;
    await clockWatch.pass();
    const now = await test.app.store.now();
    const held = { lease_until: now + 2 * minute, lease_id: 'held', no_post_before: now + 5 * minute };
    await db.updateTable('destinations').set(held).execute();
    await db
      .updateTable('sources')
      .set({ no_post_before: now - minute })
      .execute();
    await setClock(day);
    await clockWatch.pass();
    const later = await test.app.store.now();
    const destination = await db.selectFrom('destinations').selectAll().executeTakeFirstOrThrow();
    expect(destination.lease_until).toBeGreaterThan(later);
    expect(destination.lease_until - later).toBeLessThanOrEqual(2 * minute);
    expect(destination.no_post_before).toBeGreaterThan(later);
    expect(destination.no_post_before - later).toBeLessThanOrEqual(5 * minute);
    // This guard was over before the jump.
    const source = await db.selectFrom('sources').select('no_post_before').executeTakeFirstOrThrow();
    expect(source.no_post_before).toBe(now - minute);
    expect([await jumps('forward'), await jumps('back')]).toEqual([1, 0]);
    await clockWatch.pass();
    await setClock(0);
    await clockWatch.pass();
    expect([await jumps('forward'), await jumps('back')]).toEqual([1, 1]);
  });

  it('nobody stays signed in, and no token works, for longer than without the jump', async () => {
    const { clockWatch } = test.app.workers;
    const own = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin', 'x-inlay-console': '1' };
    const statusOf = async (path: string, options: object) =>
      (await test.request('GET', path, { token: null, ...options })).status;
    const poll = (read: () => Promise<number>) => expect.poll(read, { timeout: 60_000 });
    await setClock(3 * day);
    await clockWatch.pass();
    const body = { token: test.operatorToken };
    const session = await test.request('POST', '/console/session', { token: null, headers: own, body });
    expect(session.status).toBe(200);
    const cookie = String(session.headers['set-cookie']).split(';')[0] ?? '';
    const signedIn = () => statusOf('/console/session', { headers: { cookie } });
    const wanted = { workspace_name: 'acme', expires_in_seconds: 3_600 };
    const issue = async () =>
      (await test.request('POST', '/api/v1/embedded/scoped-token', { body: wanted })).body.token;
    const early = await issue();
    const works = (token: string) => () => statusOf('/api/v1/embedded/scoped-token/info', { token });

    await setClock(0);
    await clockWatch.pass();
    expect(await signedIn()).toBe(200);
    const { ends_at } = await test.app.store.db.selectFrom('console_sessions').selectAll().executeTakeFirstOrThrow();
    // The step is measured from the last time that the clock was looked at, which was a little before the sign-in.
    expect(ends_at - (await test.app.store.now())).toBeLessThan(2 * day);
    // Issued in the future: its lifetime would be three days longer.
    await poll(works(early)).toBe(401);
    const token = await issue();
    expect(await works(token)()).toBe(200);

    await setClock(2 * day);
    await clockWatch.pass();
    await poll(works(token)).toBe(401);
    await poll(signedIn).toBe(401);
  });
});

/** Times of what has happened, and times that people have chosen. */
const notWaitedFor = new Set(
  `audit_checkpoints.signed_at log_heads.checkpoint_at log_heads.cut_until log_heads.sequenced_at job_watch.clock_at
  oauth_clients.secret_expires_at operator_tokens.expires_at revoked_tokens.expires_at webhook_endpoints.read_until`.split(
    /\s+/,
  ),
);

describeOnOneDatabase('The list of times that something waits for', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp('sqlite');
  });
  afterAll(() => test.stop());

  it('names every such column of the tables', async () => {
    const { rows } = await sql<{ name: string }>`
      select tables.name || '.' || columns.name as name
      from sqlite_master tables, pragma_table_info(tables.name) columns where tables.type = 'table'`.execute(
      test.app.store.db,
    );
    const waits =
      /(_until|_due_at|\.due_at|\.until|next_at|not_before|no_post_before|expires_at|ends_at|look_at|stale_at)$/;
    const named = rows.map(({ name }) => name).filter((name) => waits.test(name) && !notWaitedFor.has(name));
    const listed = new Set(dueTimes(0).map(({ table, column }) => `${table}.${column}`));
    expect(named.filter((name) => !listed.has(name))).toEqual([]);
    const known = new Set(rows.map(({ name }) => name));
    expect([...listed].filter((name) => !known.has(name))).toEqual([]);
  });
});
