/** Two organizations in one deployment: neither can see, count, change or guess anything of the other. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';
import {
  addTenant,
  essence,
  fill,
  firstEvent,
  infoPath,
  isInWorkspace,
  makeCauseRetry,
  makeOAuthClient,
  makeOAuthTest,
  makePipeline,
  makeTemplates,
  routesWith,
  type Tenant,
} from './support.ts';

const names = ['acme', 'globex', 'initech'];

describeOnOneDatabase('An organization beside another', (kind) => {
  let test: TestApp;
  let a: Tenant;
  let b: Tenant;
  /** By name, per organization. */
  const ids = new Map<Tenant, Map<string, string>>();

  async function workspaceOf(tenant: Tenant, name: string): Promise<string> {
    const { body } = await tenant.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: name } });
    const info = await test.request('GET', infoPath, { token: body.token });
    expect(info.body.organization_id).toBe(tenant.organizationId);
    return info.body['workspace ID'];
  }
  const listed = async (tenant: Tenant, query = '') =>
    (await tenant.request('GET', `/api/v1/workspaces${query}`)).body.data as { id: string; organization_id: string }[];
  const own = (tenant: Tenant) => [...(ids.get(tenant)?.values() ?? [])].sort();
  const idOf = (tenant: Tenant, name: string) => ids.get(tenant)?.get(name) ?? '';

  beforeAll(async () => {
    test = await startTestApp(kind);
    [a, b] = [await addTenant(test, 'a'), await addTenant(test, 'b')];
    // The two take turns, so that their rows are mixed.
    for (const name of names) {
      for (const tenant of [a, b]) {
        const known = ids.get(tenant) ?? new Map();
        ids.set(tenant, known.set(name, await workspaceOf(tenant, name)));
      }
    }
  });
  afterAll(() => test.stop());

  it('has names of its own: the same name is another workspace', async () => {
    expect(new Set([...own(a), ...own(b)]).size).toBe(names.length * 2);
    expect(await workspaceOf(a, 'acme')).toBe(idOf(a, 'acme'));
    expect(await workspaceOf(b, 'acme')).toBe(idOf(b, 'acme'));
    const renamed = await a.request('PUT', `/api/v1/workspaces/${idOf(a, 'initech')}`, { body: { name: 'umbrella' } });
    expect(renamed.status).toBe(200);
    const same = await b.request('PUT', `/api/v1/workspaces/${idOf(b, 'initech')}`, { body: { name: 'umbrella' } });
    expect(same.status, 'taken only within an organization').toBe(200);
    for (const tenant of [a, b]) {
      await tenant.request('PUT', `/api/v1/workspaces/${idOf(tenant, 'initech')}`, { body: { name: 'initech' } });
    }
  });

  it("answers to the other's id exactly as to an unknown id, on every route", async () => {
    const foreignToken = await test.app.operatorTokens.create(a.organizationId, { name: 'spare' });
    const templates = await makeTemplates(a);
    const clientOfA = await makeOAuthClient(a);
    const pipeline = await makePipeline(a, idOf(a, 'acme'), templates.source_template_id as string);
    const foreign: Record<string, string> = {
      ...templates,
      ...pipeline,
      cause_retry_id: await makeCauseRetry(test, a, pipeline.connection_id),
      workspace_id: idOf(a, 'acme'),
      operator_token_id: foreignToken.id,
      event_id: await firstEvent(test, a),
      webhook_endpoint_id: (
        await a.request('POST', '/api/v1/webhook-endpoints', { body: { url: 'https://receiver.example/' } })
      ).body.id,
      oauth_client_id: clientOfA,
      oauth_test_id: await makeOAuthTest(a, clientOfA),
    };
    // Destinations and workers belong to no organization.
    const routes = routesWith(test, 'operator').filter(
      ({ url }) => (url.includes(':') || isInWorkspace(url)) && !/\/definitions\/destinations\/|\/workers\//.test(url),
    );
    expect(routes.length).toBeGreaterThanOrEqual(30);
    const own = { workspace_id: idOf(b, 'acme') };
    for (const { method, url } of routes) {
      const valid = {
        name: 'stolen',
        tag: 'walked',
        source_template_id: templates.source_template_id,
        source_config: {},
        version: 1,
        manifest: {},
        since: '2026-01-01T00:00:00Z',
        client_secret: 'stolen',
      };
      // Also with its own workspace in the request, a tenant gets the answer of an unknown id for the other's
      // resources.
      const lists = isInWorkspace(url) && !url.includes(':');
      const pairs =
        isInWorkspace(url) && !lists
          ? [
              [foreign, {}],
              [{ ...foreign, ...own }, own],
            ]
          : [[foreign, {}]];
      for (const body of [valid, { ...valid, status: 'inactive' }, {}, undefined]) {
        for (const [theirs = {}, unknown = {}] of pairs) {
          const answers = await Promise.all([
            b.request(method, fill(url, theirs), { body }),
            b.request(method, fill(url, unknown), { body }),
          ]);
          if (body && 'name' in body) expect(answers[0].status, `${method} ${url} ${answers[0].text}`).toBe(404);
          expect(essence(answers[0]), `${method} ${url}`).toEqual(essence(answers[1]));
        }
      }
    }
    const offered = await b.request('POST', `/api/v1/integrations/sources?workspace_id=${idOf(b, 'acme')}`, {
      body: { source_template_id: templates.source_template_id, source_config: { count: 1 } },
    });
    expect(offered).toMatchObject({ status: 404, body: { detail: 'Source template not found' } });
    const source = `/api/v1/integrations/sources/${foreign.source_id}?workspace_id=${idOf(a, 'acme')}`;
    expect((await a.request('GET', source)).status, 'still there').toBe(200);
    const kept = await a.request('GET', `/api/v1/integrations/templates/sources/${foreign.source_template_id}`);
    expect(kept.body).toMatchObject({ name: 'Sample Data', tags: ['walked'] });
    const untouched = await a.request('GET', `/api/v1/workspaces/${idOf(a, 'acme')}`);
    expect(untouched.body).toMatchObject({ name: 'acme', status: 'active' });
    expect((await a.request('GET', '/api/v1/workspaces', { token: foreignToken.token })).status).toBe(200);
  });

  it('takes the tenant from the token, whatever the request names', async () => {
    const claim = {
      organization_id: a.organizationId,
      organizationId: a.organizationId,
      workspace_id: idOf(a, 'acme'),
    };
    const body = { workspace_name: 'acme', ...claim };
    const { body: issued } = await b.request('POST', '/api/v1/embedded/scoped-token', { body });
    const info = await test.request('GET', `${infoPath}?organization_id=${a.organizationId}`, { token: issued.token });
    expect(info.body).toEqual({ organization_id: b.organizationId, 'workspace ID': idOf(b, 'acme') });

    const path = `/api/v1/workspaces/${idOf(b, 'acme')}`;
    const updated = await b.request('PUT', path, { body: { status: 'active', id: idOf(a, 'acme'), ...claim } });
    expect(updated.body).toMatchObject({ id: idOf(b, 'acme'), organization_id: b.organizationId });

    const created = await b.request('POST', '/api/v1/operator-tokens', { body: { name: 'grab', ...claim } });
    const seen = await listed({ ...b, request: (m, p) => test.request(m, p, { token: created.body.token }) });
    expect(seen.map(({ id }) => id).sort()).toEqual(own(b));
    const query = `?organization_id=${a.organizationId}&organizationId=${a.organizationId}`;
    expect((await listed(b, query)).map(({ id }) => id).sort()).toEqual(own(b));
  });

  it('lists, searches and counts only what is its own', async () => {
    for (const tenant of [a, b]) {
      expect((await listed(tenant)).map(({ id }) => id).sort()).toEqual(own(tenant));
      expect((await listed(tenant, '?name_contains=acme')).map(({ id }) => id)).toEqual([idOf(tenant, 'acme')]);
      expect((await listed(tenant, '?status=active&limit=100')).length).toBe(names.length);
      const { body } = await tenant.request('GET', '/api/v1/workspaces/stats');
      expect(body).toEqual({ active_count: names.length, inactive_count: 0, total_count: names.length });
    }
    await a.request('PUT', `/api/v1/workspaces/${idOf(a, 'globex')}`, { body: { status: 'inactive' } });
    expect((await b.request('GET', '/api/v1/workspaces/stats')).body.inactive_count).toBe(0);
    expect(await listed(b, '?status=inactive')).toEqual([]);
    await a.request('PUT', `/api/v1/workspaces/${idOf(a, 'globex')}`, { body: { status: 'active' } });
  });

  it("gets no workspace of the other with the other's cursor", async () => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const first = await from.request('GET', '/api/v1/workspaces?limit=1');
      const { search } = new URL(first.body.next);
      const page = await listed(to, search);
      expect(page.length).toBeGreaterThan(0);
      for (const workspace of page) expect(workspace.organization_id).toBe(to.organizationId);
    }
  });

  it('sees only its own operator tokens', async () => {
    const mine = (await b.request('GET', '/api/v1/operator-tokens')).body.data as { id: string }[];
    const theirs = (await a.request('GET', '/api/v1/operator-tokens')).body.data as { id: string }[];
    expect(mine.length).toBeGreaterThan(0);
    expect(mine.filter(({ id }) => theirs.some((token) => token.id === id))).toEqual([]);
  });

  it('syncs only what the platform has for it', async () => {
    const create = (tenant: Tenant, name: string) =>
      test.platform('POST', '/workspaces', { name, organizationId: tenant.organizationId });
    const { body: ofA } = await create(a, 'from the platform');
    const { body: ofB } = await create(b, 'from the platform');
    const { body: synced } = await b.request('POST', '/api/v1/workspaces/sync');
    expect(synced).toEqual({
      total_count: names.length + 1,
      created_count: 1,
      'created_workspace IDs': [ofB.workspaceId],
    });
    expect((await a.request('GET', `/api/v1/workspaces/${ofA.workspaceId}`)).status, 'not synced yet').toBe(404);
    expect((await a.request('GET', `/api/v1/workspaces/${ofB.workspaceId}`)).status).toBe(404);
    const { body: syncedA } = await a.request('POST', '/api/v1/workspaces/sync');
    expect(syncedA).toMatchObject({ created_count: 1, 'created_workspace IDs': [ofA.workspaceId] });
    expect((await b.request('GET', `/api/v1/workspaces/${ofA.workspaceId}`)).status).toBe(404);
    const first = await test.request('POST', '/api/v1/workspaces/sync');
    expect(first.body, 'the first organization has none').toMatchObject({ total_count: 0, created_count: 0 });
  });

  it('keeps its workspaces when the other deletes one of the same name', async () => {
    const token = (await b.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: 'acme' } })).body
      .token;
    expect((await a.request('DELETE', `/api/v1/workspaces/${idOf(a, 'acme')}`)).status).toBe(200);
    expect((await b.request('GET', `/api/v1/workspaces/${idOf(b, 'acme')}`)).status).toBe(200);
    expect((await test.request('GET', infoPath, { token })).status).toBe(200);
  });
});
