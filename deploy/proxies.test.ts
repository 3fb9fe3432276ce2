/** Real requests through nginx and Caddy, configured by the files in this folder, to a service behind them. */
import { execFile } from 'node:child_process';
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findProxies, proxyCases, type StartedProxy } from '../scripts/proxies.mjs';
import { startTestApp, type TestApp } from '../server/test/support/app.ts';
import { hosts, makeCertificate } from '../widget/test/support/sites.ts';

const host = hosts.service;
/** A client that is no trusted proxy. */
const clientAddress = '127.0.0.2';
const forgedAddress = '203.0.113.7';
const certificate = makeCertificate();

let test: TestApp;
let servicePort: number;
/** Requests as the service got them. */
const received: { url: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  const env = { INLAY_PUBLIC_URL: `https://${host}`, INLAY_TRUSTED_PROXIES: '127.0.0.1' };
  test = await startTestApp('sqlite', { env });
  test.app.http.server.on('request', ({ url = '', headers }) => received.push({ url, headers }));
  await test.app.http.listen({ host: '127.0.0.1', port: 0 });
  servicePort = (test.app.http.server.address() as AddressInfo).port;
});
afterEach(() => void received.splice(0));
afterAll(() => test?.stop());

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** With the operator token, over TLS. The answer is still open. */
function send(
  proxy: StartedProxy,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<IncomingMessage> {
  const authorization = `Bearer ${test.operatorToken}`;
  return new Promise((resolve, reject) => {
    const options = {
      ...{ host: '127.0.0.1', port: proxy.https, localAddress: clientAddress, agent: false },
      ...{ servername: host, ca: certificate.certificate, method, path },
      headers: { host, authorization, 'content-type': 'application/json', ...headers },
    };
    request(options, resolve).on('error', reject).end(body);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return text;
}

async function ask(proxy: StartedProxy, path: string, asked?: Asked) {
  const answer = await send(proxy, path, asked);
  return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer) };
}

describe.each(proxyCases)('$name with the service at "$path/"', ({ start, path }) => {
  let proxy: StartedProxy;

  beforeAll(async () => {
    proxy = await start({ host, port: servicePort, ...(path !== '' && { path }), ...certificate });
  });
  afterAll(() => proxy?.stop());

  it('redirects plain HTTP to https', async () => {
    const asked = {
      host: '127.0.0.1',
      port: proxy.http,
      path: `${path}/console?next=1`,
      headers: { host },
      agent: false,
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      plainRequest(asked, resolve).on('error', reject).end();
    });
    await textOf(answer);
    expect(answer.headers.location).toBe(`https://${host}${path}/console?next=1`);
    expect([301, 308]).toContain(answer.statusCode);
    expect(received).toEqual([]);
  });

  it('offers HTTP/2 with the certificate of the domain', async () => {
    const socket = connect({
      ...{ host: '127.0.0.1', port: proxy.https, servername: host },
      ...{ ca: certificate.certificate, ALPNProtocols: ['h2'] },
    });
    await new Promise((resolve, reject) => void socket.once('secureConnect', resolve).once('error', reject));
    expect(socket.alpnProtocol).toBe('h2');
    socket.destroy();
  });

  it('removes the path, and serves nothing outside of it', async () => {
    expect(await ask(proxy, `${path}/health/ready?verbose=1`)).toMatchObject({ status: 200 });
    expect(received.map(({ url }) => url)).toEqual(['/health/ready?verbose=1']);
    if (path === '') return;
    await ask(proxy, '/health/ready');
    expect(received).toHaveLength(1);
  });

  it('tells the service the protocol, the host and a client address that the client cannot forge', async () => {
    const name = `proxied ${crypto.randomUUID()}`;
    const made = await ask(proxy, `${path}/api/v1/operator-tokens`, {
      method: 'POST',
      headers: { 'x-forwarded-for': forgedAddress, 'x-forwarded-proto': 'http' },
      body: JSON.stringify({ name, permission: 'read' }),
    });
    expect(made.status).toBe(201);
    expect(received[0]?.headers).toMatchObject({ host, 'x-forwarded-proto': 'https' });
    await test.app.workers.sequencer.pass();
    const { body } = await test.request(
      'GET',
      '/api/v1/audit-events?types=operator_token.created&sort=-position&limit=1',
    );
    expect(body.data[0]).toMatchObject({ address: clientAddress });
    expect(JSON.stringify(body.data[0])).toContain(name);
  });

  it('passes an event on while the stream stays open', async () => {
    const { body } = await test.request('GET', '/api/v1/events?limit=1');
    const stream = await send(proxy, `${path}/api/v1/events/stream?after=${body.next}`);
    expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
    const chunks = stream.setEncoding('utf8')[Symbol.asyncIterator]();
    let seen = '';
    const until = async (part: string) => {
      while (!seen.includes(part)) {
        const { value, done } = await chunks.next();
        if (done) throw new Error(`The stream ended after ${JSON.stringify(seen)}.`);
        seen += value;
      }
    };
    await until('retry: ');
    const id = await test.workspaceId(`streamed ${crypto.randomUUID()}`);
    await test.app.workers.sequencer.pass();
    await until(id);
    expect(stream.complete).toBe(false);
    stream.destroy();
  });

  it('lets a manifest of four megabytes through, and leaves the refusal of larger bodies to the service', async () => {
    const send = (bytes: number) =>
      ask(proxy, `${path}/api/v1/integrations/definitions/sources`, {
        method: 'POST',
        body: JSON.stringify({ manifest: 'x'.repeat(bytes) }),
      });
    const fits = await send(4 * 1024 ** 2 - 100);
    expect(fits).toMatchObject({ status: 422, headers: { 'x-inlay-error': expect.any(String) } });
    const tooLarge = await send(6 * 1024 ** 2);
    expect(tooLarge).toMatchObject({ status: 413, headers: { 'x-inlay-error': 'body_too_large' } });
  });
});

it('Caddy accepts the file for several replicas', async () => {
  const { caddy } = await findProxies({ install: true });
  const file = fileURLToPath(new URL('caddy/Caddyfile.replicas', import.meta.url));
  const env = { PATH: process.env.PATH, HOME: test.dataDir, INLAY_SITE: `http://${host}` };
  const adapted = await promisify(execFile)(
    caddy,
    ['adapt', '--validate', '--adapter', 'caddyfile', '--config', file],
    { env },
  );
  expect(JSON.parse(adapted.stdout)).toMatchObject({ apps: { http: expect.anything() } });
});
