import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platformApi } from '@inlay/platform/api';
import { openPlatform } from '@inlay/platform/open-platform';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PlatformUnderTest, platformContract } from '../../../test/support/platform-contract.ts';
import { virtualRuntime } from '../../../test/support/virtual-time.ts';
import { systemRuntime } from '../runtime.ts';
import { createSealer } from '../sealing.ts';
import { createPlatformClient } from './platform-client.ts';
import type { PlatformPort } from './platform-port.ts';
import { httpTransport, inProcessTransport, type Transport } from './transport.ts';

const credentials = { clientId: 'id', clientSecret: 'a-secret-for-tests' };
const organizationId = '11111111-1111-4111-8111-111111111111';
const regionId = '645a183f-b12b-4c6e-8ad3-99e165603450';

describe.each(['in process', 'over a socket'])('the bundled platform %s', (way) => {
  let directory: string;
  let bundled: Awaited<ReturnType<typeof openPlatform>>;
  let app: FastifyInstance;
  let subject: PlatformUnderTest;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'inlay-platform-'));
    const file = join(directory, 'platform.db');
    const sealer = createSealer(randomBytes(32));
    bundled = await openPlatform({
      file,
      dataDir: directory,
      ...credentials,
      sealer: {
        seal: (text, context) => sealer.seal(Buffer.from(text), context),
        open: (sealed, context) => sealer.open(sealed, context).toString(),
      },
      publicUrl: 'http://localhost/platform/v1',
      connectorsProgram: '/nothing/is/run',
    });
    app = Fastify();
    await app.register(platformApi(bundled), { prefix: '/platform/v1' });
    let transport: Transport;
    if (way === 'in process') {
      await app.ready();
      transport = inProcessTransport(app, '/platform/v1');
    } else {
      transport = httpTransport(`${await app.listen({ port: 0, host: '127.0.0.1' })}/platform/v1`);
    }
    const platform = createPlatformClient({ transport, credentials, runtime: systemRuntime });
    subject = {
      platform,
      organizationId,
      otherOrganizationId: '22222222-2222-4222-8222-222222222222',
      makeConnection,
    };
  });
  afterAll(async () => {
    await subject.platform.close();
    await app.close();
    await bundled.close();
    rmSync(directory, { recursive: true });
  });

  async function makeConnection(workspaceId: string): Promise<string> {
    const token = await app.inject({
      method: 'POST',
      url: '/platform/v1/applications/token',
      payload: { client_id: credentials.clientId, client_secret: credentials.clientSecret },
    });
    const headers = { authorization: `Bearer ${token.json().access_token}` };
    const post = async (path: string, payload: object) =>
      (await app.inject({ method: 'POST', url: `/platform/v1${path}`, headers, payload })).json();
    const source = await post('/sources', {
      name: 's',
      workspaceId,
      configuration: { sourceType: 'sample-data', count: 1 },
    });
    const destination = await post('/destinations', {
      name: 'd',
      workspaceId,
      configuration: { destinationType: 'local-files', path: 'p' },
    });
    const { sourceId } = source;
    const { destinationId } = destination;
    return (await post('/connections', { sourceId, destinationId })).connectionId;
  }

  platformContract(() => subject);
});

