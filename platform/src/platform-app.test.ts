import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpServer } from '../../guard/test/http-server.ts';
import { fillWorkspace, startPlatform } from '../test/start-platform.ts';
import { until } from '../test/steered.ts';
import { createPlatformApp } from './platform-app.ts';

const prefix = '/platform/v1';
const errorIdOnly = { errorId: expect.stringMatching(/^[0-9a-f-]{36}$/) };

async function start(options: { isInternal?: boolean; trustedProxies?: string[]; headersTimeoutMs?: number } = {}) {
  const { platform } = await startPlatform();
  const lines: { level: number; msg: string; err?: { stack?: string } }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const app = await createPlatformApp(platform, { prefix, log, ...options });
  onTestFinished(() => app.close());
  return { platform, app, lines };
}

describe('the health of a platform that runs alone', () => {
  test('is live and ready without a token', async () => {
    const { app } = await start();
    const live = await app.inject('/health/live');
    expect([live.statusCode, live.json()]).toEqual([200, { status: 'live' }]);
    const ready = await app.inject('/health/ready');
    expect([ready.statusCode, ready.json()]).toEqual([
      200,
      { status: 'ready', checks: { service: 'ok', database: 'ok' } },
    ]);
    expect(ready.headers['cache-control']).toBe('no-store');
  });

  test('is live, not ready, while the database does not respond', async () => {
    const { app, platform } = await start();
    await platform.close();
    expect((await app.inject('/health/live')).statusCode).toBe(200);
    const reply = await app.inject('/health/ready');
    expect(reply.statusCode).toBe(503);
    expect(reply.headers['retry-after']).toBe('2');
    expect(reply.json()).toMatchObject({
      status: 503,
      title: 'service-unavailable',
      data: { message: expect.stringMatching(/^Not ready: database: /) },
    });
  });

  test('is not ready while its storage is full, says so to callers, and recovers', async () => {
    const { app, platform } = await start({ isInternal: true });
    const { token } = await platform.tokens.issue('the-client', 'the-secret-of-the-client');
    const headers = { authorization: `Bearer ${token}` };
    const create = () =>
      app.inject({ method: 'POST', url: `${prefix}/workspaces`, headers, payload: { name: 'x'.repeat(200) } });
    // No page more than there are now.
    await sql`pragma max_page_count = 1`.execute(platform.store.db);
    let refused = await create();
    while (refused.statusCode === 200) refused = await create();
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('2');
    expect(refused.json().data).toEqual({ message: expect.stringMatching(/: storage full\.$/) });
    const ready = await app.inject('/health/ready');
    expect(ready.statusCode).toBe(503);
    expect(ready.json().data).toEqual({ message: expect.stringMatching(/^Not ready: .*storage full$/) });
    expect((await app.inject('/health/live')).statusCode).toBe(200);
    await sql`pragma max_page_count = 100000`.execute(platform.store.db);
    expect((await app.inject('/health/ready')).statusCode).toBe(200);
    expect((await create()).statusCode).toBe(200);
  });
});

describe('guesses at the client secret', () => {
  type App = Awaited<ReturnType<typeof start>>['app'];
  const ask = (app: App, client_secret: string, remoteAddress: string, headers = {}) => {
    const payload = { client_id: 'the-client', client_secret };
    return app.inject({ method: 'POST', url: `${prefix}/applications/token`, payload, remoteAddress, headers });
  };
  const right = 'the-secret-of-the-client';

  test('are refused after ten from an address, right or wrong, and nobody else is kept out', async () => {
    const { app } = await start();
    for (let count = 0; count < 10; count++) expect((await ask(app, 'wrong', '192.0.2.1')).statusCode).toBe(401);
    for (const secret of ['wrong', right]) {
      const refused = await ask(app, secret, '192.0.2.1');
      expect(refused.statusCode).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(refused.json()).toMatchObject({ status: 429, title: 'too-many-requests' });
    }
    expect((await ask(app, right, '192.0.2.2')).statusCode).toBe(200);
  });

  test('are distinguished behind a proxy that is trusted', async () => {
    const { app } = await start({ trustedProxies: ['192.0.2.1'] });
    const through = (client: string) => ({ 'x-forwarded-for': client });
    for (let count = 0; count < 10; count++) await ask(app, 'wrong', '192.0.2.1', through('198.51.100.1'));
    expect((await ask(app, right, '192.0.2.1', through('198.51.100.1'))).statusCode).toBe(429);
    expect((await ask(app, right, '192.0.2.1', through('198.51.100.2'))).statusCode).toBe(200);
  });

  test('from outside do not keep out the process itself', async () => {
    const { app, platform } = await start();
    const internal = await createPlatformApp(platform, { prefix, log: pino({ level: 'silent' }), isInternal: true });
    onTestFinished(() => internal.close());
    for (let count = 0; count < 11; count++) await ask(app, 'wrong', '127.0.0.1');
    expect((await ask(app, right, '127.0.0.1')).statusCode).toBe(429);
    expect((await ask(internal, right, '127.0.0.1')).statusCode).toBe(200);
  });
});

