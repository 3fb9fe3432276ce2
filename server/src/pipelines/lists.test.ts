/** Lists over all workspaces, single jobs and their logs, as operators see them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, type Tenant } from '../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { type Seeded, seedPipelines } from '../../test/support/seed-pipelines.ts';

const path = '/api/v1/integrations';

describeOnBothDatabases('lists over all workspaces', (kind) => {
  let test: TestApp;
  let other: Tenant;
  let seeded: Seeded[];
  let ids: Record<'sourceTemplateId' | 'connectionTemplateId' | 'definitionId', string>;
  beforeAll(async () => {
    test = await startTestApp(kind);
    other = await addTenant(test, 'other');
    const { store, organization } = test.app;
    const healthOf = (index: number) => (index % 5 === 0 ? ('failing' as const) : ('healthy' as const));
    ({ seeded, ...ids } = await seedPipelines(store, {
      organizationId: organization.id,
      workspaces: 25,
      jobsEach: 2,
      healthOf,
    }));
    await seedPipelines(store, { organizationId: other.organizationId, workspaces: 3, jobsEach: 1 });
  });
  afterAll(() => test.stop());

  const get = async (rest: string) => {
    const answer = await test.request('GET', `${path}${rest}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  /** Every item, by following `next`. */
  async function all(rest: string) {
    const items: { id: string; [field: string]: unknown }[] = [];
    const pages: number[] = [];
    for (let url: string | null = rest; url !== null; ) {
      const page: { data: typeof items; next: string | null } = await get(url);
      items.push(...page.data);
      pages.push(page.data.length);
      url = page.next === null ? null : page.next.slice(page.next.indexOf(path) + path.length);
    }
    return { items, pages, ids: items.map(({ id }) => id) };
  }
  const failing = () => seeded.filter((_, index) => index % 5 === 0);

  it('page through connections and sources once each, in order, of this organization only', async () => {
    const connections = await all('/connections?limit=10');
    expect(connections.pages).toEqual([10, 10, 5]);
    expect(connections.ids).toEqual(seeded.map(({ connectionId }) => connectionId));
    expect(connections.items[0]).toMatchObject({
      workspace_id: seeded[0]?.workspaceId,
      workspace_name: 'customer 0',
      status: 'active',
      health: { state: 'failing' },
      last_run: { id: '2', status: 'failed', error: 'The line was cut.' },
      source_template_id: ids.sourceTemplateId,
    });
    expect((await all('/connections?limit=10&sort=-created_at')).ids).toEqual(connections.ids.toReversed());
    const sources = await all('/sources?limit=7');
    expect(sources.ids).toEqual(seeded.map(({ sourceId }) => sourceId));
    expect(sources.items[0]).toMatchObject({ health: { state: 'failing' }, name: 'Shop' });
    expect((await other.request('GET', `${path}/connections`)).body.data).toHaveLength(3);
  });

  it('narrow by workspace, template, definition, health, status and time, and keep that in next', async () => {
    const bad = failing().map(({ connectionId }) => connectionId);
    expect((await all('/connections?health=failing&limit=2')).ids).toEqual(bad);
    expect((await all('/sources?health=failing&limit=2')).ids).toEqual(failing().map(({ sourceId }) => sourceId));
    for (const filter of [
      `source_template_id=${ids.sourceTemplateId}`,
      `connection_template_id=${ids.connectionTemplateId}`,
      `definition_id=${ids.definitionId}`,
    ]) {
      expect((await all(`/connections?${filter}&health=failing`)).ids, filter).toEqual(bad);
      expect((await all(`/jobs?${filter}&status=failed`)).items, filter).toHaveLength(10);
    }
    expect((await all(`/connections?definition_id=${seeded[0]?.workspaceId}`)).ids).toEqual([]);
    const [first] = seeded as [Seeded, ...Seeded[]];
    expect((await all(`/connections?workspace_id=${first.workspaceId}&limit=5`)).ids).toEqual([first.connectionId]);
    expect((await all(`/sources?workspace_id=${first.workspaceId}`)).ids).toEqual([first.sourceId]);
    const late = seeded.slice(20).map(({ connectionId }) => connectionId);
    expect((await all('/connections?created_after=2026-01-01T00:00:20Z')).ids).toEqual(late);
    expect(
      (await all('/connections?created_after=2026-01-01T00:00:20Z&created_before=2026-01-01T00:00:21Z')).ids,
    ).toEqual(late.slice(0, 1));
    expect((await all(`/jobs?connection_id=${first.connectionId}`)).ids).toEqual(['2', '1']);
    expect((await all(`/jobs?source_id=${first.sourceId}&sort=started_at`)).ids).toEqual(['1', '2']);
  });

  it('show jobs newest first, each once, and one job with what is known of it', async () => {
    const jobs = await all('/jobs?limit=9');
    expect(jobs.ids).toHaveLength(50);
    expect(new Set(jobs.ids).size).toBe(50);
    const times = jobs.items.map(({ started_at }) => String(started_at));
    expect(times).toEqual(times.toSorted().toReversed());
    expect(await get('/jobs/1')).toMatchObject({
      id: '1',
      workspace_name: 'customer 0',
      connection_id: seeded[0]?.connectionId,
      attempts: 1,
      failure: { kind: 'transient_error', origin: 'source', message: 'The line was cut.' },
      // The platform has told of no attempts.
      attempt_list: null,
      first_error: null,
      rows: 10,
    });
    expect((await other.request('GET', `${path}/jobs/50`)).status).toBe(404);
    expect((await test.request('GET', `${path}/jobs/51`)).body).toEqual({ detail: 'Job not found' });
  });

  it('refuse a cursor that was not made here, and a workspace of others', async () => {
    const refused = await test.request('GET', `${path}/jobs?cursor=x`);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'cursor'] }] } });
    const { workspaceId } = seeded[0] as Seeded;
    for (const list of ['connections', 'sources', 'jobs']) {
      expect((await other.request('GET', `${path}/${list}?workspace_id=${workspaceId}&limit=5`)).status).toBe(404);
    }
  });
});