describe('the platform client', () => {
  type Handler = (request: IncomingMessage & { body: string }, response: ServerResponse) => void;
  let server: Server;
  let platform: PlatformPort;
  let handle: Handler;
  let requests: string[];
  let outcomes: string[];
  let runtime: ReturnType<typeof virtualRuntime>;

  beforeEach(async () => {
    requests = [];
    outcomes = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        requests.push(`${request.method} ${request.url?.split('?')[0]}`);
        if (request.url === '/v1/applications/token') {
          response.end(
            JSON.stringify({ access_token: `token-${requests.length}`, expires_in: 900, token_type: 'Bearer' }),
          );
        } else handle(Object.assign(request, { body }), response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    runtime = virtualRuntime();
    const { port } = server.address() as AddressInfo;
    platform = createPlatformClient({
      transport: httpTransport(`http://127.0.0.1:${port}/v1`),
      credentials,
      runtime,
      onCall: ({ outcome }) => outcomes.push(outcome),
    });
  });
  afterEach(async () => {
    await platform.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const answer = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  const create = () => platform.createWorkspace({ organizationId, name: 'n', regionId });
  const calls = (what: string) => requests.filter((request) => request === what).length;

  it('fetches one access token for many calls', async () => {
    handle = (_request, response) => answer(response, 200, { data: [] });
    await Promise.all(Array.from({ length: 10 }, () => platform.listOrganizations()));
    expect(calls('POST /v1/applications/token')).toBe(1);
  });

  it('fetches a new access token before the old one expires', async () => {
    handle = (_request, response) => answer(response, 200, { data: [] });
    await platform.listOrganizations();
    runtime.advance(850_000);
    await platform.listOrganizations();
    expect(calls('POST /v1/applications/token')).toBe(2);
  });

  it('fetches a new access token once when the platform no longer takes the old one, even for a create', async () => {
    handle = (request, response) =>
      request.headers.authorization === 'Bearer token-1'
        ? answer(response, 401, {})
        : answer(response, 200, { workspaceId: 'ABC' });
    expect(await create()).toEqual({ id: 'abc', name: 'n' });
    handle = (_request, response) => answer(response, 401, {});
    await expect(create()).rejects.toMatchObject({ failure: 'unauthorised' });
    expect(calls('POST /v1/workspaces')).toBe(4);
  });

  it.each([
    [400, 'rejected'],
    [403, 'unauthorised'],
    [404, 'not_found'],
    [409, 'rejected'],
    [422, 'rejected'],
    [429, 'throttled'],
    [500, 'unknown'],
    [502, 'unknown'],
    [504, 'unknown'],
    [408, 'unknown'],
    [302, 'rejected'],
  ])('sends a create once and translates %i to %s', async (status, failure) => {
    handle = (_request, response) => answer(response, status, '<html>', { location: '/v1/elsewhere' });
    await expect(create()).rejects.toMatchObject({ failure });
    expect(calls('POST /v1/workspaces')).toBe(1);
    expect(calls('GET /v1/elsewhere')).toBe(0);
  });

  it.each([
    ['a reset after the request was read', (response: ServerResponse) => response.destroy()],
    ['a success with HTML', (response: ServerResponse) => response.end('<html>')],
    ['a success without an id', (response: ServerResponse) => response.end('{}')],
    [
      'a success cut off half-way',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"workspaceId":');
        setImmediate(() => response.destroy());
      },
    ],
    ['an endless answer', (response: ServerResponse) => response.end('x'.repeat(6_000_000))],
  ])('takes %s on a create for an unknown outcome', async (_what, respond) => {
    handle = (_request, response) => void respond(response);
    await expect(create()).rejects.toMatchObject({ failure: 'unknown' });
    expect(calls('POST /v1/workspaces')).toBe(1);
  });

  it('knows that a create was not applied when no connection could be made', async () => {
    handle = (_request, response) => answer(response, 200, { data: [] });
    await platform.listOrganizations();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(create()).rejects.toMatchObject({ failure: 'unavailable' });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  it('tries a read again up to three times', async () => {
    let failures = 3;
    handle = (_request, response) =>
      failures-- > 0 ? answer(response, 503, 'busy') : answer(response, 200, { data: [{ organizationId }] });
    expect(await platform.listOrganizations()).toEqual([organizationId]);
    failures = 4;
    await expect(platform.listOrganizations()).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it('adds little to the load of a platform that fails now and then, however many requests come', async () => {
    const startedAt = runtime.now();
    let count = 0;
    // Too few failures for the breaker, and always in pairs, so that the first retry fails, too.
    handle = (_request, response) =>
      count++ % 5 < 2 ? answer(response, 503, 'busy') : answer(response, 200, { data: [] });
    for (let i = 0; i < 200; i++) await platform.listOrganizations().catch(() => undefined);
    const allowed = 200 * 0.2 + 20 + (runtime.now() - startedAt) / 1000;
    expect(calls('GET /v1/organizations') - 200).toBeLessThanOrEqual(allowed);
  });

  it('logs the useful words of the platform’s response', async () => {
    const problem = { status: 409, type: 't', title: 'state-conflict', detail: null, data: { message: 'in use' } };
    handle = (_request, response) => answer(response, 409, problem);
    await expect(create()).rejects.toThrow('409: state-conflict: in use');
  });

  it('waits as long as a short Retry-After says, and passes a long one on', async () => {
    let status = 429;
    handle = (_request, response) => {
      answer(response, status, { data: [] }, { 'retry-after': '2' });
      status = 200;
    };
    const before = runtime.now();
    await platform.listOrganizations();
    expect(runtime.now() - before).toBeGreaterThanOrEqual(2_000);
    handle = (_request, response) => answer(response, 429, {}, { 'retry-after': '3600' });
    await expect(platform.listOrganizations()).rejects.toMatchObject({ failure: 'throttled', retryAfterSeconds: 60 });
  });

  it('says of a write whether an earlier try may still take effect', async () => {
    let failures = 1;
    handle = (_request, response) => (failures-- > 0 ? answer(response, 500, '') : answer(response, 200, {}));
    expect(await platform.renameWorkspace('w', 'n')).toMatchObject({ settled: false });
    expect(await platform.renameWorkspace('w', 'n')).toMatchObject({ settled: true });
  });

  it('says the same of a write that failed in the end, whatever it failed of', async () => {
    let failures = 1;
    handle = (_request, response) =>
      failures-- > 0 ? answer(response, 500, '') : answer(response, 429, {}, { 'retry-after': '3600' });
    const rename = () => platform.renameWorkspace('w', 'n');
    await expect(rename()).rejects.toMatchObject({ failure: 'throttled', settled: false });
    await expect(rename()).rejects.toMatchObject({ failure: 'throttled', settled: true });
  });

  it('stops asking a platform that keeps failing, and tries it again after a while', async () => {
    handle = (_request, response) => answer(response, 500, '');
    for (let i = 0; i < 5; i++) await platform.listOrganizations().catch(() => undefined);
    const before = requests.length;
    await expect(platform.listOrganizations()).rejects.toMatchObject({ failure: 'unavailable' });
    expect(requests.length).toBe(before);
    runtime.advance(6_000);
    handle = (_request, response) => answer(response, 200, { data: [] });
    expect(await platform.listOrganizations()).toEqual([]);
    expect(await platform.listOrganizations()).toEqual([]);
    expect(outcomes).toContain('unavailable');
  });

  it('has at most sixteen calls under way', async () => {
    let underWay = 0;
    let most = 0;
    handle = (_request, response) => {
      most = Math.max(most, ++underWay);
      // Held until everything that may arrive at once has arrived.
      setTimeout(() => {
        underWay--;
        answer(response, 200, { data: [] });
      }, 20);
    };
    await Promise.all(Array.from({ length: 60 }, () => platform.listOrganizations()));
    expect(most).toBeLessThanOrEqual(16);
    expect(most).toBeGreaterThan(1);
  });

  it('gives up a question that waits for a connector when requested, and knows that nothing was applied', async () => {
    const cutOff = new Promise<void>((resolve) => {
      handle = (request, response) => {
        response.once('close', resolve);
        if (request.url?.startsWith('/v1/streams')) platform.endQuestions();
      };
    });
    await expect(platform.listStreams('a source', 'a destination')).rejects.toMatchObject({
      failure: 'unavailable',
      settled: true,
    });
    await cutOff;
  });

  it('does not wait any longer for the outcome of a check when requests are cancelled', async () => {
    handle = (request, response) => {
      if (request.method === 'GET') platform.endQuestions();
      answer(response, 200, request.method === 'POST' ? { checkId: 'the-check' } : { status: 'running' });
    };
    const destination = { organizationId, definitionId: 'files', configuration: {} };
    await expect(platform.checkDestination(destination)).rejects.toMatchObject({ failure: 'unavailable' });
    expect(requests.filter((request) => request.startsWith('GET'))).toHaveLength(1);
  });

  it('computes offsets itself and ends at a short page, whatever the links say', async () => {
    const items = Array.from({ length: 150 }, (_, i) => ({ workspaceId: `id-${i}`, name: `n${i}` }));
    handle = (request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      const offset = Number(url.searchParams.get('offset'));
      const data = items.slice(offset, offset + Number(url.searchParams.get('limit')));
      answer(response, 200, { data, next: 'http://elsewhere.invalid/v1/workspaces?offset=0' });
    };
    const ids: string[] = [];
    for await (const page of platform.listWorkspaces(organizationId)) ids.push(...page.map(({ id }) => id));
    expect(ids).toHaveLength(150);
    expect(calls('GET /v1/workspaces')).toBe(2);
  });
});
