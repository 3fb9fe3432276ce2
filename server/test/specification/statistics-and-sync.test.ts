/** Endpoints 8 and 9. */
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createOrganization } from '../../src/tenancy/organizations/organizations.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnBothDatabases } from '../support/databases.ts';
import { nextMillisecond } from '../support/next-millisecond.ts';

const path = '/api/v1/workspaces';

describeOnBothDatabases('Endpoint 8: GET /api/v1/workspaces/stats', (kind) => {
  it('counts active, inactive and all workspaces; deleted ones are not counted', async () => {
    const app = await startTestApp(kind);
    onTestFinished(() => app.stop());
    const stats = async () => {
      const { status, headers, body } = await app.request('GET', `${path}/stats`);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      return body;
    };
    expect(await stats()).toEqual({ active_count: 0, inactive_count: 0, total_count: 0 });

    const ids = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await app.workspaceId(name));
    expect(await stats()).toEqual({ active_count: 4, inactive_count: 0, total_count: 4 });

    await app.request('PUT', `${path}/${ids[0]}`, { body: { status: 'inactive' } });
    await app.request('PUT', `${path}/${ids[1]}`, { body: { status: 'inactive' } });
    expect(await stats()).toEqual({ active_count: 2, inactive_count: 2, total_count: 4 });

    await app.request('DELETE', `${path}/${ids[1]}`);
    await app.request('DELETE', `${path}/${ids[2]}`);
    expect(await stats()).toEqual({ active_count: 1, inactive_count: 1, total_count: 2 });
  });
});

