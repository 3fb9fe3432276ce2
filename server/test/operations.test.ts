/** What operators of a deployment see: health, metrics, rate limits, request ids, shutdown. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemRuntime } from '../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { createTestDatabase, describeOnOneDatabase } from './support/databases.ts';
import { nextMillisecond } from './support/next-millisecond.ts';
import { type Service, startService } from './support/service.ts';

const infoPath = '/api/v1/embedded/scoped-token/info';

describeOnOneDatabase('Health and metrics', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  it('GET /health/live reports that the process is running', async () => {
    const { status, body } = await app.request('GET', '/health/live', { token: null });
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'live' });
  });

  it('GET /health/ready reports the state of each part', async () => {
    const { status, headers, body } = await app.request('GET', '/health/ready', { token: null });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({ status: 'ready', checks: { service: 'ok', database: 'ok', platform: 'ok', syncs: 'ok' } });
  });

  it('GET /health/ready answers 503 while the database is away; the process stays live', async () => {
    const broken = await startTestApp(kind);
    onTestFinished(() => broken.stop());
    await broken.app.store.close();
    const { status, headers, body } = await broken.request('GET', '/health/ready', { token: null });
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect([headers['x-inlay-error'], body.detail]).toEqual(['not_ready', expect.stringMatching(/: database: /)]);
    expect((await broken.request('GET', '/health/live', { token: null })).status).toBe(200);
  });

  it('GET /metrics counts requests, calls to the platform and open work, and names no tenant', async () => {
    const workspace = 'a tenant that must not be named';
    const id = await app.workspaceId(workspace);
    const scoped = await app.scopedToken(workspace);
    await app.request('GET', `/api/v1/workspaces/${id}`);
    await app.request('GET', '/api/v1/workspaces/unknown');
    await app.request('GET', `/no/such/path/${scoped}`);

    const { status, headers, text } = await app.request('GET', '/metrics', { token: null });

    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const route = 'route="/api/v1/workspaces/:workspace_id",method="GET"';
    expect(text).toContain(`inlay_http_requests_total{${route},status="200"} 1`);
    expect(text).toContain(`inlay_http_requests_total{${route},status="422"} 1`);
    expect(text).toContain(`inlay_http_request_duration_seconds_count{${route}} 2`);
    expect(text).toContain('inlay_http_requests_total{route="unmatched",method="GET",status="404"} 1');
    expect(text).toMatch(/inlay_platform_calls_total\{operation="create_workspace",outcome="ok"\} 1/);
    expect(text).toMatch(/inlay_platform_call_duration_seconds_count\{operation="create_workspace"\} 1/);
    expect(text).toContain('inlay_workspace_events_total{event="workspace_created"} 1');
    for (const what of ['claim', 'rename', 'status', 'delete', 'orphan_delete']) {
      expect(text).toContain(`inlay_reconciler_backlog{kind="${what}"} 0`);
    }
    expect(text).toContain('process_cpu_seconds_total');
    for (const secret of [workspace, id, scoped, app.organizationId, app.operatorToken]) {
      expect(text).not.toContain(secret);
    }
  });
});

describeOnOneDatabase('Request ids', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  it.each(['abc', 'A-1-b', 'x'.repeat(36)])('an acceptable one is kept: %s', async (id) => {
    const { headers } = await app.request('GET', '/health/live', { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toBe(id);
  });

  it.each(['', 'x'.repeat(37), 'a.b', 'a b', 'a,b', '<b>', 'a"b'])('another one is replaced: %j', async (id) => {
    const { headers } = await app.request('GET', '/health/live', { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('every answer has a different one', async () => {
    const answers = await Promise.all([
      app.request('GET', '/api/v1/workspaces'),
      app.request('GET', '/api/v1/workspaces', { token: null }),
      app.request('GET', '/api/v1/workspaces?limit=0'),
      app.request('GET', '/no/such/path'),
      app.request('PATCH', '/api/v1/workspaces'),
      app.request('POST', '/api/v1/workspaces/sync'),
      app.request('GET', '/docs'),
      app.request('GET', '/widget'),
    ]);
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describeOnOneDatabase('Rate limits', (kind) => {
  const start = async (env: Record<string, string>) => {
    // The minute of a limit does not pass, however long the requests take.
    const runtime = { ...systemRuntime, elapsed: () => 0 };
    const app = await startTestApp(kind, { env, overrides: { runtime } });
    onTestFinished(() => app.stop());
    const info = (token: string, path = infoPath) => app.request('GET', path, { token });
    const list = (token = app.operatorToken) => app.request('GET', '/api/v1/workspaces', { token });
    return { app, info, list };
  };
  const rateHeaders = (headers: object) => Object.keys(headers).filter((name) => /ratelimit/i.test(name));

  it('count per scoped token, report how much is left, and answer 429 with Retry-After', async () => {
    const { app, info } = await start({ INLAY_RATE_LIMIT_PER_MINUTE: '3' });
    const [token, other] = [await app.scopedToken('limited'), await app.scopedToken('limited')];
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await info(token);
      expect(status).toBe(200);
      expect(String(headers['ratelimit-limit'])).toBe('3');
      expect(String(headers['ratelimit-remaining'])).toBe(remaining);
      expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(0);
      expect(Number(headers['ratelimit-reset'])).toBeLessThanOrEqual(60);
    }
    const refused = await info(token);
    expect(refused.status).toBe(429);
    expect(refused.text).toBe('{"detail":"Too many requests"}');
    expect(refused.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(String(refused.headers['ratelimit-remaining'])).toBe('0');
    expect((await info(other)).status).toBe(200);
  });

  it('count a token over all its endpoints', async () => {
    const { app, info } = await start({ INLAY_RATE_LIMIT_PER_MINUTE: '2' });
    const token = await app.scopedToken('limited');
    expect((await info(token)).status).toBe(200);
    expect((await info(token, '/api/v1/embedded/scoped-token-info')).status).toBe(200);
    expect((await info(token, '/api/v1/embedded/organizations/current-scoped')).status).toBe(429);
  });

  it('count all scoped tokens of a workspace together, and report the limit that is nearer', async () => {
    const { app, info, list } = await start({
      INLAY_RATE_LIMIT_PER_MINUTE: '2',
      INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: '4',
    });
    const tokens = await Promise.all([1, 2, 3].map(() => app.scopedToken('limited')));
    const elsewhere = await app.scopedToken('elsewhere');
    const ask = async (token = '') => {
      const { status, headers } = await info(token);
      return [status, Number(headers['ratelimit-limit']), Number(headers['ratelimit-remaining'])];
    };
    expect(await ask(tokens[0])).toEqual([200, 2, 1]);
    expect(await ask(tokens[0])).toEqual([200, 2, 0]);
    // Refused requests of one token do not count for the other tokens.
    expect(await ask(tokens[0])).toEqual([429, 2, 0]);
    expect(await ask(tokens[0])).toEqual([429, 2, 0]);
    expect(await ask(tokens[1])).toEqual([200, 2, 1]);
    expect(await ask(tokens[2])).toEqual([200, 4, 0]);
    const refused = await info(tokens[2] ?? '');
    expect([refused.status, refused.text]).toEqual([429, '{"detail":"Too many requests"}']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await ask(elsewhere)).toEqual([200, 2, 1]);
    expect((await list()).status).toBe(200);
  });

  it('of a workspace hold even when there is no limit for tokens', async () => {
    const { app, info } = await start({ INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: '1' });
    const [one, other] = [await app.scopedToken('limited'), await app.scopedToken('limited')];
    expect([(await info(one)).status, (await info(other)).status]).toEqual([200, 429]);
  });

  it('are 1200 for scoped tokens and off for operator tokens by default', async () => {
    const { app, info, list } = await start({ INLAY_RATE_LIMIT_PER_MINUTE: '' });
    const scoped = await info(await app.scopedToken('default'));
    expect(String(scoped.headers['ratelimit-limit'])).toBe('1200');
    expect(rateHeaders((await list()).headers)).toEqual([]);
  });

  it('count per operator token where that is set', async () => {
    const { app, list } = await start({ INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: '2' });
    const { token } = await app.app.operatorTokens.create(app.organizationId, { name: 'limited' });
    expect((await list(token)).status).toBe(200);
    expect(String((await list(token)).headers['ratelimit-remaining'])).toBe('0');
    const refused = await list(token);
    expect(refused.status).toBe(429);
    expect(refused.text).toBe('{"detail":"Too many requests"}');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await list()).status).toBe(200);
  });

  it('are off with 0, and never apply to health and metrics', async () => {
    const env = { INLAY_RATE_LIMIT_PER_MINUTE: '0', INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: '1' };
    const { app, info } = await start(env);
    const token = await app.scopedToken('unlimited');
    expect(rateHeaders((await info(token)).headers)).toEqual([]);
    for (const path of ['/health/live', '/health/ready', '/metrics', '/.well-known/jwks.json']) {
      for (let times = 0; times < 3; times++) expect((await app.request('GET', path)).status).toBe(200);
    }
  });
});

describe('The process', () => {
  let service: Service;
  const dataDir = mkdtempSync(join(tmpdir(), 'inlay-operations-'));
  const operatorToken = 'operations-test-operator-token-0123456789';
  beforeAll(async () => {
    service = await startService({ dataDir, env: { INLAY_OPERATOR_TOKEN: operatorToken } });
  });
  afterAll(async () => {
    await service.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('answers 431 with a detail when headers are too large', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write(`GET /health/live HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('{"detail":"Request Header Fields Too Large"}');
  });

  it('gives next links that work as they are', async () => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
    for (const workspace_name of ['one', 'two']) {
      await nextMillisecond();
      const body = JSON.stringify({ workspace_name });
      await fetch(`${service.url}/api/v1/embedded/scoped-token`, { method: 'POST', headers, body });
    }
    const read = async (url: string) =>
      (await (await fetch(url, { headers })).json()) as { data: { name: string }[]; next: string | null };
    const first = await read(`${service.url}/api/v1/workspaces?limit=1`);
    const second = await read(first.next ?? '');
    expect([first, second].map(({ data }) => data[0]?.name)).toEqual(['two', 'one']);
    expect(second.next).toBeNull();
  });
});

describeOnOneDatabase('Shutdown', (kind) => {
  it('on SIGTERM a request under way is answered, and the process ends with 0', async () => {
    const database = await createTestDatabase(kind);
    onTestFinished(() => database.drop());
    const operatorToken = 'operations-test-operator-token-0123456789';
    const service = await startService({
      dataDir: database.dataDir,
      env: { INLAY_OPERATOR_TOKEN: operatorToken, ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}) },
    });
    onTestFinished(() => service.kill());
    // A client that would keep its connection for ever must not keep the process.
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const body = JSON.stringify({ workspace_name: 'made while stopping' });
    const request = httpRequest(`${service.url}/api/v1/embedded/scoped-token`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        // The server says when it has begun to work on the request.
        expect: '100-continue',
      },
    });
    request.flushHeaders();
    await once(request, 'continue');

    const stopped = service.stop('SIGTERM');
    await vi.waitFor(() => expect(service.output()).toContain('Stopping'), 60_000);
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.end(body);

    const [response] = await answered;
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    expect(response.statusCode).toBe(200);
    expect(JSON.parse(text)).toEqual({ token: expect.any(String) });
    expect(await stopped).toBe(0);
    expect(service.output()).toContain('"Stopped"');
    await expect(fetch(`${service.url}/health/live`)).rejects.toThrow();
  });
});
