/** What activating, deactivating and deleting a workspace does to its connections. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

describeOnOneDatabase('Connections of a workspace', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const setStatus = async (id: string, status: string) => {
    const answer = await app.request('PUT', `/api/v1/workspaces/${id}`, { body: { status } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.status).toBe(status);
  };

  /** A workspace with a source and a destination, and a way to make connections between them. */
  async function prepare(name: string) {
    const workspaceId = await app.workspaceId(name);
    const source = { name: 'src', workspaceId, configuration: { sourceType: 'sample-data', count: 10 } };
    const destination = { name: 'dst', workspaceId, configuration: { destinationType: 'local-files', path: 'out' } };
    const { sourceId } = (await app.platform('POST', '/sources', source)).body;
    const { destinationId } = (await app.platform('POST', '/destinations', destination)).body;
    const connect = async (status: 'active' | 'inactive' = 'active') => {
      const { body } = await app.platform('POST', '/connections', { sourceId, destinationId, status });
      return String(body.connectionId);
    };
    return { workspaceId, sourceId: String(sourceId), destinationId: String(destinationId), connect };
  }
  const statusOf = async (id: string) => (await app.platform('GET', `/connections/${id}`)).body.status;

  it('deactivating disables every active one; activating enables exactly those again', async () => {
    const { workspaceId, connect } = await prepare('restores');
    const active = [await connect(), await connect()];
    const disabledByHand = await connect();
    await app.platform('PATCH', `/connections/${disabledByHand}`, { status: 'inactive' });
    const neverActive = await connect('inactive');
    const all = [...active, disabledByHand, neverActive];
    const statuses = () => Promise.all(all.map(statusOf));

    await setStatus(workspaceId, 'inactive');
    expect(await statuses()).toEqual(['inactive', 'inactive', 'inactive', 'inactive']);

    await setStatus(workspaceId, 'active');
    expect(await statuses()).toEqual(['active', 'active', 'inactive', 'inactive']);
  });

  it('handles more connections than fit on one page of the platform', async () => {
    const { workspaceId, connect } = await prepare('many');
    await Promise.all(Array.from({ length: 101 }, () => connect()));
    const active = async () => {
      const pages = await Promise.all(
        [0, 100].map((offset) =>
          app.platform('GET', `/connections?workspaceIds=${workspaceId}&limit=100&offset=${offset}`),
        ),
      );
      const connections = pages.flatMap(({ body }) => body.data);
      expect(connections).toHaveLength(101);
      return connections.filter(({ status }) => status === 'active').length;
    };
    await setStatus(workspaceId, 'inactive');
    expect(await active()).toBe(0);
    await setStatus(workspaceId, 'active');
    expect(await active()).toBe(101);
  });

  it('each round starts over: what was disabled by hand in between stays disabled', async () => {
    const { workspaceId, connect } = await prepare('rounds');
    const [first, second] = [await connect(), await connect()];
    await setStatus(workspaceId, 'inactive');
    await setStatus(workspaceId, 'active');
    await app.platform('PATCH', `/connections/${first}`, { status: 'inactive' });
    await setStatus(workspaceId, 'inactive');
    await setStatus(workspaceId, 'active');
    expect([await statusOf(first), await statusOf(second)]).toEqual(['inactive', 'active']);
  });

  it('a connection deleted while its workspace was inactive stays away and does no harm', async () => {
    const { workspaceId, connect } = await prepare('one deleted');
    const [kept, deleted] = [await connect(), await connect()];
    await setStatus(workspaceId, 'inactive');
    await app.platform('DELETE', `/connections/${deleted}`);
    await setStatus(workspaceId, 'active');
    expect(await statusOf(kept)).toBe('active');
    expect((await app.platform('GET', `/connections/${deleted}`)).status).toBe(404);
  });

  it('what it remembers outlives a restart', async () => {
    const { workspaceId, connect } = await prepare('restarted');
    const [active, inactive] = [await connect(), await connect('inactive')];
    await setStatus(workspaceId, 'inactive');
    await app.restart();
    await setStatus(workspaceId, 'active');
    expect([await statusOf(active), await statusOf(inactive)]).toEqual(['active', 'inactive']);
  });

  it('other workspaces are left alone', async () => {
    const [one, other] = [await prepare('one'), await prepare('other')];
    const [mine, theirs] = [await one.connect(), await other.connect()];
    await setStatus(one.workspaceId, 'inactive');
    expect([await statusOf(mine), await statusOf(theirs)]).toEqual(['inactive', 'active']);
    await app.request('DELETE', `/api/v1/workspaces/${one.workspaceId}`);
    expect(await statusOf(theirs)).toBe('active');
  });

  it('deleting takes all sources, destinations and connections along', async () => {
    const { workspaceId, sourceId, destinationId, connect } = await prepare('cascade');
    const connections = [await connect(), await connect('inactive')];
    expect((await app.request('DELETE', `/api/v1/workspaces/${workspaceId}`)).status).toBe(200);
    const gone = [
      `/workspaces/${workspaceId}`,
      `/sources/${sourceId}`,
      `/destinations/${destinationId}`,
      ...connections.map((id) => `/connections/${id}`),
    ];
    for (const path of gone) expect((await app.platform('GET', path)).status, path).toBe(404);
  });
});
