/** Jobs in the service's own tables, on a platform whose jobs the test controls. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, unreachable } from '../../../test/support/faults.ts';
import {
  type Customer,
  customer,
  jobIdOf,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 31, 10, minute)).toISOString();
const cut = { message: 'The line was cut.', origin: 'source', type: 'transient_error' };
const attempt = (number: number, minute: number) => ({
  attempt: number,
  status: 'failed',
  startTime: at(minute),
  endTime: at(minute),
  rowsSynced: 0,
  bytesSynced: 0,
  failureReason: cut,
});

describeInTurns('jobs that are written down as they happen', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let acme: Customer;
  let platformId: string;
  let sourceId: string;
  const lines: Record<string, unknown>[] = [];
  /** By id: the jobs that the platform reports. */
  const told = new Map<number, object>();

  beforeEach(async () => {
    lines.length = 0;
    told.clear();
    faulty = faultyPlatform();
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    test = await startTestApp(kind, { overrides: { log, wrapTransport: faulty.wrapTransport } });
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    acme = await customer(test, 'acme');
    sourceId = await acme.connect(template);
    await acme.settled(sourceId);
    platformId = (await onPlatform(test, acme.workspaceId)).connections[0].connectionId;
    const answer = (body: unknown) => ({ status: 200, headers: {}, text: JSON.stringify(body) });
    faulty.rule(async ({ method, path }) => {
      const { pathname, searchParams } = new URL(path, 'http://platform');
      const [, jobId] = /^\/jobs\/(\d+)$/.exec(pathname) ?? [];
      if (method !== 'GET') return undefined;
      if (jobId !== undefined) {
        const job = told.get(Number(jobId));
        return job ? answer(job) : { status: 404, headers: {}, text: '{}' };
      }
      if (pathname !== '/jobs') return undefined;
      const [offset, limit] = [Number(searchParams.get('offset')), Number(searchParams.get('limit'))];
      return answer({ data: [...told.values()].slice(offset, offset + limit) });
    });
  });
  afterEach(() => test.stop());

  const tell = (jobId: number, job: object) => {
    told.set(jobId, { jobId, jobType: 'sync', connectionId: platformId, startTime: at(jobId), ...job });
  };
  const failedJob = (minute: number) => ({
    status: 'failed',
    lastUpdatedAt: at(minute),
    rowsSynced: 0,
    attempts: 3,
    failedAttempts: 3,
    attemptList: [attempt(1, minute), attempt(2, minute), attempt(3, minute)],
    failureReason: cut,
  });
  const goodJob = (minute: number) => ({
    status: 'succeeded',
    lastUpdatedAt: at(minute),
    rowsSynced: 661,
    bytesSynced: 9_000,
    attempts: 1,
    failedAttempts: 0,
  });
  const connection = async () => (await acme.request('GET', '/connections')).body.data[0];
  const pass = () => test.app.workers.jobWatch.pass();
  const said = (words: string) => lines.filter(({ msg }) => msg === words);

  it('a failing connection says since when, how often and why, also while it is tried again', async () => {
    expect((await connection()).health).toMatchObject({ state: 'never_synced', last_good_at: null });
    tell(1, goodJob(1));
    await pass();
    expect((await connection()).health).toMatchObject({ state: 'healthy', last_good_at: at(1) });

    tell(2, { status: 'running', attempts: 1, failedAttempts: 0 });
    await pass();
    expect((await connection()).health.state).toBe('running');
    tell(2, { status: 'incomplete', attempts: 1, failedAttempts: 1, attemptList: [attempt(1, 2)], failureReason: cut });
    await pass();
    expect(said('Sync attempt failed')).toMatchObject([
      { level: 40, jobId: await jobIdOf(test, 2), attempt: 1, error: cut.message },
    ]);
    const failing = { state: 'failing', since: at(2), failures_in_a_row: 1, trying_again: true, last_good_at: at(1) };
    expect((await connection()).health).toMatchObject({
      ...failing,
      first_error: { kind: 'transient_error', message: cut.message },
    });
    tell(2, { status: 'running', attempts: 2, failedAttempts: 1, attemptList: [attempt(1, 2)], failureReason: cut });
    await pass();
    expect((await connection()).health).toMatchObject(failing);

    tell(2, failedJob(2));
    tell(3, failedJob(3));
    tell(4, { status: 'pending', attempts: 0, failedAttempts: 0 });
    await pass();
    expect((await connection()).health).toMatchObject({ ...failing, failures_in_a_row: 2 });
    const { data } = (await acme.request('GET', `/connections/${(await connection()).id}/jobs`)).body;
    expect(data).toMatchObject([
      { id: await jobIdOf(test, 4), status: 'pending' },
      { id: await jobIdOf(test, 3), status: 'failed', rows: 0, error: cut.message },
      { id: await jobIdOf(test, 2), status: 'failed', rows: 0 },
      { id: await jobIdOf(test, 1), status: 'succeeded', rows: 661 },
    ]);
    tell(4, goodJob(4));
    await pass();
    expect((await connection()).health).toMatchObject({ state: 'healthy', failures_in_a_row: 0, last_good_at: at(4) });
    const [source] = await test.app.store.db.selectFrom('sources').select('health').execute();
    expect(source?.health).toBe('healthy');
  });

  it('ids reveal nothing about how many jobs the platform has, and those of earlier versions still work', async () => {
    const [first, second] = [4_711_471_101, 4_711_471_102];
    const number = /47114711/;
    tell(first, { ...goodJob(1), startTime: at(1) });
    tell(second, { ...failedJob(2), startTime: at(2) });
    await pass();
    const operating = '/api/v1/integrations';
    const other = await addTenant(test, 'other');
    const get = async (path: string) => (await test.request('GET', `${operating}${path}`)).body;
    const { id } = await connection();
    const shown = [
      await acme.request('GET', '/connections'),
      await acme.request('GET', `/connections/${id}/jobs`),
      await test.request('GET', `${operating}/jobs?limit=1`),
      await test.request('GET', `${operating}/overview`),
      await test.request('GET', `${operating}/connections`),
    ];
    await test.app.workers.sequencer.pass();
    shown.push(await test.request('GET', '/api/v1/events'), await test.request('GET', '/api/v1/audit-events'));
    for (const { status, text } of shown) {
      expect(status, text).toBe(200);
      expect(text).not.toMatch(number);
    }
    // The position of a list is not a secret.
    const next = new URL((await get('/jobs?limit=1')).next).searchParams.get('cursor') ?? '';
    expect(Buffer.from(next, 'base64url').toString()).not.toMatch(number);
    expect((await get(`/jobs?limit=1&cursor=${next}`)).data).toHaveLength(1);

    const jobId = await jobIdOf(test, second);
    expect(jobId).toMatch(/^[0-9a-f-]{36}$/);
    const detail = await get(`/jobs/${jobId}`);
    expect(detail).toMatchObject({ id: jobId, status: 'failed', last_good_job: { id: await jobIdOf(test, first) } });
    expect(JSON.stringify(detail)).not.toMatch(number);
    for (const [path, request] of [
      [`/jobs/${jobId}`, other.request],
      [`/jobs/${second}`, other.request],
      // A number that was never handed out would say which of the platform's jobs are one's own.
      [`/jobs/${second}`, test.request],
    ] as const) {
      expect((await request('GET', `${operating}${path}`)).body).toEqual({ detail: 'Job not found' });
    }

    // As an earlier version has stored it.
    await test.app.store.db.deleteFrom('job_logs_wanted').execute();
    await test.app.store.db.deleteFrom('job_logs').execute();
    await test.app.store.db
      .updateTable('jobs')
      .set({ id: String(second) })
      .where('platform_id', '=', String(second))
      .execute();
    expect(await get(`/jobs/${second}`)).toMatchObject({ id: String(second), status: 'failed' });
    expect((await other.request('GET', `${operating}/jobs/${second}`)).status).toBe(404);
    tell(second, { ...goodJob(2), startTime: at(2), lastUpdatedAt: at(3) });
    await pass();
    expect((await get('/jobs')).data).toHaveLength(2);
    expect(await get(`/jobs/${second}`)).toMatchObject({ id: String(second) });
  });

  it('a job that fails in the second in which another one succeeded is a failure', async () => {
    const began = { startTime: at(9), lastUpdatedAt: at(9) };
    tell(9, { ...goodJob(9), ...began });
    tell(10, { ...failedJob(9), ...began });
    await pass();
    expect(await connection()).toMatchObject({
      health: { state: 'failing', failures_in_a_row: 1 },
      last_run: { id: await jobIdOf(test, 10), status: 'failed' },
    });
    tell(11, { ...goodJob(9), ...began });
    await pass();
    expect(await connection()).toMatchObject({
      health: { state: 'healthy' },
      last_run: { id: await jobIdOf(test, 11) },
    });
  });

  it('a duplicate or late report changes nothing: one line for a job, and what has ended stays so', async () => {
    tell(1, failedJob(1));
    await pass();
    tell(2, goodJob(2));
    await pass();
    await pass();
    expect(said('Sync ended')).toMatchObject([
      {
        jobId: await jobIdOf(test, 1),
        status: 'failed',
        error: cut.message,
        workspaceId: acme.workspaceId,
        attempts: 3,
      },
      { jobId: await jobIdOf(test, 2), status: 'succeeded', rows: 661, seconds: 0 },
    ]);
    expect(said('Sync attempt failed')).toHaveLength(3);
    tell(2, { status: 'running', attempts: 1, failedAttempts: 0 });
    await pass();
    expect(await connection()).toMatchObject({ health: { state: 'healthy' }, last_run: { status: 'succeeded' } });
    const hours = await test.app.store.db.selectFrom('job_hours').selectAll().orderBy('status').execute();
    expect(hours).toMatchObject([
      { status: 'failed', jobs: 1 },
      { status: 'succeeded', jobs: 1, row_count: 661, byte_count: 9_000 },
    ]);
    const metrics = (await test.request('GET', '/metrics')).text;
    expect(metrics).toContain('inlay_syncs_total{outcome="failed"} 1');
    expect(metrics).toContain('inlay_sync_rows_total{outcome="succeeded"} 661');
    expect(metrics).toContain('inlay_connections{health="healthy"} 1');
  });

  it('the log reports each start, end and recovery once, and when someone has to do something about the source', async () => {
    const wrong = { message: 'The password is wrong.', origin: 'source', type: 'config_error' };
    const misconfigured = (minute: number) => ({
      ...failedJob(minute),
      failureReason: wrong,
      attemptList: [{ ...attempt(1, minute), failureReason: wrong }],
    });
    const steps = [
      () => tell(1, goodJob(1)),
      () => tell(2, { status: 'running', attempts: 1, failedAttempts: 0 }),
      () => tell(2, failedJob(2)),
      () => tell(3, misconfigured(3)),
      // Resuming after a pause is not a recovery.
      () => test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status: 'inactive' } }),
      () => test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status: 'active' } }),
      () => tell(4, { status: 'cancelled', lastUpdatedAt: at(4), attempts: 1, failedAttempts: 0 }),
      () => tell(5, goodJob(5)),
    ];
    for (const step of steps) {
      await step();
      // A job reported twice changes nothing.
      await pass();
      await pass();
    }
    await test.app.workers.sequencer.pass();
    const { body } = await test.request('GET', '/api/v1/events?types=sync.*,source.needs_attention,source.recovered');
    const events: { type: string; data: Record<string, { id?: string; message?: string }> }[] = body.data;
    const rows = await test.app.store.db.selectFrom('jobs').select(['id', 'platform_id']).execute();
    const numbers = new Map(rows.map(({ id, platform_id }) => [id, platform_id]));
    expect(events.map(({ type, data }) => `${type} ${numbers.get(data.job?.id ?? '') ?? ''}`.trim())).toEqual([
      ...['sync.started 1', 'sync.succeeded 1', 'sync.started 2', 'sync.failed 2', 'sync.started 3', 'sync.failed 3'],
      'source.needs_attention',
      ...['sync.started 4', 'sync.cancelled 4', 'sync.started 5', 'sync.succeeded 5', 'sync.recovered 5'],
      'source.recovered',
    ]);
    expect(events[1]?.data).toMatchObject({ rows: 661, bytes: 9_000, warnings: [], ended_at: at(1) });
    expect(events[5]?.data).toMatchObject({
      workspace: { id: acme.workspaceId, name: 'acme' },
      connection: { source_id: sourceId },
      reason: { kind: 'config_error', message: wrong.message },
      first_error: { kind: 'transient_error', message: cut.message },
      failures_in_a_row: 2,
    });
    expect(events[6]?.data).toMatchObject({ source: { id: sourceId }, problem: { message: wrong.message } });
    expect(events[11]?.data).toMatchObject({ failures_in_a_row: 2, failing_since: at(2) });
  });

  it('a hosted platform reports no reasons and no attempts: a job once seen waiting for a retry is failing', async () => {
    tell(1, { status: 'incomplete' });
    await pass();
    tell(1, { status: 'running' });
    await pass();
    expect((await connection()).health).toMatchObject({
      state: 'failing',
      trying_again: true,
      first_error: { kind: 'unknown', origin: 'unknown', message: null, code: 'not_reported', parameters: {} },
    });
    expect((await connection()).last_run).toMatchObject({ status: 'running', rows: null, error: null });
  });

  it('a job that no list names any more is looked up by its id, and what a dead reader left is read by the next', async () => {
    tell(1, { status: 'running', attempts: 1, failedAttempts: 0 });
    await pass();
    const { db } = test.app.store;
    const job = told.get(1) as object;
    told.clear();
    await db.updateTable('jobs').set({ seen_at: 0 }).execute();
    // A reader that was killed holds the lease until it runs out; nobody reads meanwhile.
    await db
      .updateTable('job_watch')
      .set({ lease_id: 'dead', lease_until: Date.now() + 3_600_000 })
      .execute();
    tell(1, { ...job, ...goodJob(1) });
    const listed = () => faulty.sent.filter(({ path }) => path.includes('updatedAtStart')).length;
    const before = listed();
    await pass();
    expect(listed()).toBe(before);
    expect((await connection()).health.state).toBe('healthy');
    tell(2, failedJob(2));
    await db.updateTable('job_watch').set({ lease_until: 0 }).execute();
    const restore = faulty.rule(unreachable(({ path }) => path.startsWith('/jobs?')));
    const { read_until } = await db.selectFrom('job_watch').select('read_until').executeTakeFirstOrThrow();
    await pass();
    expect(await db.selectFrom('job_watch').select('read_until').executeTakeFirst()).toEqual({ read_until });
    restore();
    await pass();
    expect((await connection()).health).toMatchObject({ state: 'failing', failures_in_a_row: 1 });
  });

  it('follows its workspace, what is refused, and what someone does on the platform', async () => {
    tell(1, failedJob(1));
    await pass();
    const setWorkspace = async (status: string) =>
      expect((await test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status } })).status).toBe(
        200,
      );
    /** As the lists over all workspaces have them, by health and by status. */
    const listed = async (health: string, status: string) => {
      const ids = async (list: string) => {
        const { data } = (await test.request('GET', `/api/v1/integrations/${list}`)).body;
        return data.map(({ id }: { id: string }) => id);
      };
      expect(await ids(`workspaces?health=${health}`)).toEqual([acme.workspaceId]);
      expect(await ids(`connections?status=${status}`)).toHaveLength(1);
    };
    await listed('failing', 'active');
    const health = await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/health`);
    expect(health.body).toMatchObject({
      health: { state: 'failing', since: at(1), failures_in_a_row: 1, first_error: { message: cut.message } },
      connections: { failing: 1, healthy: 0 },
    });
    await setWorkspace('inactive');
    expect((await connection()).health.state).toBe('paused');
    await listed('paused', 'inactive');
    await setWorkspace('active');
    expect((await connection()).health.state).toBe('failing');
    await listed('failing', 'active');

    await test.platform('PATCH', `/connections/${platformId}`, { status: 'inactive' });
    expect(await connection()).toMatchObject({ status: 'inactive', health: { state: 'paused' } });
    await test.platform('PATCH', `/connections/${platformId}`, { status: 'active' });
    expect(await connection()).toMatchObject({ status: 'active', health: { state: 'failing' } });
    tell(2, { ...failedJob(2), failureReason: { ...cut, type: 'config_error', origin: 'destination' } });
    await pass();
    // What lies at the destination is the operator's: the customer reads no more than that.
    const ours = { code: 'problem_on_our_side', parameters: {} };
    expect((await connection()).health).toMatchObject({
      state: 'needs_attention',
      attention: { by: 'operator', ...ours },
    });
    expect((await connection()).last_run.error_reason).toEqual(ours);
    const path = `/api/v1/integrations/connections?workspace_id=${acme.workspaceId}`;
    const [shown] = (await test.request('GET', path)).body.data;
    const reason = { code: 'connector_error', parameters: {} };
    expect(shown).toMatchObject({
      health: { attention: { what: cut.message, ...reason } },
      last_run: { error: cut.message, error_reason: reason },
    });
    await test.platform('DELETE', `/connections/${platformId}`);
    expect((await connection()).health).toMatchObject({ state: 'needs_attention', attention: { by: 'operator' } });
    await listed('needs_attention', 'inactive');
    await acme.request('DELETE', `/sources/${sourceId}`);
    const state = async () =>
      (await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/health`)).body.health.state;
    await expect.poll(state).toBe('never_synced');
  });
});
