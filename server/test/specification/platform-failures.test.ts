/** What callers see when the platform fails: 409, 422, 500, 502, 503 and 504, word for word. */
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import {
  type PlatformAnswer,
  type PlatformRequest,
  type Transport,
  TransportError,
} from '../../src/kernel/platform/transport.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { type Answer, startTestApp, type TestApp } from '../support/app.ts';
import { describeInTurns } from '../support/databases.ts';

const path = '/api/v1/workspaces';
type Failure = (request: PlatformRequest) => PlatformAnswer | undefined;

const answering =
  (status: number, headers: Record<string, string> = {}): (() => PlatformAnswer) =>
  () => ({ status, headers, text: '{"message":"words of the platform"}' });
const unreachable = (): never => {
  throw new TransportError('connection refused', { sent: false, timedOut: false });
};
const timingOut = (): never => {
  throw new TransportError('no answer', { sent: true, timedOut: true });
};

/** Applies a failure to requests of one kind and lets the others through. */
const on =
  (method: string, pathPattern: RegExp, failure: () => PlatformAnswer): Failure =>
  (request) =>
    request.method === method && pathPattern.test(request.path) ? failure() : undefined;

describeInTurns('When the platform fails', (kind, it) => {
  let app: TestApp;
  let failure: Failure = () => undefined;
  const wrapTransport = (transport: Transport): Transport => ({
    send: async (request) => failure(request) ?? (await transport.send(request)),
    close: () => transport.close(),
  });
  // No jitter: retries follow at once.
  const runtime = { ...systemRuntime, random: () => 0 };

  beforeAll(async () => {
    app = await startTestApp(kind, { overrides: { wrapTransport, runtime } });
  });
  afterEach(async () => {
    failure = () => undefined;
    // A new client, whose circuit breaker remembers nothing.
    await app.restart();
  });
  afterAll(() => app.stop());

  const ask = (workspace_name: string) =>
    app.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name } });
  const update = (id: string, body: object) => app.request('PUT', `${path}/${id}`, { body });
  const expectError = (answer: Answer, status: number, code: string) => {
    expect(answer.status, answer.text).toBe(status);
    expect(answer.headers['x-inlay-error']).toBe(code);
    expect(Object.keys(answer.body)).toEqual(['detail']);
    expect(answer.text).not.toContain('words of the platform');
  };

  it('tokens for known workspaces are still issued', async () => {
    await app.workspaceId('known');
    failure = unreachable;
    expect((await ask('known')).status).toBe(200);
  });

  it.each([
    ['unreachable', unreachable, 503, 'platform_unavailable', true],
    ['answering 503', answering(503), 503, 'platform_unavailable', true],
    [
      'answering 429',
      on('GET', /^\/workspaces/, answering(429, { 'retry-after': '7' })),
      503,
      'platform_rate_limited',
      true,
    ],
    ['refusing the credentials', answering(401), 502, 'platform_credentials_rejected', false],
  ])('a new name, platform %s', async (what, fails, status, code, retry) => {
    failure = fails;
    const answer = await ask(`new, ${what}`);
    expectError(answer, status, code);
    if (retry) expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    if (what === 'answering 429') expect(answer.headers['retry-after']).toBe('7');
  });

  it.each([
    ['answers 500 to the create', answering(500), 502],
    ['answers it unreadably', () => ({ status: 200, headers: {}, text: '<html>' }), 502],
    ['does not answer it in time', timingOut, 504],
  ])('a new name, and the platform %s', async (what, fails, status) => {
    failure = on('POST', /^\/workspaces$/, fails);
    const answer = await ask(`new, ${what}`);
    expectError(answer, status, status === 504 ? 'creation_timed_out' : 'creation_unconfirmed');
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('a name that the platform refuses: 422, and the name is not taken', async () => {
    failure = on('POST', /^\/workspaces$/, answering(400));
    const fault = { msg: 'the platform does not accept this name', type: 'value_error.name' };
    const asked = await ask('refused');
    expectError(asked, 422, 'invalid_request');
    expect(asked.body.detail).toEqual([{ loc: ['body', 'workspace_name'], ...fault }]);
    failure = () => undefined;
    expect((await ask('refused')).status).toBe(200);
  });

  it('a rename that the platform refuses: 422, and the old name stays', async () => {
    const id = await app.workspaceId('kept name');
    failure = on('PATCH', /^\/workspaces\//, answering(400));
    const fault = { msg: 'the platform does not accept this name', type: 'value_error.name' };
    const renamed = await update(id, { name: 'refused name' });
    expectError(renamed, 422, 'invalid_request');
    expect(renamed.body.detail).toEqual([{ loc: ['body', 'name'], ...fault }]);
    expect((await app.request('GET', `${path}/${id}`)).body.name).toBe('kept name');
  });

  it.each([
    ['unreachable', unreachable, 503],
    ['answering 500', answering(500), 502],
    ['not answering in time', timingOut, 504],
  ])('rename, status and delete are recorded and completed later, platform %s', async (what, fails, status) => {
    const [renamed, paused, deleted] = [
      await app.workspaceId(`rename, ${what}`),
      await app.workspaceId(`status, ${what}`),
      await app.workspaceId(`delete, ${what}`),
    ];
    const token = await app.scopedToken(`delete, ${what}`);
    const name = `renamed, ${what}`;

    failure = on('PATCH', /^\/workspaces\//, fails);
    expectError(await update(renamed, { name }), status, 'rename_recorded');
    failure = on('GET', /^\/connections/, fails);
    const statusOfReads = status === 502 ? 503 : status;
    const answer = await update(paused, { status: 'inactive' });
    expectError(answer, statusOfReads, 'status_recorded');
    failure = on('DELETE', /^\/workspaces\//, fails);
    const removed = await app.request('DELETE', `${path}/${deleted}`);
    expectError(removed, status, 'deletion_recorded');

    // Until then both names find the workspace, the status is in force, and the tokens are refused.
    expect(await app.workspaceId(name)).toBe(renamed);
    expect(await app.workspaceId(`rename, ${what}`)).toBe(renamed);
    expect((await app.request('GET', `${path}/${paused}`)).body.status).toBe('inactive');
    expect((await app.request('GET', '/api/v1/embedded/scoped-token/info', { token })).status).toBe(401);

    failure = () => undefined;
    await app.restart();
    await vi.waitFor(async () => {
      await app.app.workers.reconciler.pass();
      expect((await app.request('GET', `${path}/${deleted}`)).status).toBe(404);
    }, 60_000);
    expect((await app.request('GET', `${path}/${renamed}`)).body.name).toBe(name);
    expect((await app.platform('GET', `/workspaces/${renamed}`)).body.name).toBe(name);
    expect((await app.platform('GET', `/workspaces/${deleted}`)).status).toBe(404);
  });

  it('409: a workspace that is being deleted takes no update and gives no token', async () => {
    const id = await app.workspaceId('being deleted');
    failure = on('DELETE', /^\/workspaces\//, unreachable);
    expect((await app.request('DELETE', `${path}/${id}`)).status).toBe(503);
    for (const answer of [await ask('being deleted'), await update(id, { name: 'x' })]) {
      expectError(answer, 409, 'workspace_being_deleted');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    failure = () => undefined;
    expect((await app.request('DELETE', `${path}/${id}`)).status).toBe(200);
    expect((await ask('being deleted')).status).toBe(200);
  });

  it('502: some connections are left', async () => {
    const workspaceId = await app.workspaceId('partly');
    const source = { name: 's', workspaceId, configuration: { sourceType: 'sample-data', count: 1 } };
    const destination = { name: 'd', workspaceId, configuration: { destinationType: 'local-files', path: 'o' } };
    const { sourceId } = (await app.platform('POST', '/sources', source)).body;
    const { destinationId } = (await app.platform('POST', '/destinations', destination)).body;
    const ids = [];
    for (let made = 0; made < 3; made++) {
      ids.push((await app.platform('POST', '/connections', { sourceId, destinationId })).body.connectionId);
    }
    failure = on('PATCH', new RegExp(`^/connections/${ids[1]}`), unreachable);
    const disabling = await update(workspaceId, { status: 'inactive' });
    expectError(disabling, 502, 'connections_pending');
    expect((await app.request('GET', `${path}/${workspaceId}`)).body.status).toBe('inactive');
    failure = () => undefined;
    expect((await update(workspaceId, { status: 'inactive' })).status).toBe(200);
    for (const id of ids) expect((await app.platform('GET', `/connections/${id}`)).body.status).toBe('inactive');
  });

  it('502: a sync that the platform stops', async () => {
    failure = on('GET', /^\/workspaces\?/, answering(500));
    const answer = await app.request('POST', `${path}/sync`);
    expectError(answer, 502, 'sync_stopped');
  });

  it('502: a workspace that the platform has lost', async () => {
    const id = await app.workspaceId('lost');
    await app.platform('DELETE', `/workspaces/${id}`);
    const answer = await update(id, { name: 'found' });
    expectError(answer, 502, 'platform_lost_workspace');
    expect((await app.request('DELETE', `${path}/${id}`)).status).toBe(200);
  });

  it('500: a bug reports nothing', async () => {
    failure = () => {
      throw new Error('a bug that knows a secret');
    };
    expectError(await ask('bug'), 500, 'internal_error');
  });
});
