/** Workers as operators manage them, on the bundled platform, and where there are none. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnOneDatabase } from '../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, unreachable } from '../../test/support/faults.ts';
import { seedPipelines } from '../../test/support/seed-pipelines.ts';
import type { PlatformRequest } from '../kernel/platform/transport.ts';

const path = '/api/v1/integrations/workers';
const settings = {
  name: 'warehouse-eu-1',
  labels: { region: 'eu' },
  trusted: false,
  allow_private_networks: true,
  reusable: false,
};
const isList = ({ method, path }: PlatformRequest) => method === 'GET' && path === '/workers';

describeOnOneDatabase('Workers', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  beforeAll(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
  });
  afterAll(() => test.stop());

  const ask = async (method: string, where = '', body?: object) => await test.request(method, path + where, { body });
  const list = async () => (await ask('GET')).body.data;
  const errorOf = ({ status, headers }: Awaited<ReturnType<typeof ask>>) => [status, headers['x-inlay-error']];
  const entries = async () =>
    (await test.app.store.db.selectFrom('log_pending').selectAll().orderBy('number').execute())
      .filter(({ type }) => type.startsWith('worker.'))
      .map(({ type, data }) => [type, JSON.parse(data).worker.id]);

  it('are enrolled, drained, resumed and revoked, each with an entry in the audit trail', async () => {
    const workspaceId = await test.workspaceId('acme');
    const { status, body, headers } = await ask('POST', '', { ...settings, workspace_ids: [workspaceId] });
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    const { worker, token, url, expires_at } = body;
    expect(url).toMatch(/^http.*\/platform\/v1$/);
    expect(token).toMatch(/^inlay_enrolment_/);
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.parse(worker.created_at));
    const own = { ...settings, workspace_ids: [workspaceId], state: 'waiting', version: null, slots: 0, running: [] };
    expect(worker).toMatchObject(own);
    expect(await list()).toEqual([worker]);
    const where = `/${worker.id}`;
    await test.platform('POST', '/workers/join', { token, secret: 'x'.repeat(43), hostname: 'a' });
    expect((await ask('POST', `${where}/drain`, {})).body.id).toBe(worker.id);
    expect((await ask('POST', `${where}/drain`, { drain: false })).body.id).toBe(worker.id);
    expect((await ask('DELETE', where)).body).toMatchObject({ id: worker.id, state: 'revoked' });
    expect((await list())[0]).toMatchObject({ id: worker.id, state: 'revoked' });
    const types = ['enrolled', 'drained', 'resumed', 'revoked'].map((what) => [`worker.${what}`, worker.id]);
    expect(await entries()).toEqual(types);
    expect(errorOf(await ask('DELETE', where))).toEqual([404, 'worker_not_found']);
    expect(errorOf(await ask('POST', `/${randomUUID()}/drain`, {}))).toEqual([404, 'worker_not_found']);
  });

  it('name what they run by the IDs of this API, and nothing of other organizations', async () => {
    const { organizationId } = test;
    const other = await addTenant(test, 'other');
    const seed = { workspaces: 1, jobsEach: 1 };
    const [mine] = (await seedPipelines(test.app.store, { organizationId, ...seed })).seeded;
    await seedPipelines(test.app.store, { organizationId: other.organizationId, ...seed });
    const { db } = test.app.store;
    await db.updateTable('jobs').set({ status: 'running', ended_at: null }).execute();
    await db
      .updateTable('jobs')
      .set({ platform_id: 'theirs' })
      .where('organization_id', '=', other.organizationId)
      .execute();
    const jobs = await db.selectFrom('jobs').selectAll().execute();
    const { worker } = (await ask('POST', '', {})).body;
    const startedAt = '2026-01-31T09:30:00Z';
    const running = jobs.map(({ platform_id, workspace_id }) => ({
      ...{ jobId: platform_id, workspaceId: workspace_id, connectionId: randomUUID(), startedAt },
    }));
    const remove = faulty.rule(async (request, forward) => {
      if (!isList(request)) return undefined;
      const answer = await forward();
      const data = JSON.parse(answer.text).data.map((each: object) => ({ ...each, running }));
      return { ...answer, text: JSON.stringify({ data }) };
    });
    const listed = (await list()).find(({ id }: { id: string }) => id === worker.id);
    remove();
    const job = jobs.find(({ organization_id }) => organization_id === organizationId);
    expect(listed.running).toHaveLength(2);
    expect(listed.running).toContainEqual({
      ...{ job_id: job?.id, workspace_id: mine?.workspaceId, workspace_name: expect.any(String) },
      started_at: startedAt,
    });
    expect(listed.running).toContainEqual({
      job_id: null,
      workspace_id: null,
      workspace_name: null,
      started_at: startedAt,
    });
    const requests = ['GET', 'POST', 'DELETE'].map((method) =>
      other.request(method, method === 'DELETE' ? `${path}/${worker.id}` : path, { body: {} }),
    );
    for (const answer of await Promise.all(requests)) expect(errorOf(answer)).toEqual([403, 'deployment_only']);
  });

  it('are managed by nobody while the platform does not answer, or has none', async () => {
    const before = await entries();
    const rules = [
      [unreachable(isList), 503, 'platform_does_not_answer'],
      [async (request: PlatformRequest) => (isList(request) ? absent : undefined), 501, 'workers_unsupported'],
    ] as const;
    for (const [rule, status, code] of rules) {
      const remove = faulty.rule(rule);
      expect(errorOf(await ask('GET'))).toEqual([status, code]);
      expect(errorOf(await ask('POST', '', {}))).toEqual([status, code]);
      remove();
    }
    expect(await entries()).toEqual(before);
  });

  it('are changed only by tokens with the permission full', async () => {
    const { token } = await test.app.operatorTokens.create(test.organizationId, { name: 'o', permission: 'operator' });
    expect((await test.request('GET', path, { token })).status).toBe(200);
    expect((await test.request('POST', path, { token, body: {} })).status).toBe(403);
  });
});

const absent = { status: 404, headers: {}, text: '{}' };
