/** Lists over all workspaces, single jobs and their logs, as operators see them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, type Tenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { planOf, statementOf } from '../../../test/support/query-plan.ts';
import { type Seeded, seedPipelines } from '../../../test/support/seed-pipelines.ts';
import type { Db } from '../../kernel/db/open.ts';
import { readQueue } from '../../operating/overview.store.ts';
import * as lists from './lists.store.ts';

const path = '/api/v1/integrations';
type JobFilter = lists.ListFilter & { isFailing?: boolean; isWaiting?: boolean; isByEnd?: boolean };

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

  it('narrow connections by status, and jobs to those that failed or continue after a failed attempt', async () => {
    const { db } = test.app.store;
    const [one, two] = seeded.slice(1, 3) as [Seeded, Seeded];
    await db.updateTable('connections').set({ status: 'failed' }).where('id', '=', one.connectionId).execute();
    expect((await all('/connections?status=failed')).ids).toEqual([one.connectionId]);
    expect((await all('/connections?status=active&limit=9')).ids).toHaveLength(24);
    const jobs = async () => (await all('/jobs?failing=true&limit=3')).items;
    expect(await jobs()).toHaveLength(10);
    const retried = db.updateTable('jobs').where('connection_id', '=', two.connectionId).where('id', '=', '6');
    await retried.set({ status: 'running', ended_at: null, failed_attempts: 1 }).execute();
    expect(await jobs()).toHaveLength(11);
    await retried.set({ status: 'succeeded', ended_at: 1, failed_attempts: 1 }).execute();
    expect(await jobs()).toHaveLength(10);
    expect((await test.request('GET', `${path}/jobs?failing=false`)).status).toBe(422);
    const [since, until] = ['2026-01-01T00:00:30Z', '2026-01-01T00:00:32Z'];
    const ended = await all(`/jobs?ended_after=${since}&ended_before=${until}&limit=1`);
    expect(ended.items.map(({ ended_at }) => ended_at)).toEqual(
      ended.items
        .map(({ ended_at }) => ended_at)
        .toSorted()
        .reverse(),
    );
    expect(ended.ids).toEqual(['3', '1']);
    expect((await all(`/jobs?ended_after=${since}&ended_before=${until}&sort=started_at`)).ids).toEqual(['1', '3']);
    expect((await test.request('GET', `${path}/jobs?ended_after=${since}&started_after=${since}`)).status).toBe(422);
  });

  it('show workspaces with the worst health of their connections, newest first', async () => {
    const workspaces = await all('/workspaces?limit=10');
    expect(workspaces.ids).toEqual(seeded.map(({ workspaceId }) => workspaceId).toReversed());
    expect(workspaces.items.at(-1)).toMatchObject({
      name: 'customer 0',
      status: 'active',
      health: { state: 'failing' },
      connections: { failing: 1, healthy: 0 },
    });
    const bad = failing().map(({ workspaceId }) => workspaceId);
    expect((await all('/workspaces?health=failing&sort=created_at&limit=2')).ids).toEqual(bad);
    expect((await all('/workspaces?status=inactive')).ids).toEqual([]);
    expect((await all('/workspaces?created_before=2026-01-01T00:00:02Z')).ids).toHaveLength(2);
    const { workspaceId } = seeded[0] as Seeded;
    const health = await test.request('GET', `/api/v1/workspaces/${workspaceId}/health`);
    expect(health.body).toMatchObject({ workspace_id: workspaceId, health: { state: 'failing' } });
    expect((await other.request('GET', `/api/v1/workspaces/${workspaceId}/health`)).status).toBe(404);
    expect((await other.request('GET', `${path}/workspaces`)).body.data).toHaveLength(3);
  });

  it('a list finds each page by an index, however it is narrowed and sorted: nothing is read through or sorted', async () => {
    const { db } = test.app.store;
    const page = { after: { time: 5, id: seeded[0]?.sourceId ?? '' }, limit: 21, from: undefined, until: undefined };
    const [organizationId, id] = [test.organizationId, seeded[0]?.sourceId];
    type List = (catching: Db, slice: lists.Slice) => Promise<unknown>;
    const listOf = {
      connections:
        (filter: lists.ListFilter): List =>
        (db, slice) =>
          lists.listConnectionPage(db, organizationId, filter, slice),
      sources:
        (filter: lists.ListFilter): List =>
        (db, slice) =>
          lists.listSourcePage(db, organizationId, filter, slice),
      jobs:
        ({ isByEnd = false, ...filter }: JobFilter): List =>
        (db, slice) =>
          lists.listJobPage(db, organizationId, { isFailing: false, ...filter }, { ...slice, isByEnd }),
    };
    const forms: [keyof typeof listOf, index: string, filter: JobFilter][] = [
      ['connections', 'connections_in_order', {}],
      ['connections', 'connections_in_order_of_workspace', { workspaceId: id }],
      ['connections', 'connections_of_source_template', { sourceTemplateId: id }],
      ['connections', 'connections_in_order_of_template', { connectionTemplateId: id }],
      ['connections', 'connections_by_definition', { definitionId: id }],
      ['connections', 'connections_by_health', { health: 'failing' }],
      ['connections', 'connections_by_status', { status: 'failed' }],
      ['sources', 'sources_in_order', {}],
      ['sources', 'sources_in_order_of_workspace', { workspaceId: id }],
      ['sources', 'sources_in_order_of_template', { sourceTemplateId: id }],
      ['sources', 'sources_by_definition', { definitionId: id }],
      ['sources', 'sources_by_health', { health: 'failing' }],
      ['jobs', 'jobs_newest', {}],
      ['jobs', 'jobs_of_workspace', { workspaceId: id }],
      ['jobs', 'jobs_by_source_template', { sourceTemplateId: id }],
      ['jobs', 'jobs_by_connection_template', { connectionTemplateId: id }],
      ['jobs', 'jobs_by_definition', { definitionId: id }],
      ['jobs', 'jobs_of_source', { sourceId: id }],
      ['jobs', 'jobs_of_connection', { connectionId: id }],
      ['jobs', 'jobs_by_status', { status: 'running' }],
      ['jobs', 'jobs_failing', { isFailing: true }],
      ['jobs', 'jobs_of_source', { sourceId: id, status: 'failed' }],
      ['jobs', 'jobs_of_workspace', { workspaceId: id, status: 'failed' }],
      ['jobs', 'jobs_of_connection', { connectionId: id, workspaceId: id, isFailing: true }],
      ['connections', 'connections_in_order_of_workspace', { workspaceId: id, health: 'failing' }],
      ['jobs', 'jobs_waiting', { isWaiting: true }],
      ['jobs', 'jobs_of_connection', { connectionId: id, isWaiting: true }],
      ['jobs', 'jobs_ended', { isByEnd: true }],
      ['jobs', 'jobs_ended_by_status', { isByEnd: true, status: 'failed' }],
    ];
    const costly: string[] = [];
    for (const [table, index, filter] of forms) {
      for (const slice of [
        { ...page, isNewestFirst: true },
        { ...page, isNewestFirst: false },
        { ...page, isNewestFirst: false, after: undefined, from: 1, until: 9 },
        { ...page, isNewestFirst: true, from: 1, until: 9 },
      ]) {
        const statement = await statementOf(db, (catching) => listOf[table](filter)(catching, slice));
        const plan = await planOf(test.app.store, statement);
        const isFlat = !/\bSCAN\b|TEMP B-TREE|Seq Scan|\bSort\b/.test(plan) && new RegExp(`\\b${index}`).test(plan);
        if (!isFlat) costly.push(`${index}: ${statement.sql}\n${plan}`);
      }
    }
    expect(costly).toEqual([]);
    const queue = await statementOf(db, (catching) => readQueue(catching, organizationId));
    expect(await planOf(test.app.store, queue)).toMatch(/jobs_(open_of_organization|waiting)/);
    // The time is looked for in the index, and not compared with every entry.
    const stale = await statementOf(db, (catching) =>
      lists.listConnectionPage(catching, organizationId, { isStale: true }, { ...page, isNewestFirst: false }),
    );
    expect(await planOf(test.app.store, stale)).toMatch(
      /connections_stale[^\n]*(\n *Index Cond: .*stale_at <=|.*stale_at<)/,
    );
    // The look itself: it sees a list that has no index.
    const unsorted = db.selectFrom('jobs').select('id').orderBy('row_count').compile();
    expect(await planOf(test.app.store, unsorted)).toMatch(/TEMP B-TREE|Sort/);
  });

  it('one job, and the last success before it, are found by an index of their own', async () => {
    const { store } = test.app;
    const one = await statementOf(store.db, (catching) => lists.findJob(catching, test.organizationId, '4'));
    expect(await planOf(store, one)).toMatch(/jobs_by_id/);
    const job = { connection_id: seeded[1]?.connectionId ?? '', started_at: 9, workspace_name: 'customer 1' };
    const good = await statementOf(store.db, (catching) => lists.findGoodBefore(catching, test.organizationId, job));
    expect(await planOf(store, good)).toMatch(/jobs_outcomes/);
  });

  it('show jobs newest first, each once, and one job with everything known about it', async () => {
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
      // The platform has reported no attempts.
      attempt_list: null,
      first_error: null,
      row_points: null,
      rows: 10,
    });
    const points = [
      [1_000, 1, 4],
      [3_000, 1, 10],
    ];
    const first = test.app.store.db.updateTable('jobs').where('organization_id', '=', test.organizationId);
    await first
      .set({ row_points: JSON.stringify(points) })
      .where('id', '=', '1')
      .execute();
    expect((await get('/jobs/1')).row_points).toEqual([
      { at: '1970-01-01T00:00:01.000Z', attempt: 1, rows: 4 },
      { at: '1970-01-01T00:00:03.000Z', attempt: 1, rows: 10 },
    ]);
    const good = await get('/jobs/4');
    expect([good.last_good_job.id, good.last_good_job.rows]).toEqual(['3', 10]);
    expect((await get('/jobs/3')).last_good_job).toBeNull();
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