describeOnBothDatabases('Endpoint 9: POST /api/v1/workspaces/sync', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  // An organization for each test, because a sync sees everything that an organization has.
  let organizationId: string;
  let token: string;
  beforeEach(async () => {
    ({ id: organizationId } = await createOrganization(app.app.store, systemRuntime, { name: 'of one test' }));
    ({ token } = await app.app.operatorTokens.create(organizationId, { name: 'of one test' }));
  });

  const request = (method: string, url: string, body?: object) => app.request(method, url, { token, body });
  const workspaceId = async (workspace_name: string) => {
    const { body } = await request('POST', '/api/v1/embedded/scoped-token', { workspace_name });
    const info = await app.request('GET', '/api/v1/embedded/scoped-token/info', { token: body.token });
    return String(info.body['workspace ID']);
  };
  const sync = async () => {
    const { status, headers, body, text } = await request('POST', `${path}/sync`);
    expect(status, text).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    return body;
  };
  const read = (id: string) => request('GET', `${path}/${id}`);
  const makeOnPlatform = async (name: string, more: object = {}) =>
    String((await app.platform('POST', '/workspaces', { name, organizationId, ...more })).body.workspaceId);

  /** Changes the platform directly, without the service. */
  function tamperWithPlatform(statement: string, ...parameters: (string | number | null)[]): void {
    const file = new SqliteConnection(join(app.dataDir, 'platform.db'));
    try {
      expect(file.prepare(statement).run(parameters).changes).toBe(1);
    } finally {
      file.close();
    }
  }

  it('finds nothing where there is nothing', async () => {
    expect(await sync()).toEqual({ total_count: 0, created_count: 0, 'created_workspace IDs': [] });
  });

  it('creates those missing locally, as active, and lists exactly them', async () => {
    await workspaceId('known');
    const ids = [await makeOnPlatform('new 1'), await makeOnPlatform('new 2')];
    const result = await sync();
    expect(result).toMatchObject({ total_count: 3, created_count: 2 });
    expect(result['created_workspace IDs'].toSorted()).toEqual(ids.toSorted());
    expect((await read(ids[0] ?? '')).body).toMatchObject({ name: 'new 1', status: 'active' });
    expect(await workspaceId('new 2')).toBe(ids[1]);
  });

  it('a second sync creates nothing and changes nothing', async () => {
    const id = await makeOnPlatform('once');
    await sync();
    await request('PUT', `${path}/${id}`, { status: 'inactive' });
    const before = await read(id);
    expect(await sync()).toEqual({ total_count: 1, created_count: 0, 'created_workspace IDs': [] });
    expect((await read(id)).body).toEqual(before.body);
  });

  it('reads all pages of the platform', async () => {
    const ids = await Promise.all(Array.from({ length: 101 }, (_, index) => makeOnPlatform(`page ${index}`)));
    const result = await sync();
    expect(result).toMatchObject({ total_count: 101, created_count: 101 });
    expect(result['created_workspace IDs'].toSorted()).toEqual(ids.toSorted());
  });

  it("leaves other organizations' workspaces alone", async () => {
    const other = await makeOnPlatform('theirs', { organizationId: '11111111-2222-4333-8444-555555555555' });
    const mine = await makeOnPlatform('mine');
    expect(await sync()).toEqual({ total_count: 1, created_count: 1, 'created_workspace IDs': [mine] });
    expect((await read(other)).status).toBe(404);
  });

  it('never revives a deleted workspace, even if the platform still has it', async () => {
    const id = await workspaceId('undead');
    await request('DELETE', `${path}/${id}`);
    tamperWithPlatform('update workspaces set deleted_at = null where workspace_id = ?', id);
    expect((await app.platform('GET', `/workspaces/${id}`)).status).toBe(200);

    expect(await sync()).toMatchObject({ created_count: 0, 'created_workspace IDs': [] });
    expect((await read(id)).status).toBe(404);
    expect(await workspaceId('undead')).not.toBe(id);
    expect((await read(id)).status).toBe(404);
  });

  it('keeps a workspace that the platform no longer has', async () => {
    const id = await workspaceId('lost there');
    tamperWithPlatform('delete from workspaces where workspace_id = ?', id);
    expect(await sync()).toEqual({ total_count: 0, created_count: 0, 'created_workspace IDs': [] });
    expect((await read(id)).status).toBe(200);
  });

  describe('several workspaces of one name', () => {
    it('are all kept, and the oldest gets the name', async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, () => makeOnPlatform('twins')));
      // Neither the first in the alphabet nor the first made is the oldest.
      const oldest = ids.toSorted().at(-1) ?? '';
      tamperWithPlatform('update workspaces set created_at = ? where workspace_id = ?', Date.UTC(2020, 0, 1), oldest);

      const result = await sync();

      expect(result).toMatchObject({ total_count: 4, created_count: 4 });
      const { body } = await request('GET', `${path}?name_contains=twins`);
      expect(body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted());
      expect(await workspaceId('twins')).toBe(oldest);
    });

    it('a token request with the name gets the oldest as well', async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, () => makeOnPlatform('triplets')));
      const oldest = ids.toSorted().at(-1) ?? '';
      tamperWithPlatform('update workspaces set created_at = ? where workspace_id = ?', Date.UTC(2020, 0, 1), oldest);
      expect(await workspaceId('triplets')).toBe(oldest);
      expect(await sync()).toMatchObject({ total_count: 4, created_count: 3 });
      expect(await workspaceId('triplets')).toBe(oldest);
    });

    it('each can be renamed and deleted for itself', async () => {
      const ids = [await makeOnPlatform('pair'), await makeOnPlatform('pair')];
      await sync();
      const named = await workspaceId('pair');
      const other = ids.find((id) => id !== named) ?? '';
      const renamed = await request('PUT', `${path}/${other}`, { name: 'single' });
      expect(renamed.status).toBe(200);
      expect(await workspaceId('single')).toBe(other);
      expect(await workspaceId('pair')).toBe(named);
    });
  });

  it('shows a name that was changed on the platform, and both names lead there', async () => {
    const id = await workspaceId('before');
    const { updated_at } = (await read(id)).body;
    await app.platform('PATCH', `/workspaces/${id}`, { name: 'after' });
    // A listing must be younger than our last change to count; with a clock of milliseconds that takes one of them.
    await nextMillisecond();

    expect(await sync()).toMatchObject({ total_count: 1, created_count: 0 });

    const { body } = await read(id);
    expect(body.name).toBe('after');
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(updated_at));
    expect(await workspaceId('after')).toBe(id);
    expect(await workspaceId('before')).toBe(id);
  });

  it('syncs that overlap agree', async () => {
    const ids = await Promise.all(['x', 'y', 'z'].map((name) => makeOnPlatform(name)));
    const results = await Promise.all([sync(), sync(), sync()]);
    for (const { total_count } of results) expect(total_count).toBe(3);
    const { body } = await request('GET', path);
    expect(body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted());
  });
});
