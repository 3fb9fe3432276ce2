import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { answering, type FaultyPlatform, faultyPlatform, isList, unreachable } from '../../test/support/faults.ts';

describeOnBothDatabases('synchronising with the platform', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;

  beforeEach(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
  });
  afterEach(() => test.stop());

  const sync = () => test.request('POST', '/api/v1/workspaces/sync');
  const make = async (name: string) => {
    const { body } = await test.platform('POST', '/workspaces', { name, organizationId: test.organizationId });
    return body.workspaceId as string;
  };
  const makeMany = async (count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await make(`imported-${i}`));
    return ids;
  };

  it('records what is missing, page by page, and says which', async () => {
    const ids = await makeMany(205);
    const { body } = await sync();
    expect(body).toMatchObject({ total_count: 205, created_count: 205 });
    expect(new Set(body['created_workspace IDs'])).toEqual(new Set(ids));
    expect((await sync()).body).toEqual({ total_count: 205, created_count: 0, 'created_workspace IDs': [] });
  });

  it('tolerates pages that repeat and overlap, as an unordered listing does when it changes meanwhile', async () => {
    const ids = await makeMany(150);
    faulty.rule(async (request, forward) => {
      if (!isList(request)) return undefined;
      const offset = Number(/offset=(\d+)/.exec(request.path)?.[1]);
      request.path = request.path.replace(/offset=\d+/, `offset=${Math.max(0, offset - 10)}`);
      return await forward();
    });
    const { body } = await sync();
    expect(body.total_count).toBe(new Set(ids).size);
    expect(body.created_count).toBe(150);
  });

  it('keeps what it has when a page fails, and goes on from there on a retry', async () => {
    await makeMany(250);
    const restore = faulty.rule(answering((request) => isList(request) && request.path.includes('offset=200'), 500));
    const answer = await sync();
    expect(answer.status).toBe(502);
    expect(answer.body).toEqual({ detail: 'Synchronisation stopped after 200 workspaces; retry' });
    restore();
    expect((await sync()).body).toMatchObject({ total_count: 250, created_count: 50 });
  });

  it('never brings back what was deleted here, even while the platform still lists it', async () => {
    const id = await test.workspaceId('deleted');
    await test.request('DELETE', `/api/v1/workspaces/${id}`);
    faulty.rule(async (request) =>
      isList(request)
        ? { status: 200, headers: {}, text: JSON.stringify({ data: [{ workspaceId: id, name: 'deleted' }] }) }
        : undefined,
    );
    expect((await sync()).body).toMatchObject({ created_count: 0 });
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).status).toBe(404);
  });

  it('leaves out workspaces of other organizations that a listing shows', async () => {
    const other = '00000000-0000-4000-8000-000000000009';
    await test.platform('POST', '/workspaces', { name: 'foreign', organizationId: other });
    faulty.rule(async (request, forward) => {
      if (!isList(request)) return undefined;
      request.path = request.path.replace(/organizationId=[^&]*&?/, '');
      return await forward();
    });
    await make('ours');
    expect((await sync()).body).toMatchObject({ total_count: 1, created_count: 1 });
  });

  it('deletes nothing when the platform lists nothing', async () => {
    const id = await test.workspaceId('survivor');
    faulty.rule(answering(isList, 200, '{"data":[]}'));
    expect((await sync()).body).toEqual({ total_count: 0, created_count: 0, 'created_workspace IDs': [] });
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).status).toBe(200);
    expect((await test.request('GET', '/metrics')).text).toContain(
      'inlay_workspace_events_total{event="missing_on_platform"} 1',
    );
  });

  it('shows a new name given on the platform, and lets both names lead there', async () => {
    const id = await test.workspaceId('was');
    await test.platform('PATCH', `/workspaces/${id}`, { name: 'is' });
    await sync();
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('is');
    expect(await test.workspaceId('is')).toBe(id);
    expect(await test.workspaceId('was')).toBe(id);
  });

  it('does not undo a rename of ours that the platform has not been told', async () => {
    const id = await test.workspaceId('plain');
    const restore = faulty.rule(unreachable((request) => request.method === 'PATCH'));
    expect((await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: 'fancy' } })).status).toBe(503);
    await sync();
    restore();
    await test.app.store.db.updateTable('operations').set({ next_at: 0 }).execute();
    await test.app.reconciler.pass();
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('fancy');
  });

  it('keeps all of several with one name; the first one known answers to it', async () => {
    const id = await test.workspaceId('same');
    await make('same');
    await make('same');
    expect((await sync()).body).toMatchObject({ total_count: 3, created_count: 2 });
    expect((await test.request('GET', '/api/v1/workspaces?name_contains=same')).body.data).toHaveLength(3);
    expect(await test.workspaceId('same')).toBe(id);
  });

  it('may run several times at once', async () => {
    await makeMany(120);
    const answers = await Promise.all([sync(), sync(), sync(), test.workspaceId('imported-7')]);
    expect(answers.slice(0, 3).map((answer) => (answer as { status: number }).status)).toEqual([200, 200, 200]);
    expect((await test.request('GET', '/api/v1/workspaces/stats')).body.total_count).toBe(120);
  });

  it('answers 502 when the platform rejects the credentials', async () => {
    faulty.rule(answering(isList, 403));
    const answer = await sync();
    expect(answer.status).toBe(502);
    expect(answer.body).toEqual({ detail: 'The platform rejected the service credentials' });
  });
});
