/** Workspaces that have reached their quota, on a platform whose jobs the test controls. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnOneDatabase } from '../../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, isConnectionPatch, unreachable } from '../../../test/support/faults.ts';
import {
  type Customer,
  customer,
  jobIdOf,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

interface Connected {
  id: string;
  platformId: string;
}

describeOnOneDatabase('A quota of rows that is used up', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let acme: Customer;
  let template: string;
  /** The third is paused by a person. */
  let connected: [Connected, Connected, Connected];
  const told = new Map<number, object>();

  beforeAll(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
    template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    acme = await customer(test, 'acme');
    faulty.rule(async ({ method, path }) => {
      const { pathname, searchParams } = new URL(path, 'http://platform');
      if (method !== 'GET' || pathname !== '/jobs') return undefined;
      const [offset, limit] = [Number(searchParams.get('offset')), Number(searchParams.get('limit'))];
      const data = [...told.values()].slice(offset, offset + limit);
      return { status: 200, headers: {}, text: JSON.stringify({ data }) };
    });
  });
  afterAll(() => test.stop());

  const quotas = () => `/api/v1/workspaces/${acme.workspaceId}/quotas`;
  const put = async (url: string, body: object) => {
    const answer = await test.request('PUT', url, { body });
    expect(answer.status, answer.text).toBe(200);
  };
  // An hour ahead: a day that ends while the test runs does not end what it counts.
  const hourAhead = () => new Date(Date.now() + 3_600_000).toISOString();
  const tell = async (jobId: number, { platformId }: Connected, job: object) => {
    const startTime = new Date(Date.now() - 60_000).toISOString();
    told.set(jobId, { jobId, jobType: 'sync', connectionId: platformId, startTime, ...job });
    await test.app.workers.jobWatch.pass();
  };
  const ended = (rowsSynced: number) => ({
    status: 'succeeded',
    lastUpdatedAt: hourAhead(),
    rowsSynced,
    bytesSynced: 1,
  });
  const statuses = async () => {
    const there: { connectionId: string; status: string }[] = (await onPlatform(test, acme.workspaceId)).connections;
    return connected.map(({ platformId }) => there.find(({ connectionId }) => connectionId === platformId)?.status);
  };
  /** Whatever is left open is finished. */
  const expectStatuses = async (...expected: string[]) => {
    const current = async () => {
      await test.app.workers.reconciler.pass();
      return await statuses();
    };
    await expect.poll(current).toEqual(expected);
  };
  const healthFor = async (token: string | undefined, { id }: Connected) => {
    const path = token === undefined ? '/api/v1/integrations' : '/api/v1/embedded';
    const answer = await test.request('GET', `${path}/connections/${id}`, token === undefined ? {} : { token });
    return answer.body.health;
  };
  /** As if the use was long ago, and the period over. */
  const endPeriod = async () => {
    const { db } = test.app.store;
    await db
      .updateTable('usage_days')
      .set((eb) => ({ day: eb('day', '-', 100 * 86_400_000) }))
      .execute();
    await db.updateTable('quota_holds').set({ until: 1 }).execute();
    await test.app.workers.quotaReviews.pass();
  };

  it('stops what would come next, not what runs, and shows each audience why', async () => {
    for (const name of ['first', 'second', 'third']) await acme.settled(await acme.connect(template, { name }));
    const shown: { id: string; name: string }[] = (await acme.request('GET', '/connections')).body.data;
    const there: { connectionId: string; name: string }[] = (await onPlatform(test, acme.workspaceId)).connections;
    connected = shown.map(({ id, name }) => {
      const found = there.find((one) => one.name.startsWith(name.slice(0, 5)));
      return { id, platformId: found?.connectionId ?? '' };
    }) as typeof connected;
    await test.platform('PATCH', `/connections/${connected[2].platformId}`, { status: 'inactive' });
    const [first, second] = connected;
    await put(quotas(), { rows_per_day: 100 });
    await tell(1, second, { status: 'running' });
    await tell(2, first, ended(60));
    await expectStatuses('active', 'active', 'inactive');
    await tell(3, first, ended(50));
    await expectStatuses('inactive', 'active', 'inactive');

    const operator = await healthFor(undefined, first);
    expect(operator).toMatchObject({ state: 'paused', attention: null });
    expect(operator.paused_because).toMatch(/rows_per_day .* 110 of 100 .* \d{4}-\d\d-\d\dT00:00:00\.000Z/);
    const until = expect.stringMatching(/T00:00:00\.000Z$/);
    const reached = { quota: 'rows_per_day', limit: 100, until };
    expect(operator.paused_reason).toEqual({ code: 'quota_paused', parameters: { ...reached, used: 110 } });
    const { paused_because: read, paused_reason } = await healthFor(acme.token, first);
    expect(read).toMatch(/ 100 rows per day\. .* \d{4}-\d\d-\d\d at 00:00 UTC\.$/);
    expect(paused_reason).toEqual({ code: 'quota_paused', parameters: reached });
    const refused = await acme.request('POST', `/connections/${first.id}/sync`);
    expect([refused.status, refused.headers['x-inlay-error'], refused.body.detail]).toEqual([
      409,
      'quota_reached',
      read,
    ]);
    expect(refused.headers['x-inlay-error-parameters']).toBe(
      `quota=rows_per_day; limit=100; until=${paused_reason.parameters.until}`,
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const usage = (await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/usage`)).body;
    expect([usage.rows_per_day, usage.rows_per_month]).toEqual([
      { used: 110, limit: 100 },
      { used: expect.any(Number), limit: null },
    ]);
    expect((await test.request('GET', '/api/v1/integrations/connections')).body.data[0]).toMatchObject({
      status: 'inactive',
      next_run_at: null,
    });

    await tell(1, second, ended(5));
    await expectStatuses('inactive', 'inactive', 'inactive');
    // A job reported twice counts once.
    await test.app.workers.jobWatch.pass();
    const again = (await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/usage`)).body;
    expect(again.rows_per_day.used).toBe(115);
  });

  it('holds new connections back as well, and their first sync until it ends', async () => {
    await makeConnectionTemplate(test, { destination_name: 'New', tags: ['new'], sync_on_create: true });
    const added = await acme.connect(template, { name: 'added', selected_connection_template_tags: ['new'] });
    await acme.settled(added);
    const there: { status: string; name: string }[] = (await onPlatform(test, acme.workspaceId)).connections;
    expect(there.find(({ name }) => name.startsWith('added'))?.status).toBe('inactive');
    const [wanted] = await test.app.store.db
      .selectFrom('connections')
      .select('first_sync_wanted')
      .where('source_id', '=', added)
      .execute();
    expect(wanted?.first_sync_wanted).toBe(1);
  });

  it('never enables a connection of an inactive workspace, nor one that a person has paused', async () => {
    const path = `/api/v1/workspaces/${acme.workspaceId}`;
    await put(path, { status: 'inactive' });
    await endPeriod();
    await expectStatuses('inactive', 'inactive', 'inactive');
    await put(path, { status: 'active' });
    await expectStatuses('active', 'active', 'inactive');
    expect((await healthFor(undefined, connected[0])).state).toBe('healthy');
  });

  it('is lifted at once when it is raised, though the platform is away for a while at each change', async () => {
    const restore = faulty.rule(unreachable(isConnectionPatch));
    await tell(4, connected[0], ended(100));
    expect((await acme.request('POST', `/connections/${connected[0].id}/sync`)).status, 'held here already').toBe(409);
    restore();
    await expectStatuses('inactive', 'inactive', 'inactive');
    const restoreAgain = faulty.rule(unreachable(isConnectionPatch));
    await put(quotas(), { rows_per_day: 1000 });
    restoreAgain();
    await expectStatuses('active', 'active', 'inactive');
  });

  it('of syncs at the same time is reported to the platform, which lets them wait; both audiences read why', async () => {
    const limits = () =>
      faulty.sent.flatMap(({ method, path, body }) =>
        method === 'PUT' && path === `/workspaces/${acme.workspaceId}/limits` ? [JSON.parse(String(body))] : [],
      );
    const [first, second] = connected;
    const restore = faulty.rule(unreachable(({ path }) => path.endsWith('/limits')));
    await put(quotas(), { concurrent_syncs: 1 });
    restore();
    const told = limits().length;
    await expect
      .poll(async () => {
        await test.app.workers.reconciler.pass();
        return limits().slice(told);
      })
      .toEqual([{ maxConcurrentSyncs: 1 }]);
    await tell(10, first, { status: 'running' });
    await tell(11, second, { status: 'pending' });
    const waits = async (path: string, token: string = test.operatorToken) =>
      (await test.request('GET', path, { token })).body;
    const reached = { quota: 'concurrent_syncs', limit: 1 };
    const operators = { code: 'quota_waiting', parameters: { ...reached, used: 1 } };
    const ofSecond = `/connections/${second.id}`;
    const asOperator = '/api/v1/integrations';
    expect((await waits(`${asOperator}/jobs/${await jobIdOf(test, 11)}`)).waiting_reason).toEqual(operators);
    const listed = (await waits(`${asOperator}/jobs?connection_id=${second.id}&limit=1`)).data;
    expect(listed).toMatchObject([{ id: await jobIdOf(test, 11), status: 'pending', waiting_reason: operators }]);
    expect((await waits(`${asOperator}${ofSecond}`)).last_run.waiting_reason).toEqual(operators);
    const customers = { code: 'quota_waiting', parameters: reached };
    expect((await waits(`/api/v1/embedded${ofSecond}`, acme.token)).last_run.waiting_reason).toEqual(customers);
    expect((await waits(`/api/v1/embedded${ofSecond}/jobs`, acme.token)).data[0].waiting_reason).toEqual(customers);
    expect((await waits(`${asOperator}/jobs/${await jobIdOf(test, 10)}`)).waiting_because).toBeUndefined();
    await tell(10, first, ended(1));
    expect((await waits(`${asOperator}/jobs/${await jobIdOf(test, 11)}`)).waiting_because).toBeUndefined();
    await tell(11, second, ended(1));

    await put(quotas(), { rows_per_day: 10_000 });
    expect(limits().at(-1)).toEqual({ maxConcurrentSyncs: null });
    const later = limits().length;
    await put(quotas(), { rows_per_day: 20_000 });
    expect(limits(), 'nothing new').toHaveLength(later);
    // Workspaces without connections are not reviewed: they are with their first connection.
    await put('/api/v1/quotas', { concurrent_syncs: 3 });
    await test.app.workers.quotaReviews.pass();
    const beta = await customer(test, 'beta');
    await beta.settled(await beta.connect(template));
    const ofBeta = faulty.sent.filter(({ path }) => path === `/workspaces/${beta.workspaceId}/limits`);
    expect(ofBeta.map(({ body }) => JSON.parse(String(body)))).toEqual([{ maxConcurrentSyncs: 3 }]);
  });

  it('of the organization reaches every workspace, in the background', async () => {
    await test.request('DELETE', quotas());
    await put('/api/v1/quotas', { bytes_per_month: 1 });
    await test.app.workers.quotaReviews.pass();
    await expectStatuses('inactive', 'inactive', 'inactive');
    await put('/api/v1/quotas', { bytes_per_month: 1_000_000 });
    await test.app.workers.quotaReviews.pass();
    await expectStatuses('active', 'active', 'inactive');
  });
});
