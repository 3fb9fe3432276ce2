/** The overview of all customers, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnBothDatabases } from '../../test/support/databases.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from '../../test/support/pipelines.ts';
import { type Seeded, seedPipelines } from '../../test/support/seed-pipelines.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { refreshHealth } from '../pipelines/jobs/jobs.ts';

const path = '/api/v1/integrations/overview';
const nothing = { healthy: 0, running: 0, failing: 0, needs_attention: 0, paused: 0, never_synced: 0 };

describeOnBothDatabases('The overview', (kind) => {
  let test: TestApp;
  let seeded: Seeded[];
  beforeAll(async () => {
    test = await startTestApp(kind);
    const { store, organization } = test.app;
    const healthOf = (index: number) => (index % 5 === 0 ? ('failing' as const) : ('healthy' as const));
    ({ seeded } = await seedPipelines(store, {
      organizationId: organization.id,
      workspaces: 25,
      jobsEach: 1,
      healthOf,
    }));
  });
  afterAll(() => test.stop());

  const read = async (query = '') => {
    const answer = await test.request('GET', `${path}${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  it('counts connections, sources and workspaces by health, and follows every change of many at once', async () => {
    const counts = { ...nothing, healthy: 20, failing: 5 };
    expect(await read()).toMatchObject({ connections: counts, sources: counts, workspaces: counts });
    const ids = seeded.map(({ connectionId }) => connectionId);
    const change = async (id: string, health: 'healthy' | 'paused' | 'running') =>
      await test.app.store.transaction(async (tx) => {
        await tx.updateTable('connections').set({ health }).where('id', '=', id).execute();
        await tx.updateTable('connections').set({ health: 'needs_attention' }).where('id', '=', id).execute();
      });
    await Promise.all(
      ids.map((id, index) => change(id, (['healthy', 'paused', 'running'] as const)[index % 3] as 'paused')),
    );
    expect((await read()).connections).toEqual({ ...nothing, needs_attention: 25 });
    const [first] = ids;
    await test.app.store.db
      .updateTable('connections')
      .set({ deleted_at: 1 })
      .where('id', '=', first as string)
      .execute();
    await test.app.store.db
      .updateTable('sources')
      .set({ lifecycle: 'deleting' })
      .where('id', '=', seeded[0]?.sourceId as string)
      .execute();
    const after = await read();
    expect([after.connections.needs_attention, after.sources.failing]).toEqual([24, 4]);
    const other = await addTenant(test, `other ${kind}`);
    expect((await other.request('GET', path)).body).toMatchObject({
      connections: nothing,
      unwell: [],
      queue: { waiting: 0 },
    });
  });

  it('names workspaces that fail before those that need attention, the longest first, with the first error', async () => {
    const { store } = test.app;
    const [, a, b, c] = seeded as [Seeded, Seeded, Seeded, Seeded];
    // The jobs that were seeded say how each does.
    const fail = async ({ workspaceId, connectionId }: Seeded, error: string) => {
      await store.db
        .updateTable('jobs')
        .set({ status: 'failed', failed_at: 5, failure_kind: 'transient_error', failure_origin: 'source', error })
        .where('connection_id', '=', connectionId)
        .execute();
      await store.transaction((tx) => refreshHealth({ store } as PipelinesContext, tx, [workspaceId]));
    };
    for (const { workspaceId } of seeded) {
      await store.transaction((tx) => refreshHealth({ store } as PipelinesContext, tx, [workspaceId]));
    }
    await fail(a, 'The first line was cut.');
    await fail(b, 'The second line was cut.');
    await store.db.updateTable('workspaces').set({ unwell_since: 2 }).where('id', '=', a.workspaceId).execute();
    await store.db.updateTable('workspaces').set({ unwell_since: 1 }).where('id', '=', b.workspaceId).execute();
    await store.db
      .updateTable('workspaces')
      .set({ health: 'needs_attention', unwell_since: 0 })
      .where('id', '=', c.workspaceId)
      .execute();
    const body = await read('?limit=3');
    const failing = body.workspaces.failing;
    expect(body.unwell).toHaveLength(3);
    expect(body.more_unwell).toBe(failing + 1 - 3);
    expect(body.unwell.slice(0, 2)).toEqual([
      {
        workspace_id: b.workspaceId,
        workspace_name: 'customer 2',
        health: 'failing',
        since: '1970-01-01T00:00:00.001Z',
        failing_connections: 1,
        connections_that_need_attention: 0,
        first_error: {
          ...{ kind: 'transient_error', origin: 'source', message: 'The second line was cut.' },
          // Stored by an older version: a text without a code.
          ...{ code: null, parameters: {} },
        },
        connection: {
          connection_id: b.connectionId,
          source_id: b.sourceId,
          source_name: 'Shop',
          // Known from before, although the job that proved it is gone.
          last_good_at: '2026-01-01T00:00:32.000Z',
          job_id: '3',
        },
      },
      expect.objectContaining({ workspace_id: a.workspaceId }),
    ]);
    const all = await read('?limit=100');
    expect(all.unwell.map(({ health }: { health: string }) => health)).toEqual([
      ...Array(failing).fill('failing'),
      'needs_attention',
    ]);
    expect(all.more_unwell).toBe(0);
  });

  it('reports what waits, and what ended by hour and by day', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { tags: ['real'] });
    const acme = await customer(test, 'acme');
    await acme.settled(await acme.connect(template, { selected_connection_template_tags: ['real'] }));
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    const before = await read();
    expect(before.queue).toEqual({ waiting: 0, running: 0, oldest_waiting_since: null });
    const started = await acme.request('POST', `/connections/${connection.id}/sync`);
    expect(started.status, started.text).toBe(200);
    expect((await read()).queue).toEqual({ waiting: 1, running: 0, oldest_waiting_since: started.body.started_at });
    expect((await acme.request('POST', `/connections/${connection.id}/cancel`)).status).toBe(200);
    const { queue, hours, days } = await read();
    expect(queue.waiting).toBe(0);
    expect([hours.length, days.length]).toEqual([48, 30]);
    const sum = (periods: { cancelled: number }[]) => periods.reduce((total, { cancelled }) => total + cancelled, 0);
    expect([sum(hours), sum(days)]).toEqual([1, 1]);
    expect(Date.parse(hours[1].from) - Date.parse(hours[0].from)).toBe(3_600_000);
    expect(Date.parse(days[29].from)).toBeLessThanOrEqual(Date.parse(hours[47].from));
  });
});
