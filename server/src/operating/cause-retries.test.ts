/**
 * Trying all connections again that fail for one reason: two replicas carry it out, on both databases, on a platform as a
 * hosted one. Nothing runs the syncs here, so what was started stays under way until a test cancels it.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addTenant } from '../../test/security/support.ts';
import type { TestApp } from '../../test/support/app.ts';
import { describeOnOneDatabase } from '../../test/support/databases.ts';
import { eventually } from '../../test/support/deployment.ts';
import { answering, first, lostAnswer, lostRequest, unreachable } from '../../test/support/faults.ts';
import { type HostedApp, startHostedApp } from '../../test/support/hosted-app.ts';
import { type Customer, customer, makeConnectionTemplate, makeSourceTemplate } from '../../test/support/pipelines.ts';
import type { PlatformRequest } from '../kernel/platform/transport.ts';

const path = '/api/v1/integrations/causes/retries';
const patience = { timeout: 300_000 };
/** Connections of each customer; of all of them together more than may wait at a time. */
const [perCustomer, maxQueued] = [6, 20];
const isStart = ({ method, path }: PlatformRequest) => method === 'POST' && path === '/jobs';

describeOnOneDatabase('A retry of a cause', (kind) => {
  let hosted: HostedApp;
  let test: TestApp;
  let replicas: TestApp[];
  let customers: Customer[];
  let cause: string;
  let causes = 0;
  beforeAll(async () => {
    hosted = await startHostedApp(kind);
    ({ test } = hosted);
    replicas = [test, await hosted.startReplica()];
    const template = await makeSourceTemplate(test);
    for (let n = 0; n < perCustomer; n++) await makeConnectionTemplate(test, { destination_name: `Files ${n}` });
    customers = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const each = await customer(test, name);
      const source = await each.connect(template);
      customers.push(each);
      await eventually('its source is set up', async () => {
        await hosted.letSettle();
        await test.app.workers.setUps.pass();
        return (await each.request('GET', `/sources/${source}`)).body.status === 'ready';
      });
    }
  }, patience.timeout);
  afterAll(() => hosted.stop());

  const db = () => test.app.store.db;
  const ask = async (method: string, where = '', body?: object) => {
    const answer = await test.request(method, `${path}${where}`, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const start = () => ask('POST', '', { cause });
  /** As if the time had passed that a retry waits for. */
  const passTime = async () => {
    await db().updateTable('cause_retries').set({ due_at: 0 }).execute();
    await db().updateTable('cause_retry_items').set({ look_at: 0 }).where('state', '=', 'starting').execute();
  };
  const passes = () => Promise.all(replicas.map(({ app }) => app.workers.causeRetries.pass()));
  /** How many syncs of each connection were requested from the platform since then. */
  const asked = (since: number) => {
    const connections = hosted.faulty.sent
      .slice(since)
      .filter(isStart)
      .map(({ body }) => String(body));
    return { all: connections.length, different: new Set(connections).size };
  };
  const giveCause = (to: Customer[]) =>
    db()
      .updateTable('connections')
      .set({ cause })
      .where(
        'workspace_id',
        'in',
        to.map(({ workspaceId }) => workspaceId),
      )
      .execute();
  const setStatus = async ({ workspaceId }: Customer, status: string) => {
    const answer = await test.request('PUT', `/api/v1/workspaces/${workspaceId}`, { body: { status } });
    expect(answer.status, answer.text).toBe(200);
  };
  const entries = async (id: string) => {
    const rows = await db().selectFrom('log_pending').selectAll().orderBy('number').execute();
    return rows.filter(({ type, data }) => type.startsWith('cause.') && data.includes(id));
  };

  beforeEach(async () => {
    // No sync of the test before is under way, and a cause of its own.
    const open = await db().selectFrom('jobs').select(['id', 'connection_id']).where('ended_at', 'is', null).execute();
    for (const { connection_id } of open) {
      const answer = await test.request('POST', `/api/v1/integrations/connections/${connection_id}/cancel`);
      expect(answer.status, answer.text).toBe(200);
    }
    cause = String(++causes).repeat(32);
  });

  it(
    'starts each sync once, whichever replica does it, and lets few of them wait at a time',
    async () => {
      await giveCause(customers);
      const since = hosted.faulty.sent.length;
      const asking = { body: { cause }, headers: { 'x-request-id': `asked-${kind}` } };
      const made = (await test.request('POST', path, asking)).body;
      const total = customers.length * perCustomer;
      expect(made).toMatchObject({ cause, state: 'running', connections: { total, waiting: total }, has_more: false });
      expect((await start()).id, 'of one cause, one runs').toBe(made.id);
      expect(asked(since).all, 'nobody has worked on it').toBe(0);

      for (let pass = 0; pass < 3; pass++) await passes();
      expect(asked(since)).toEqual({ all: maxQueued, different: maxQueued });
      expect(await ask('GET', `/${made.id}`)).toMatchObject({
        state: 'running',
        ended_at: null,
        connections: { waiting: total - maxQueued, started: maxQueued },
      });

      await db().updateTable('jobs').set({ status: 'running' }).where('status', '=', 'pending').execute();
      for (let pass = 0; pass < 3; pass++) await passes();
      expect(asked(since)).toEqual({ all: total, different: total });
      await db()
        .updateTable('jobs')
        .set({ status: 'failed', ended_at: 1 })
        .where('workspace_id', '=', customers[0]?.workspaceId ?? '')
        .execute();
      const finished = await ask('GET', `/${made.id}`);
      expect(finished).toMatchObject({
        state: 'finished',
        connections: { total, waiting: 0, started: total, failed: perCustomer, succeeded: 0, refused: 0 },
      });
      expect(finished.ended_at).not.toBeNull();
      expect((await ask('GET')).data[0]).toEqual(finished);
      const { data } = await ask('GET', `/${made.id}/connections?state=started&limit=1`);
      const { request_id } = await db()
        .selectFrom('jobs')
        .selectAll()
        .where('id', '=', data[0].job_id)
        .executeTakeFirstOrThrow();
      expect(request_id).toBe(`asked-${kind}`);
      expect((await entries(made.id)).map(({ type, actor_kind }) => [type, actor_kind])).toEqual([
        ['cause.retry_started', 'operator_token'],
        ['cause.retry_finished', 'worker'],
      ]);
      await db().updateTable('jobs').set({ status: 'running', ended_at: null }).where('ended_at', '=', 1).execute();
    },
    patience.timeout,
  );

  it(
    'names what was not started and why, and leaves out what no longer fails',
    async () => {
      const [running, paused, well, gone] = customers as [Customer, Customer, Customer, Customer];
      await giveCause(customers);
      const inWorkspace = async ({ workspaceId }: Customer) =>
        (await test.request('GET', `/api/v1/integrations/connections?workspace_id=${workspaceId}`)).body.data;
      const [{ id: busy }] = await inWorkspace(running);
      expect((await test.request('POST', `/api/v1/integrations/connections/${busy}/sync`)).status).toBe(200);
      await giveCause([running]);
      await setStatus(paused, 'inactive');
      await giveCause([paused]);
      const { id } = await start();
      await db().updateTable('connections').set({ cause: null }).where('workspace_id', '=', well.workspaceId).execute();
      const restore = hosted.faulty.rule(
        answering((request) => isStart(request) && lost.has(JSON.parse(String(request.body)).connectionId), 422, '{}'),
      );
      const rows = await db()
        .selectFrom('connections')
        .select('platform_id')
        .where('workspace_id', '=', gone.workspaceId)
        .execute();
      const lost = new Set(rows.map(({ platform_id }) => platform_id));
      for (let pass = 0; pass < 3; pass++) await passes();
      restore();
      expect(await ask('GET', `/${id}`)).toMatchObject({
        state: 'finished',
        connections: { started: perCustomer - 1, skipped: perCustomer + 1, refused: 2 * perCustomer },
      });
      const reasons: Record<string, number> = {};
      for (let cursor = ''; cursor !== 'null'; ) {
        const page = await ask('GET', `/${id}/connections?limit=10${cursor && `&cursor=${cursor}`}`);
        for (const { workspace_name, state, code, source_name } of page.data) {
          expect(source_name).toBe('Shop');
          const key = `${workspace_name} ${state} ${code}`;
          reasons[key] = (reasons[key] ?? 0) + 1;
        }
        cursor = String(page.next);
      }
      expect(reasons).toEqual({
        'a started null': perCustomer - 1,
        'a skipped sync_already_running': 1,
        'b refused workspace_inactive': perCustomer,
        'c skipped cause_not_found': perCustomer,
        'd refused platform_does_not_answer': perCustomer,
      });
      await setStatus(paused, 'active');
    },
    patience.timeout,
  );

  it(
    'continues after a process that died, and after lost answers, without a second sync of any connection',
    async () => {
      const [who] = customers as [Customer];
      await giveCause([who]);
      const { id } = await start();
      const since = hosted.faulty.sent.length;
      // A process was killed while it worked on the retry: the others wait for its lease and then continue.
      const lease = (until: number) =>
        db()
          .updateTable('cause_retries')
          .set({ lease_id: 'killed', lease_until: until })
          .where('id', '=', id)
          .execute();
      await lease((await test.app.store.now()) + 60_000);
      await passes();
      expect(asked(since).all).toBe(0);
      await lease(1);

      // The response of the first is lost; the second never arrives; it is unknown which of them was started.
      const rules = [first(1, isStart, lostAnswer), first(1, isStart, lostRequest)].map((rule) =>
        hosted.faulty.rule(rule),
      );
      for (let pass = 0; pass < 2; pass++) await passes();
      expect(await ask('GET', `/${id}`)).toMatchObject({ state: 'running', connections: { waiting: 3, started: 3 } });
      expect(asked(since)).toEqual({ all: 5, different: 5 });
      for (const restore of rules) restore();
      for (let pass = 0; pass < 3; pass++) {
        await passTime();
        await passes();
      }
      expect(await ask('GET', `/${id}`)).toMatchObject({ state: 'finished', connections: { started: perCustomer } });
      expect(asked(since), 'the request that never arrived was sent again, and no other').toEqual({
        all: perCustomer + 1,
        different: perCustomer,
      });
    },
    patience.timeout,
  );

  it(
    'waits while the platform does not answer, and gives up after a day',
    async () => {
      const [who] = customers as [Customer];
      await giveCause([who]);
      const { id } = await start();
      const restore = hosted.faulty.rule(unreachable(isStart));
      await passes();
      const since = hosted.faulty.sent.length;
      await passes();
      expect(asked(since).all, 'nobody asks again at once').toBe(0);
      expect(await ask('GET', `/${id}`)).toMatchObject({ state: 'running', connections: { waiting: perCustomer } });
      restore();
      await db().updateTable('cause_retries').set({ due_at: 0, created_at: 1 }).where('id', '=', id).execute();
      await passes();
      expect(await ask('GET', `/${id}`)).toMatchObject({
        state: 'stopped',
        stop_reason: { code: 'retry_expired', parameters: {} },
        connections: { waiting: perCustomer, started: 0 },
      });
      expect((await entries(id)).map(({ type }) => type)).toEqual(['cause.retry_started', 'cause.retry_stopped']);
    },
    patience.timeout,
  );

  it(
    'can be stopped, is kept for a week, and belongs to one organization',
    async () => {
      await giveCause(customers);
      const { id } = await start();
      const other = await addTenant(test, `other ${kind}`);
      for (const [method, where] of [
        ['GET', `/${id}`],
        ['GET', `/${id}/connections`],
        ['POST', `/${id}/stop`],
      ] as const) {
        const answer = await other.request(method, `${path}${where}`);
        expect([answer.status, answer.headers['x-inlay-error']]).toEqual([404, 'cause_retry_not_found']);
      }
      expect((await other.request('GET', path)).body).toEqual({ data: [] });
      const theirs = await other.request('POST', path, { body: { cause } });
      expect([theirs.status, theirs.headers['x-inlay-error']]).toEqual([404, 'cause_not_found']);

      const stopped = await ask('POST', `/${id}/stop`);
      expect(stopped).toMatchObject({ state: 'stopped', stop_reason: { code: 'retry_stopped', parameters: {} } });
      expect(await ask('POST', `/${id}/stop`), 'once more').toEqual(stopped);
      const since = hosted.faulty.sent.length;
      await passes();
      expect(asked(since).all).toBe(0);
      expect((await start()).id, 'another one begins').not.toBe(id);

      await db().updateTable('cause_retries').set({ ended_at: 1 }).where('id', '=', id).execute();
      await test.app.keepHouse();
      expect((await test.request('GET', `${path}/${id}`)).status).toBe(404);
    },
    patience.timeout,
  );
});
