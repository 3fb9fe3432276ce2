/** Resources and their fields: exactly the fields of the specification, in its spelling. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const us = '645a183f-b12b-4c6e-8ad3-99e165603450';
const eu = 'b9e48d61-f082-4a14-a8d0-799a907938cb';

describeOnOneDatabase('Resources', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const read = async (id: string) => (await app.request('GET', `/api/v1/workspaces/${id}`)).body;

  describe('Workspace', () => {
    it('has exactly the six fields', async () => {
      const workspace = await read(await app.workspaceId('six fields'));
      expect(Object.keys(workspace).toSorted()).toEqual(
        ['id', 'name', 'organization_id', 'status', 'created_at', 'updated_at'].toSorted(),
      );
    });

    it('id: a UUID, the same here and on the platform', async () => {
      const id = await app.workspaceId('one id');
      expect((await read(id)).id).toBe(id);
      expect(id).toEqual(uuid);
      expect((await app.platform('GET', `/workspaces/${id}`)).body).toMatchObject({ workspaceId: id, name: 'one id' });
    });

    it('name: the name as it was sent', async () => {
      const name = '  Ünï · ACME “quoted” 🚀 ';
      expect((await read(await app.workspaceId(name))).name).toBe(name);
    });

    it('organization_id: the owning organization', async () => {
      expect((await read(await app.workspaceId('owned'))).organization_id).toBe(app.organizationId);
      expect(app.organizationId).toEqual(uuid);
    });

    it.each(['active', 'inactive'])('status: %s', async (status) => {
      const id = await app.workspaceId(`status ${status}`);
      await app.request('PUT', `/api/v1/workspaces/${id}`, { body: { status } });
      expect((await read(id)).status).toBe(status);
    });

    it('created_at: an ISO 8601 UTC timestamp ending in Z', async () => {
      const { created_at } = await read(await app.workspaceId('times'));
      expect(created_at).toEqual(timestamp);
      expect(new Date(created_at).toISOString()).toBe(created_at);
    });

    it('updated_at: the same format; changes when the workspace is updated', async () => {
      const id = await app.workspaceId('updated');
      const before = await read(id);
      expect(before.updated_at).toEqual(timestamp);
      await app.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: 'updated again' } });
      const after = await read(id);
      expect(after.updated_at).toEqual(timestamp);
      expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
      expect(after.created_at).toBe(before.created_at);
    });
  });

  describe('Workspace page', () => {
    it('has exactly data and next', async () => {
      const { body } = await app.request('GET', '/api/v1/workspaces');
      expect(Object.keys(body).toSorted()).toEqual(['data', 'next']);
    });

    it('data: an array of workspaces', async () => {
      const id = await app.workspaceId('listed');
      const { body } = await app.request('GET', '/api/v1/workspaces?name_contains=listed');
      expect(body.data).toEqual([await read(id)]);
    });

    it('next: the full URL of the next page, or null when there are no more pages', async () => {
      await app.workspaceId('paged 1');
      await app.workspaceId('paged 2');
      const first = await app.request('GET', '/api/v1/workspaces?name_contains=paged&limit=1');
      expect(first.body.next).toMatch(/^http:\/\/localhost:8080\/api\/v1\/workspaces\?/);
      const last = await app.request('GET', first.body.next);
      expect(last.body.next).toBeNull();
    });
  });

  it('Deleted-workspace result: exactly id and deleted_at', async () => {
    const id = await app.workspaceId('to be deleted');
    const { body } = await app.request('DELETE', `/api/v1/workspaces/${id}`);
    expect(body).toEqual({ id, deleted_at: timestamp });
  });

  it('Workspace statistics: exactly active_count, inactive_count and total_count, all integers', async () => {
    const { body } = await app.request('GET', '/api/v1/workspaces/stats');
    expect(Object.keys(body).toSorted()).toEqual(['active_count', 'inactive_count', 'total_count']);
    for (const count of Object.values(body)) expect(Number.isInteger(count)).toBe(true);
    expect(body.total_count).toBe(body.active_count + body.inactive_count);
  });

  it('Sync result: exactly total_count, created_count and `created_workspace IDs`, with the space', async () => {
    const { workspaceId } = (await app.platform('POST', '/workspaces', { name: 'made on the platform' })).body;
    const { body } = await app.request('POST', '/api/v1/workspaces/sync');
    expect(body).toEqual({
      total_count: expect.any(Number),
      created_count: 1,
      'created_workspace IDs': [workspaceId],
    });
  });

  it('Token response: exactly token, for both kinds of token', async () => {
    const workspace_name = 'token response';
    const scoped = await app.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name } });
    expect(scoped.body).toEqual({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
    const allowed_origin = 'https://app.example';
    const widget = await app.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name, allowed_origin },
    });
    expect(widget.body).toEqual({ token: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/) });
  });

  it('Scoped token information: exactly organization_id and `workspace ID`, with the space', async () => {
    const token = await app.scopedToken('info');
    const { body } = await app.request('GET', '/api/v1/embedded/scoped-token/info', { token });
    expect(body).toEqual({ organization_id: app.organizationId, 'workspace ID': await app.workspaceId('info') });
  });

  it('Widget token: padded base64 of a JSON object with exactly token and widgetUrl', async () => {
    const { body } = await app.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'widget', allowed_origin: 'https://app.example' },
    });
    const json = Buffer.from(body.token, 'base64');
    expect(json.toString('base64')).toBe(body.token);
    expect(JSON.parse(json.toString('utf8'))).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      widgetUrl: expect.stringMatching(/^http:\/\/localhost:8080\/widget\?/),
    });
  });

  describe('Regions', () => {
    it.each([
      ['US (default)', undefined, 'us'],
      ['US', us, 'us'],
      ['EU', eu, 'eu'],
      ['EU, in upper case', eu.toUpperCase(), 'eu'],
    ])('%s', async (_region, region_id, dataResidency) => {
      const workspace_name = `region ${randomUUID()}`;
      const { status } = await app.request('POST', '/api/v1/embedded/scoped-token', {
        body: { workspace_name, region_id },
      });
      expect(status).toBe(200);
      const id = await app.workspaceId(workspace_name);
      expect((await app.platform('GET', `/workspaces/${id}`)).body.dataResidency).toBe(dataResidency);
    });

    it('are used only when a workspace is created', async () => {
      const id = await app.workspaceId('already in the US');
      const { status } = await app.request('POST', '/api/v1/embedded/scoped-token', {
        body: { workspace_name: 'already in the US', region_id: eu },
      });
      expect(status).toBe(200);
      expect((await app.platform('GET', `/workspaces/${id}`)).body.dataResidency).toBe('us');
    });
  });
});
