import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  lostAnswer,
  type Match,
  unreachable,
  useFaultyPlatform,
} from '../../../test/support/faults.ts';
import {
  customer,
  httpApi,
  makeConnectionTemplate,
  makeSourceTemplate,
  onPlatform,
} from '../../../test/support/pipelines.ts';

const post =
  (path: string): Match =>
  (request) =>
    request.method === 'POST' && request.path === path;

const steps = ['/sources', '/destinations', '/connections', '/jobs'];

describeInTurns('setting up a source', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  async function connect() {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { sync_on_create: true });
    const acme = await customer(test, 'acme');
    const id = await acme.connect(template);
    return { acme, id };
  }

  async function expectExactlyOne(workspaceId: string) {
    const { sources, destinations, connections } = await onPlatform(test, workspaceId);
    expect([sources.length, destinations.length, connections.length]).toEqual([1, 1, 1]);
    const jobs = await test.platform('GET', `/jobs?connectionId=${connections[0].connectionId}`);
    expect(jobs.body.data).toHaveLength(1);
  }

  it.each(steps)('finds what it made when the answer to POST %s is lost, and makes nothing twice', async (path) => {
    faulty.rule(first(1, post(path), lostAnswer));
    const { acme, id } = await connect();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    await expectExactlyOne(acme.workspaceId);
  });

  it.each(steps)('continues where it was when the platform goes away at POST %s', async (path) => {
    const restore = faulty.rule(unreachable(post(path)));
    const { acme, id } = await connect();
    await expect
      .poll(async () => (await acme.request('GET', `/sources/${id}`)).body.status_reason)
      .toEqual({ code: 'platform_not_ready', parameters: {} });
    restore();
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    await expectExactlyOne(acme.workspaceId);
  });

  it.each(steps)('is finished after a restart in front of POST %s', async (path) => {
    const restore = faulty.rule(unreachable(post(path)));
    const { id } = await connect();
    await test.restart();
    restore();
    const acme = await customer(test, 'acme');
    expect(await acme.settled(id)).toMatchObject({ status: 'ready' });
    await expectExactlyOne(acme.workspaceId);
  });

  it('reports what the platform refuses, and tries again when the source is changed', async () => {
    const restore = faulty.rule(answering(post('/sources'), 422, '{"title":"unprocessable-entity"}'));
    const { acme, id } = await connect();
    expect(await acme.settled(id)).toMatchObject({
      status: 'failed',
      status_reason: { code: 'rejected_by_platform', parameters: { what: 'source' } },
    });
    restore();
    await acme.request('PUT', `/sources/${id}`, { source_config: { count: 11 } });
    expect(await acme.settled(id)).toMatchObject({ status: 'ready', status_message: null });
    await expectExactlyOne(acme.workspaceId);
  });

  it('reports why a source cannot be read, without its secrets, and continues when it is fixed', async () => {
    const template = await makeSourceTemplate(test, { actor_definition_id: httpApi, partial_default_config: {} });
    await makeConnectionTemplate(test);
    const acme = await customer(test, 'acme');
    const api = createServer((request, response) => {
      const isKnown = request.headers.authorization === 'Bearer the-right-token';
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end('[{"id":1}]');
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void api.close());
    const config = (token: string) => ({
      base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      authentication: { type: 'bearer', token },
      streams: [{ name: 'things', path: '/things' }],
    });
    const id = await acme.connect(template, { source_config: config('a-wrong-token') });
    const failed = await acme.settled(id);
    expect(failed).toMatchObject({ status: 'failed', status_message: expect.stringContaining('401') });
    expect(JSON.stringify(failed)).not.toContain('a-wrong-token');
    // There is no job yet that could say since when.
    const { body } = await test.request('GET', `/api/v1/workspaces/${acme.workspaceId}/health`);
    expect(body.health).toMatchObject({ state: 'needs_attention', since: expect.stringMatching(/^20/) });
    expect((await acme.request('GET', `/sources/${id}`)).body.health.since).toBe(body.health.since);
    const { unwell } = (await test.request('GET', '/api/v1/integrations/overview')).body;
    const first_error = { kind: 'config_error', message: expect.stringContaining('401') };
    expect(unwell).toMatchObject([{ workspace_id: acme.workspaceId, first_error }]);
    expect((await test.request('GET', '/metrics', { token: null })).text).toContain('inlay_platform_breaker_open 0');
    await acme.request('PUT', `/sources/${id}`, { source_config: config('the-right-token') });
    expect(await acme.settled(id)).toMatchObject({ status: 'ready', status_message: null });
  });

  it('does not keep a service that stops waiting for a source that does not answer, and continues after the next start', async () => {
    const template = await makeSourceTemplate(test, { actor_definition_id: httpApi, partial_default_config: {} });
    await makeConnectionTemplate(test);
    const acme = await customer(test, 'acme');
    let isAnswering = false;
    const api = createServer((_request, response) => {
      api.emit('asked');
      if (isAnswering) response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]');
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void api.close());
    const source_config = {
      base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      authentication: { type: 'none' },
      streams: [{ name: 'things', path: '/things' }],
    };
    const asked = once(api, 'asked');
    const id = await acme.connect(template, { source_config });
    await asked;
    await test.restart();
    const row = await test.app.store.db
      .selectFrom('sources')
      .select(['last_error', 'failure'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    // Not that the source has taken too long: nobody knows that yet.
    expect(row).toEqual({ last_error: expect.stringContaining('service-unavailable'), failure: null });
    isAnswering = true;
    expect(await (await customer(test, 'acme')).settled(id)).toMatchObject({ status: 'ready' });
  });

  it('records a deletion that cannot be sent to the platform yet, and completes it later', async () => {
    const { acme, id } = await connect();
    await acme.settled(id);
    const restore = faulty.rule(unreachable());
    const answer = await acme.request('DELETE', `/sources/${id}`);
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'x-inlay-error': 'source_deletion_recorded' },
    });
    expect((await acme.request('GET', `/sources/${id}`)).status).toBe(404);
    restore();
    await expect
      .poll(async () => {
        await test.app.workers.setUps.pass();
        return (await onPlatform(test, acme.workspaceId)).sources.length;
      })
      .toBe(0);
  });
});
