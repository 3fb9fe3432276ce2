/** The console on PostgreSQL, where replicas share one database: sessions, links and their ends hold on all of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeConsoleLink } from '../../src/edge/console/links.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import { logOfTest } from './support.ts';

describe('The console on two replicas [postgres]', () => {
  let database: TestDatabase;
  let replicas: [TestApp, TestApp];
  beforeAll(async () => {
    database = await createTestDatabase('postgres', { migrated: true });
    const env = { INLAY_OPERATOR_TOKEN: 'an-operator-token-of-both-replicas-001' };
    const first = await startTestApp('postgres', { shared: database, env });
    replicas = [first, await startTestApp('postgres', { shared: database, env })];
  });
  afterAll(async () => {
    for (const replica of replicas ?? []) await replica.stop();
    await database?.drop();
  });

  const own = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin', host: 'localhost:8080' };
  const cookieOf = ({ headers }: { headers: Record<string, unknown> }) =>
    String(headers['set-cookie']).split(';')[0] ?? '';
  const send = (at: 0 | 1, method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
    replicas[at].request(method, path, { token: null, headers, ...(body && { body }) });

  async function newLink(at: 0 | 1): Promise<string> {
    const { app, organizationId } = replicas[at];
    const { url } = await makeConsoleLink(
      { store: app.store, runtime: systemRuntime, journal: logOfTest.journal, publicUrl: 'http://localhost:8080' },
      { organizationId, permission: 'operator', label: 'a colleague' },
    );
    return new URL(url).hash.slice('#code='.length);
  }
  const spend = (at: 0 | 1, code: string) => send(at, 'POST', '/console/session/link', own, { code });

  it('a link that one has made is spent at the other, once, and its session works at both', async () => {
    const code = await newLink(0);
    const spent = await spend(1, code);
    expect([spent.status, spent.body?.kind], spent.text).toEqual([200, 'link']);
    for (const at of [0, 1] as const) {
      expect((await spend(at, code)).status).toBe(401);
      const cookie = cookieOf(spent);
      expect((await send(at, 'GET', '/console/session', { cookie })).body.id).toBe(spent.body.id);
      expect((await send(at, 'GET', '/console/api/v1/workspaces', { cookie })).status).toBe(200);
    }
  });

  it('of many who spend one link at the same moment at both, one gets in', async () => {
    for (let round = 0; round < 3; round++) {
      const code = await newLink(round % 2 === 0 ? 0 : 1);
      const answers = await Promise.all([0, 1, 0, 1].map((at) => spend(at as 0 | 1, code)));
      // Wrong tries are counted, and too many of them are not even looked at.
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status !== 200 && status !== 401 && status !== 429)).toEqual([]);
    }
    const { db } = replicas[0].app.store;
    const sessions = await db.selectFrom('console_sessions').select('link_id').where('kind', '=', 'link').execute();
    expect(new Set(sessions.map(({ link_id }) => link_id)).size).toBe(sessions.length);
  });

  it('a session that begins at one and ends at the other has ended at both', async () => {
    const { app, organizationId } = replicas[0];
    const { token, id } = await app.operatorTokens.create(organizationId, { name: 'of one' });
    const cookies = [];
    for (const at of [0, 1] as const) {
      const answer = await send(at, 'POST', '/console/session', own, { token });
      expect(answer.status, answer.text).toBe(200);
      cookies.push(cookieOf(answer));
    }
    const [first = '', second = ''] = cookies;
    for (const at of [0, 1] as const) {
      for (const cookie of cookies) expect((await send(at, 'GET', '/console/session', { cookie })).status).toBe(200);
    }
    expect((await send(1, 'DELETE', '/console/session', { ...own, cookie: first })).status).toBe(204);
    const isRefused = async (at: 0 | 1, cookie: string) =>
      (await send(at, 'GET', '/console/api/v1/workspaces', { cookie })).status === 401;
    // What a replica has found is remembered there for two seconds.
    await expect.poll(() => isRefused(0, first)).toBe(true);
    expect(await isRefused(1, first)).toBe(true);
    expect(await isRefused(1, second)).toBe(false);
    await replicas[1].app.operatorTokens.revoke(organizationId, id);
    for (const at of [0, 1] as const) await expect.poll(() => isRefused(at, second)).toBe(true);
  });
});
