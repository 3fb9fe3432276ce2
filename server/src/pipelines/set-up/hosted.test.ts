/** Sources, connections and checks in front of a hosted platform, which knows less than the bundled one and is slower. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  lateApply,
  lostAnswer,
  lostRequest,
  type Match,
} from '../../../test/support/faults.ts';
import { type HostedApp, startHost, startHostedApp } from '../../../test/support/hosted-app.ts';
import {
  type Customer,
  customer,
  jobIdOf,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

const to =
  (method: string, path: string): Match =>
  (request) =>
    request.method === method && request.path.split('?')[0]?.startsWith(path) === true;
const post =
  (path: string): Match =>
  (request) =>
    request.method === 'POST' && request.path === path;

const creates = ['/sources', '/destinations', '/connections', '/jobs'];

describeInTurns('in front of a hosted platform', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let host: TestApp;
  let acme: Customer;
  let template: string;
  beforeAll(async () => {
    host = await startHost();
  });
  afterAll(() => host?.stop());
  beforeEach(async () => {
    hosted = await startHostedApp(kind, host);
    ({ test, faulty } = hosted);
    template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { sync_on_create: true });
    acme = await customer(test, 'acme');
  });
  afterEach(() => hosted.stop());

  const there = () => onPlatform(host, acme.workspaceId);
  const sourceNow = async (id: string) => (await acme.request('GET', `/sources/${id}`)).body;
  const connectionNow = async () => (await acme.request('GET', '/connections')).body.data[0];

  async function expectExactlyOne() {
    const { sources, destinations, connections } = await there();
    expect([sources.length, destinations.length, connections.length]).toEqual([1, 1, 1]);
    const jobs = await host.platform('GET', `/jobs?connectionId=${connections[0].connectionId}`);
    expect(jobs.body.data).toHaveLength(1);
  }

  /** The source is put off, for the reason that the test has made. */
  async function untilPutOff(id: string) {
    await expect
      .poll(async () => (await sourceNow(id)).status_reason)
      .toEqual({ code: 'platform_not_ready', parameters: {} });
  }

  it('sets a source up from the registry, whatever the platform shows in which order', async () => {
    const id = await acme.connect(template);
    expect(await acme.settled(id)).toMatchObject({ status: 'ready', status_message: null });
    await expectExactlyOne();
    expect(await connectionNow()).toMatchObject({ status: 'active', last_run: { status: 'pending', rows: 0 } });
    const again = await acme.request('POST', `/connections/${(await connectionNow()).id}/sync`);
    expect(again).toMatchObject({ status: 409, headers: { 'x-inlay-error': 'sync_already_running' } });
  });

  it('keeps quotas: refuses what is over, pauses what has moved enough, and does not claim limits it cannot enforce', async () => {
    const quotas = `/api/v1/workspaces/${acme.workspaceId}/quotas`;
    const put = async (body: object) =>
      expect((await test.request('PUT', quotas, { body })).status, JSON.stringify(body)).toBe(200);
    await put({ sources: 1, concurrent_syncs: 1 });
    const id = await acme.connect(template);
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    const second = await acme.request('POST', '/sources', {
      source_template_id: template,
      source_config: { count: 1 },
    });
    expect([second.status, second.headers['x-inlay-error']]).toEqual([409, 'quota_reached']);
    await expectExactlyOne();
    const operations = () => test.app.store.db.selectFrom('operations').select('last_error').execute();
    expect(await operations(), 'a platform without limits is not asked again and again').toEqual([]);
    const shown = await connectionNow();
    expect(shown.last_run).toMatchObject({ status: 'pending' });
    expect(shown.last_run, 'nobody knows why it waits there').not.toHaveProperty('waiting_because');

    expect((await acme.request('POST', `/connections/${shown.id}/cancel`)).status).toBe(200);
    await put({ rows_per_day: 0 });
    const onHost = async () => {
      await test.app.workers.reconciler.pass();
      return (await there()).connections.map(({ status }: { status: string }) => status);
    };
    await expect.poll(onHost).toEqual(['inactive']);
    expect((await connectionNow()).health.paused_reason).toMatchObject({
      code: 'quota_paused',
      parameters: { quota: 'rows_per_day', limit: 0 },
    });
    await put({});
    await expect.poll(onHost).toEqual(['active']);
  });

  it.each(creates)('makes nothing twice when the answer to POST %s is lost', async (path) => {
    faulty.rule(first(1, post(path), lostAnswer));
    const id = await acme.connect(template);
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    await expectExactlyOne();
  });

  it.each(creates)('sends POST %s again only when a lost request can no longer take effect', async (path) => {
    faulty.rule(first(1, post(path), lostRequest));
    const id = await acme.connect(template);
    await untilPutOff(id);
    const isSent = ({ method, path: sent }: { method: string; path: string }) => method === 'POST' && sent === path;
    if (path !== '/jobs') {
      // A second job is refused while the first one runs, so it alone needs no window.
      await test.app.workers.setUps.pass();
      expect(faulty.sent.filter(isSent)).toHaveLength(1);
      expect(await sourceNow(id)).toMatchObject({ status: 'pending' });
    }
    await hosted.letSettle();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    expect(faulty.sent.filter(isSent)).toHaveLength(2);
    await expectExactlyOne();
  });

  it.each(['/sources', '/destinations', '/connections'])(
    'sends POST %s again only after a look at the platform that began when the lost one could no longer take effect',
    async (path) => {
      let late: ReturnType<typeof lateApply> | undefined;
      faulty.rule(
        first(1, post(path), (match) => {
          late = lateApply(match);
          return late.rule;
        }),
      );
      const id = await acme.connect(template);
      await untilPutOff(id);
      const isList: Match = ({ method, path: asked }) => method === 'GET' && asked.split('?')[0] === path;
      faulty.rule(
        first(1, isList, (match) => async (request, forward) => {
          if (!match(request)) return undefined;
          const answer = await forward();
          // The list is on its way while the create takes effect, and the window ends.
          await late?.apply();
          await hosted.letSettle();
          return answer;
        }),
      );
      await test.app.store.db.updateTable('sources').set({ due_at: 0 }).execute();
      expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
      await expectExactlyOne();
    },
  );

  it('waits for a connection that a gateway gave up on and the platform makes later', async () => {
    const late = lateApply(post('/connections'));
    faulty.rule(late.rule);
    const id = await acme.connect(template);
    await untilPutOff(id);
    await test.app.workers.setUps.pass();
    expect((await there()).connections).toEqual([]);
    await late.apply();
    await test.app.store.db.updateTable('sources').set({ due_at: 0 }).execute();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    await expectExactlyOne();
  });

  it('lets no late change of a source undo a newer one', async () => {
    const id = await acme.connect(template);
    await acme.settled(id);
    const late = lateApply(to('PUT', '/sources/'));
    const restore = faulty.rule(late.rule);
    await acme.request('PUT', `/sources/${id}`, { source_config: { count: 11 } });
    await untilPutOff(id);
    restore();
    await acme.request('PUT', `/sources/${id}`, { source_config: { count: 12 } });
    await expect.poll(async () => (await there()).sources[0].configuration.count).toBe(12);
    // The newer one is there, and is not yet taken for the last word.
    await late.apply();
    expect((await there()).sources[0].configuration.count).toBe(11);
    expect(await sourceNow(id)).toMatchObject({ status: 'pending' });
    await hosted.letSettle();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    expect((await there()).sources[0].configuration.count).toBe(12);
  });

  it('lets no late change of a new connection undo what its workspace is', async () => {
    const late = lateApply(to('PATCH', '/connections/'));
    const restore = faulty.rule(late.rule);
    const id = await acme.connect(template);
    await untilPutOff(id);
    restore();
    await test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status: 'inactive' } });
    await late.apply();
    expect((await there()).connections).toMatchObject([{ status: 'active' }]);
    await hosted.letSettle();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    expect((await there()).connections).toMatchObject([{ status: 'inactive' }]);
  });

  it('lets a new connection follow its workspace through several changes during one call', async () => {
    const setStatus = (status: string) =>
      test.request('PUT', `/api/v1/workspaces/${acme.workspaceId}`, { body: { status } });
    await setStatus('inactive');
    let isFirst = true;
    faulty.rule(async (request, forward) => {
      if (!isFirst || !to('PATCH', '/connections/')(request)) return undefined;
      isFirst = false;
      await setStatus('active');
      const answer = await forward();
      await setStatus('inactive');
      return answer;
    });
    const id = await acme.connect(template);
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    expect((await there()).connections).toMatchObject([{ status: 'inactive' }]);
    await setStatus('active');
    expect((await there()).connections).toMatchObject([{ status: 'active' }]);
  });

  it('reports a refusal in words of its own, never in those of the platform', async () => {
    const words = '{"title":"unprocessable-entity","data":{"message":"the password hunter2 is not a number"}}';
    for (const what of ['source', 'destination', 'connection']) {
      const restore = faulty.rule(answering(post(`/${what}s`), 422, words));
      const id = await acme.connect(template);
      const source = await acme.settled(id);
      expect(source.status).toBe('failed');
      const refusal = { code: 'rejected_by_platform', parameters: { what } };
      const ours = { code: 'problem_on_our_side', parameters: {} };
      expect(source.status_reason).toEqual(what === 'source' ? refusal : ours);
      const asOperator = await test.request(
        'GET',
        `/api/v1/integrations/sources/${id}?workspace_id=${acme.workspaceId}`,
      );
      expect(asOperator.body.status_reason).toEqual(refusal);
      expect(asOperator.body.status_message).toContain(`rejected the ${what}`);
      const { body } = await acme.request('GET', '/connections');
      expect(JSON.stringify([source, body, asOperator.body])).not.toMatch(/hunter2|unprocessable/);
      restore();
      expect((await acme.request('DELETE', `/sources/${id}`)).status).toBe(200);
    }
  });

  it('keeps what a connector says of its failure, without characters that no database holds', async () => {
    const words = JSON.stringify({ status: 500, data: { message: 'There is no table odd\0one\ud800.' } });
    faulty.rule(answering(to('GET', '/streams'), 500, words));
    const id = await acme.connect(template);
    const triedAgain = async () => {
      await hosted.letSettle();
      await test.app.workers.setUps.pass();
      return await sourceNow(id);
    };
    await expect.poll(async () => (await triedAgain()).status).toBe('failed');
    expect(await sourceNow(id)).toMatchObject({
      status_message: 'There is no table odd\ufffdone\ufffd.',
    });
  });

  it('shows a connection that was deleted on the platform as inactive, says so, and does not make it again', async () => {
    const id = await acme.connect(template);
    await acme.settled(id);
    const [{ connectionId }] = (await there()).connections;
    await host.platform('DELETE', `/connections/${connectionId}`);
    const shown = await connectionNow();
    expect(shown).toMatchObject({ status: 'inactive', next_run_at: null });
    expect(shown.status_message).toMatch(/no longer has this connection/);
    expect(await acme.request('POST', `/connections/${shown.id}/sync`)).toMatchObject({
      status: 502,
      headers: { 'x-inlay-error': 'platform_lost_connection' },
    });
    expect((await acme.request('GET', `/connections/${shown.id}/jobs`)).status).toBe(200);
    await acme.request('PUT', `/sources/${id}`, { source_config: { count: 12 } });
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    expect((await there()).connections).toEqual([]);
    expect((await acme.request('DELETE', `/sources/${id}`)).status).toBe(200);
  });

  it('reports that a source was deleted on the platform when it is changed, and deletes what is left', async () => {
    const id = await acme.connect(template);
    await acme.settled(id);
    await host.platform('DELETE', `/sources/${(await there()).sources[0].sourceId}`);
    await acme.request('PUT', `/sources/${id}`, { source_config: { count: 12 } });
    expect(await acme.settled(id)).toMatchObject({
      status: 'failed',
      status_reason: { code: 'source_lost', parameters: {} },
    });
    expect(await acme.request('DELETE', `/sources/${id}`)).toMatchObject({ status: 200 });
  });

  it('makes a destination again that was deleted on the platform, for the next source', async () => {
    await acme.settled(await acme.connect(template));
    await host.platform('DELETE', `/destinations/${(await there()).destinations[0].destinationId}`);
    const id = await acme.connect(template);
    await expect
      .poll(async () => {
        await hosted.letSettle();
        await test.app.workers.setUps.pass();
        return (await sourceNow(id)).status;
      })
      .toBe('ready');
    const { destinations, connections } = await there();
    expect([destinations.length, connections.length]).toEqual([1, 1]);
  });

  it('takes a job with an unknown status for a job that has not ended', async () => {
    await acme.settled(await acme.connect(template));
    const { id } = await connectionNow();
    faulty.rule(async (request, forward) => {
      if (!to('GET', '/jobs')(request)) return undefined;
      const answer = await forward();
      return { ...answer, text: answer.text.replace(/"status":"[a-z]+"/, '"status":"resting"') };
    });
    await test.app.workers.jobWatch.pass();
    expect((await acme.request('GET', `/connections/${id}/jobs`)).body.data).toMatchObject([
      { status: 'pending', ended_at: null, duration_seconds: null, error: null },
    ]);
  });

  it('reports nothing of the streams of a job, of which the platform reports nothing', async () => {
    await acme.settled(await acme.connect(template));
    const { id } = await connectionNow();
    const [{ connectionId }] = (await there()).connections;
    const job = { jobId: 17, connectionId, status: 'succeeded', jobType: 'sync', startTime: '2030-01-31T09:30:00Z' };
    const moved = { lastUpdatedAt: '2030-01-31T09:30:42Z', duration: 'PT42S', bytesSynced: 798_532, rowsSynced: 3100 };
    faulty.rule(answering(to('GET', '/jobs'), 200, JSON.stringify({ data: [{ ...job, ...moved }] })));
    await test.app.workers.jobWatch.pass();
    const shown = {
      id: await jobIdOf(test, 17),
      status: 'succeeded',
      started_at: '2030-01-31T09:30:00.000Z',
      ended_at: '2030-01-31T09:30:42.000Z',
      duration_seconds: 42,
      rows: 3100,
      bytes: 798_532,
      error: null,
      error_reason: null,
    };
    // The newest of two: the first sync has left a job as well.
    expect((await acme.request('GET', `/connections/${id}/jobs`)).body.data[0]).toEqual(shown);
    const asOperator = `/api/v1/integrations/connections/${id}/jobs?workspace_id=${acme.workspaceId}`;
    expect((await test.request('GET', asOperator)).body.data[0]).toEqual(shown);
    expect((await connectionNow()).last_run).toEqual(shown);
  });
});