test('a request that comes while the platform is busy or stops says when to try again', async () => {
  const running = await startPlatform();
  const { sourceId } = await fillWorkspace(running);
  const { platform } = running;
  const app = await createPlatformApp(platform, { prefix, log: pino({ level: 'silent' }) });
  onTestFinished(() => app.close());
  const { token } = await platform.tokens.issue('the-client', 'the-secret-of-the-client');
  platform.actors.discoveryTurns.close();
  const headers = { authorization: `Bearer ${token}` };
  const reply = await app.inject({ url: `${prefix}/streams?sourceId=${sourceId}`, headers });
  expect(reply.json()).toMatchObject({ status: 503, title: 'service-unavailable' });
  expect(reply.headers['retry-after']).toBe('1');
});

test('a request that waits for a connector does not keep the platform from stopping, and is answered with a retry', async () => {
  const running = await startPlatform({ allowPrivateNetworks: true });
  const { platform, call } = running;
  const silent = await startHttpServer(() => undefined);
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'waiting' })).body;
  const configuration = {
    sourceType: 'http-api',
    base_url: silent.origin,
    authentication: { type: 'none' },
    streams: [{ name: 'things', path: '/things' }],
  };
  const { sourceId } = (await call('POST', '/sources', { name: 'silent', workspaceId, configuration })).body;
  const app = await createPlatformApp(platform, { prefix, log: pino({ level: 'silent' }) });
  const { token } = await platform.tokens.issue('the-client', 'the-secret-of-the-client');
  const headers = { authorization: `Bearer ${token}` };
  const waiting = app.inject({ url: `${prefix}/streams?sourceId=${sourceId}`, headers });
  await until(() => silent.asked.length > 0);
  await app.close();
  const reply = await waiting;
  expect([reply.json(), reply.headers['retry-after']]).toMatchObject([
    { status: 503, title: 'service-unavailable' },
    '1',
  ]);
});

describe('a request that leads nowhere', () => {
  test.each(['/', '/nothing', '/platform', '/platform/v2/workspaces', '/health', '/%zz'])(
    'is 404 with only an errorId: %s',
    async (path) => {
      const { app } = await start();
      const reply = await app.inject(path);
      expect([reply.statusCode, reply.json()]).toEqual([404, errorIdOnly]);
      expect((await app.inject({ method: 'POST', url: path })).json()).toEqual(errorIdOnly);
    },
  );

  test('and is no HTTP is 400 with only an errorId', async () => {
    const { app } = await start();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = openSocket(app);
    socket.write('this is no HTTP\r\n\r\n');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    await until(() => socket.closed);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual(errorIdOnly);
  });
});

test.each([
  ['nothing', ''],
  ['half a head', 'GET /health/live HTTP/1.1\r\nHost: x\r\n'],
])('a connection that sends %s is answered with 408 after a while, and ended', async (_what, sends) => {
  const { app } = await start({ headersTimeoutMs: 100 });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = openSocket(app);
  socket.write(sends);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  await until(() => socket.closed);
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual(errorIdOnly);
});

describe('a body that breaks off', () => {
  test.each(['/applications/token', '/workspaces'])('is no error of the platform: %s', async (path) => {
    const { app, platform, lines } = await start();
    const { token } = await platform.tokens.issue('the-client', 'the-secret-of-the-client');
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = openSocket(app);
    let wasRead = false;
    app.server.once('request', (request) => {
      // A listener of our own would take the beginning of the body away.
      request.on('newListener', (event) => {
        if (event === 'data') wasRead = true;
      });
    });
    socket.write(
      `POST ${prefix}${path} HTTP/1.1\r\nHost: platform.test\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name": "',
    );
    await until(() => wasRead);
    socket.destroy();
    await until(() =>
      lines.some(({ msg }) => msg.includes('platform: Client disconnected before the request was complete')),
    );
    expect(lines.filter(({ level, err }) => level > 30 || err !== undefined)).toEqual([]);
  });
});

function openSocket({ server }: { server: Server }): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return socket;
}
