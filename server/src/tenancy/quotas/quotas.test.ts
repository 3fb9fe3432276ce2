/** Quotas and usage, by the API: what is over is refused, exactly, with words for each audience. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { type Answer, startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import {
  type Customer,
  customer,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';
import { holdHealth } from '../../pipelines/jobs/jobs.ts';

const noLimits = {
  sources: null,
  connections: null,
  concurrent_syncs: null,
  shortest_interval_seconds: null,
  rows_per_day: null,
  rows_per_month: null,
  bytes_per_day: null,
  bytes_per_month: null,
};

describeOnBothDatabases('Quotas', (kind) => {
  let test: TestApp;
  /** Another replica on the same data. */
  let second: TestApp;
  let template: string;
  let acme: Customer;

  beforeAll(async () => {
    test = await startTestApp(kind, { env: { INLAY_JOB_HISTORY_DAYS: '1' } });
    second = await startTestApp(kind, {
      shared: { dataDir: test.dataDir, url: test.env.INLAY_DATABASE_URL, drop: async () => {} } as never,
      env: { INLAY_OPERATOR_TOKEN: test.operatorToken },
    });
    template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    acme = await customer(test, 'acme');
  });
  afterAll(async () => {
    await second?.stop();
    await test?.stop();
  });

  const path = (id: string) => `/api/v1/workspaces/${id}/quotas`;
  const put = async (url: string, body: object) => {
    const answer = await test.request('PUT', url, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const connect = (on: TestApp, { workspaceId }: Customer, token: string = on.operatorToken) =>
    token === on.operatorToken
      ? on.request('POST', `/api/v1/integrations/sources?workspace_id=${workspaceId}`, {
          body: { source_template_id: template, source_config: { count: 1 } },
        })
      : on.request('POST', '/api/v1/embedded/sources', {
          token,
          body: { source_template_id: template, source_config: { count: 1 } },
        });

  it('are of the organization, and in a workspace each may be replaced or lifted', async () => {
    expect((await test.request('GET', '/api/v1/quotas')).body).toEqual(noLimits);
    const ofAll = await put('/api/v1/quotas', { sources: 3, rows_per_day: 1000, bytes_per_day: null });
    expect(ofAll).toEqual({ ...noLimits, sources: 3, rows_per_day: 1000 });
    const own = { sources: null, connections: 7 };
    const quotas = { ...noLimits, connections: 7, rows_per_day: 1000 };
    expect(await put(path(acme.workspaceId), own)).toEqual({ own, quotas });
    expect((await test.request('GET', path(acme.workspaceId))).body).toEqual({ own, quotas });
    expect((await test.request('DELETE', path(acme.workspaceId))).body).toEqual({ own: {}, quotas: ofAll });
    const other = await addTenant(test, `other ${kind}`);
    expect((await other.request('GET', '/api/v1/quotas')).body).toEqual(noLimits);
    expect((await other.request('PUT', path(acme.workspaceId), { body: { sources: 0 } })).status).toBe(404);
    for (const body of [{ sources: -1 }, { concurrent_syncs: 0 }, { rows_per_day: 1.5 }, { rows_per_day: '1' }]) {
      expect((await test.request('PUT', '/api/v1/quotas', { body })).status, JSON.stringify(body)).toBe(422);
    }
    expect((await test.request('DELETE', '/api/v1/quotas')).body).toEqual(noLimits);
  });

  it('give 50 parallel creates on two replicas exactly the 10 sources that are allowed', async () => {
    await put(path(acme.workspaceId), { sources: 10 });
    // On a busy machine, a request may wait too long for the workspace and gets a retryable error.
    const connectAtLast = async (on: TestApp): Promise<Answer> => {
      const answer = await connect(on, acme);
      return answer.status === 503 ? await connectAtLast(on) : answer;
    };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => connectAtLast(index % 2 === 0 ? test : second)),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(201), count(409)], answers.find(({ status }) => status !== 201)?.text).toEqual([10, 40]);
    const usage = (await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/usage`)).body;
    expect(usage.sources).toEqual({ used: 10, limit: 10 });
    expect(usage.connections).toEqual({ used: 10, limit: null });
  });

  it('show operators which quota is reached, and customers only what they may do', async () => {
    const operator = await connect(test, acme);
    expect(operator.headers['x-inlay-error']).toBe('quota_reached');
    expect(operator.headers['x-inlay-error-parameters']).toBe('quota=sources; limit=10; used=10');
    expect(operator.body.detail).toMatch(/ sources .* 10 of 10 .*PUT \/api\/v1\/workspaces\/\{workspace_id\}\/quotas/);
    const refused = await connect(test, acme, acme.token);
    expect(refused.status).toBe(409);
    expect(refused.headers['x-inlay-error-parameters']).toBe('quota=sources; limit=10');
    expect(refused.headers['access-control-expose-headers']).toContain('X-Inlay-Error-Parameters');
    expect(refused.body.detail).toContain('limit of 10 sources');
  });

  it('count a deleted source no more, and refuse a source whose connections would be too many', async () => {
    const [first] = (await acme.request('GET', '/sources')).body.data;
    expect((await acme.request('DELETE', `/sources/${first.id}`)).status).toBe(200);
    await put(path(acme.workspaceId), { sources: 10, connections: 9 });
    const refused = await connect(test, acme);
    expect([refused.status, refused.headers['x-inlay-error-parameters']]).toEqual([
      409,
      'quota=connections; limit=9; used=9',
    ]);
    await put(path(acme.workspaceId), { sources: 10, connections: 10 });
    expect((await connect(test, acme)).status).toBe(201);
    await makeConnectionTemplate(test, { destination_name: 'Second' });
    const applied = await test.request('POST', `/api/v1/workspaces/${acme.workspaceId}/templates/apply`, { body: {} });
    expect([applied.status, applied.headers['x-inlay-error']], 'a new plan').toEqual([409, 'quota_reached']);
    // A lower limit takes nothing away.
    await put(path(acme.workspaceId), { sources: 1 });
    expect((await acme.request('GET', '/sources')).body.data).toHaveLength(10);
    expect((await connect(test, acme)).status).toBe(409);
  });

  it('slow a schedule that runs too often, and give it back when they allow it', async () => {
    const cron_expression = '0 * * * * ?';
    await makeConnectionTemplate(test, { destination_name: 'Often', tags: ['often'], cron_expression });
    const beta = await customer(test, 'beta');
    const selected = { selected_connection_template_tags: ['often'] };
    const source = await beta.connect(template, selected);
    await beta.settled(source);
    const told = async () => {
      const { connections } = await onPlatform(test, beta.workspaceId);
      return connections.map(({ schedule }: { schedule: { cronExpression: string } }) =>
        schedule.cronExpression.replace(' UTC', ''),
      );
    };
    expect(await told()).toEqual([cron_expression]);
    await put(path(beta.workspaceId), { shortest_interval_seconds: 3600 });
    await beta.settled(source);
    const added = await beta.connect(template, { ...selected, name: 'Second' });
    await beta.settled(added);
    expect(await told(), 'what was there, and what comes').toEqual(['0 0 * * * ?', '0 0 * * * ?']);
    const [shown] = (await beta.request('GET', '/connections')).body.data;
    expect(shown).toMatchObject({ cron_expression, slowed_cron_expression: '0 0 * * * ?' });
    expect(shown.next_run_at).toMatch(/:00:00\.000Z$/);

    const syncNow = () => beta.request('POST', `/connections/${shown.id}/sync`);
    const started = await syncNow();
    expect(started.status, started.text).toBe(200);
    expect((await beta.request('POST', `/connections/${shown.id}/cancel`)).status).toBe(200);
    const refused = await syncNow();
    expect([refused.status, refused.headers['x-inlay-error']]).toEqual([409, 'quota_reached']);
    expect(refused.headers['x-inlay-error-parameters']).toMatch(
      /^quota=shortest_interval_seconds; limit=\d+; until=\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);

    await test.request('DELETE', path(beta.workspaceId));
    for (const id of [source, added]) await beta.settled(id);
    expect((await told()).sort()).toEqual([cron_expression, cron_expression]);
    expect((await syncNow()).status).toBe(200);

    await put(path(beta.workspaceId), { concurrent_syncs: 1 });
    // Held, so that nobody who has read the job before writes it afterwards.
    await test.app.store.transaction(async (tx) => {
      await holdHealth(test.app.store, tx, [beta.workspaceId]);
      await tx
        .updateTable('jobs')
        // What the platform reported before counts as older.
        .set({ status: 'running', attempts: 1 })
        .where('workspace_id', '=', beta.workspaceId)
        .where('ended_at', 'is', null)
        .execute();
    });
    const [, other] = (await beta.request('GET', '/connections')).body.data;
    const tooMany = await beta.request('POST', `/connections/${other.id}/sync`);
    expect([tooMany.status, tooMany.headers['x-inlay-error-parameters']]).toEqual([
      409,
      'quota=concurrent_syncs; limit=1',
    ]);
  });

  it('know what was moved for two months, whatever is kept of jobs, and forget what is older', async () => {
    const { db } = test.app.store;
    const { workspaceId: workspace_id } = acme;
    const organization_id = test.organizationId;
    const counted = { row_count: 5, byte_count: 7 };
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    const days = [0, 1, 31, 61, 63, 400].map((ago) => today - ago * 86_400_000);
    // More than are removed at a time.
    const old = Array.from({ length: 2_500 }, (_, index) => today - (401 + index) * 86_400_000);
    for (const times of [days, old.slice(0, 1_000), old.slice(1_000, 2_000), old.slice(2_000)]) {
      const rows = times.map((day) => ({ organization_id, workspace_id, day, syncs: 1, ...counted }));
      await db.insertInto('usage_days').values(rows).execute();
    }
    // Syncs of other tests count for the present hour.
    await db.deleteFrom('job_hours').execute();
    const hours = days.map((hour) => ({ organization_id, hour, status: 'succeeded' as const, jobs: 1, ...counted }));
    await db.insertInto('job_hours').values(hours).execute();
    const usage = async () => (await test.request('GET', `/api/v1/workspaces/${workspace_id}/usage`)).body;
    const overview = async () => (await test.request('GET', '/api/v1/integrations/overview')).body.days;
    const before = [await usage(), await overview()];
    await test.app.keepHouse();
    expect([await usage(), await overview()]).toEqual(before);
    const kept = days.slice(0, 4).sort();
    const left = await db.selectFrom('usage_days').select('day').where('workspace_id', '=', workspace_id).execute();
    expect(left.map(({ day }) => day).sort()).toEqual(kept);
    const hoursLeft = await db.selectFrom('job_hours').select('hour').execute();
    expect(hoursLeft.map(({ hour }) => hour).sort()).toEqual(kept);
  });

  it('are shown beside what is used, page by page, for all workspaces of the organization', async () => {
    for (const name of ['b', 'c', 'd']) await test.workspaceId(`${name} usage`);
    const names: string[] = [];
    let url: string | null = '/api/v1/usage?limit=2';
    while (url !== null) {
      const { body }: { body: { data: { workspace_name: string }[]; next: string | null } } = await test.request(
        'GET',
        url,
      );
      expect(body.data.length).toBeLessThanOrEqual(2);
      names.push(...body.data.map(({ workspace_name }) => workspace_name));
      url = body.next === null ? null : body.next.slice(body.next.indexOf('/api/'));
    }
    expect(names).toEqual(['d usage', 'c usage', 'b usage', 'beta', 'acme']);
  });
});
