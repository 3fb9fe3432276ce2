/** States and transitions: each row of the table, seen here and on the platform. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnBothDatabases } from '../support/databases.ts';

const allowed_origin = 'https://app.example';
const tokenEndpoints = [
  ['scoped-token', {}],
  ['widget-token', { allowed_origin }],
] as const;

describeOnBothDatabases('Transitions', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const read = (id: string) => app.request('GET', `/api/v1/workspaces/${id}`);
  const update = (id: string, body: object) => app.request('PUT', `/api/v1/workspaces/${id}`, { body });
  const count = async () => (await app.request('GET', '/api/v1/workspaces/stats')).body.total_count;
  const onPlatform = async (name: string) =>
    (await app.platform('GET', `/workspaces?name=${encodeURIComponent(name)}`)).body.data;
  const idOf = async (token: string) => {
    const scoped = token.includes('.') ? token : JSON.parse(Buffer.from(token, 'base64').toString()).token;
    return (await app.request('GET', '/api/v1/embedded/scoped-token/info', { token: scoped })).body['workspace ID'];
  };

  /** A workspace on the platform with a source, a destination and connections between them. */
  async function fill(workspaceId: string, connections: number): Promise<string[]> {
    const source = await app.platform('POST', '/sources', {
      name: 'src',
      workspaceId,
      configuration: { sourceType: 'sample-data', count: 10 },
    });
    const destination = await app.platform('POST', '/destinations', {
      name: 'dst',
      workspaceId,
      configuration: { destinationType: 'local-files', path: 'out' },
    });
    const { sourceId } = source.body;
    const { destinationId } = destination.body;
    const ids = Array.from({ length: connections }, async () => {
      const { body } = await app.platform('POST', '/connections', { sourceId, destinationId });
      return String(body.connectionId);
    });
    return await Promise.all(ids);
  }
  const statusesOf = async (ids: string[]) =>
    await Promise.all(ids.map(async (id) => (await app.platform('GET', `/connections/${id}`)).body.status));

  it('any → inactive: every active connection is disabled and updated_at changes', async () => {
    const id = await app.workspaceId('to inactive');
    const connections = await fill(id, 3);
    const before = (await read(id)).body;

    const answer = await update(id, { status: 'inactive' });

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...before, status: 'inactive', updated_at: answer.body.updated_at });
    expect(Date.parse(answer.body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect((await read(id)).body).toEqual(answer.body);
    expect(await statusesOf(connections)).toEqual(['inactive', 'inactive', 'inactive']);
  });

  it('inactive → inactive: stays as it is', async () => {
    const id = await app.workspaceId('twice inactive');
    const { body } = await update(id, { status: 'inactive' });
    expect((await update(id, { status: 'inactive' })).body).toEqual(body);
  });

  it('any → active: from inactive and from active', async () => {
    const id = await app.workspaceId('to active');
    expect((await update(id, { status: 'active' })).body.status).toBe('active');
    await update(id, { status: 'inactive' });
    const answer = await update(id, { status: 'active' });
    expect(answer.body.status).toBe('active');
    expect((await read(id)).body).toEqual(answer.body);
  });

  describe.each(['active', 'inactive'])('%s → soft-deleted', (status) => {
    it('deletes the workspace on the platform with all it holds, and marks it deleted here', async () => {
      const id = await app.workspaceId(`to delete, ${status}`);
      const connections = await fill(id, 2);
      await update(id, { status });

      const answer = await app.request('DELETE', `/api/v1/workspaces/${id}`);

      expect(answer.status).toBe(200);
      expect(answer.body.id).toBe(id);
      expect((await read(id)).status).toBe(404);
      expect((await app.platform('GET', `/workspaces/${id}`)).status).toBe(404);
      for (const connection of connections) {
        expect((await app.platform('GET', `/connections/${connection}`)).status).toBe(404);
      }
      for (const list of ['sources', 'destinations', 'connections']) {
        expect((await app.platform('GET', `/${list}?workspaceIds=${id}`)).body.data).toEqual([]);
      }
    });
  });

  describe.each(tokenEndpoints)('%s request', (endpoint, fields) => {
    const ask = (workspace_name: string) =>
      app.request('POST', `/api/v1/embedded/${endpoint}`, { body: { workspace_name, ...fields } });

    it('no record → exists: unknown here and on the platform, so created on both, as active', async () => {
      const name = `new by ${endpoint}`;
      const { status, body } = await ask(name);
      expect(status).toBe(200);
      const found = await onPlatform(name);
      expect(found).toHaveLength(1);
      expect(await idOf(body.token)).toBe(found[0].workspaceId);
      expect((await read(found[0].workspaceId)).body).toMatchObject({ name, status: 'active' });
    });

    it('no local record → exists: known on the platform, so only the local record is created', async () => {
      const name = `on the platform for ${endpoint}`;
      const { workspaceId } = (await app.platform('POST', '/workspaces', { name })).body;
      expect((await read(workspaceId)).status).toBe(404);

      const { status, body } = await ask(name);

      expect(status).toBe(200);
      expect(await idOf(body.token)).toBe(workspaceId);
      expect((await read(workspaceId)).body).toMatchObject({ id: workspaceId, name });
      expect(await onPlatform(name)).toHaveLength(1);
    });

    it('exists → unchanged: known here, so a token is issued and nothing is created', async () => {
      const name = `known to ${endpoint}`;
      const id = await app.workspaceId(name);
      const [before, total] = [await read(id), await count()];

      const { status, body } = await ask(name);

      expect(status).toBe(200);
      expect(await idOf(body.token)).toBe(id);
      expect((await read(id)).body).toEqual(before.body);
      expect(await count()).toBe(total);
      expect(await onPlatform(name)).toHaveLength(1);
    });

    it('asked ten times at once for a new name creates one workspace', async () => {
      const name = `at once by ${endpoint}`;
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(name)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      const ids = new Set(await Promise.all(answers.map(({ body }) => idOf(body.token))));
      expect(ids.size).toBe(1);
      expect(await onPlatform(name)).toHaveLength(1);
    });
  });

  it('no local record → exists locally: by a sync, which lists the new identifier', async () => {
    const { workspaceId } = (await app.platform('POST', '/workspaces', { name: 'for the sync' })).body;
    const { status, body } = await app.request('POST', '/api/v1/workspaces/sync');
    expect(status).toBe(200);
    expect(body['created_workspace IDs']).toEqual([workspaceId]);
    expect((await read(workspaceId)).body).toMatchObject({ name: 'for the sync', status: 'active' });
  });
});
