/** Walks the route table: who may call what, which headers browsers get, and in which order a request is checked. */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessPolicies } from '../../src/kernel/http/endpoint.ts';
import { keepRouteTable } from '../../src/kernel/http/route-table.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { insertCredential } from '../support/credentials.ts';
import {
  addTenant,
  exchange,
  expectSame401,
  fill,
  firstEvent,
  infoPath,
  makeCauseRetry,
  makeOAuthClient,
  makeOAuthTest,
  makePipeline,
  makeSignIn,
  makeTemplates,
  makeWebhookEndpoint,
  platformCredentials,
  routesWith,
  unknownId,
  widgetToken,
} from './support.ts';

let test: TestApp;
let readOnly: string;
let operating: string;
let revoked: string;
let expired: string;
let scoped: string;
let widget: { whole: string; inner: string };
let ids: Record<string, string>;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_CUSTOMER_WEBHOOKS: 'true' } });
  const { operatorTokens } = test.app;
  const create = (token: { name: string; permission?: 'read' | 'operator'; expiresAt?: number }) =>
    operatorTokens.create(test.organizationId, token);
  readOnly = (await create({ name: 'read', permission: 'read' })).token;
  operating = (await create({ name: 'operating', permission: 'operator' })).token;
  expired = (await create({ name: 'expired', expiresAt: Date.now() - 1 })).token;
  const ended = await create({ name: 'revoked' });
  revoked = ended.token;
  await operatorTokens.revoke(test.organizationId, ended.id);
  scoped = await test.scopedToken('acme');
  widget = await widgetToken(test, {});
  const workspaceId = await test.workspaceId('acme');
  const templates = await makeTemplates(test);
  const pipeline = await makePipeline(test, workspaceId, templates.source_template_id as string);
  const event_id = await firstEvent(test, test);
  const webhook_endpoint_id = await makeWebhookEndpoint(test, scoped);
  const oauth_client_id = await makeOAuthClient(test);
  ids = {
    workspace_id: workspaceId,
    operator_token_id: ended.id,
    event_id,
    webhook_endpoint_id,
    oauth_client_id,
    credential_id: await insertCredential(test, 'acme', oauth_client_id),
    flow_id: await makeSignIn(test, scoped, oauth_client_id),
    oauth_test_id: await makeOAuthTest(test, oauth_client_id),
    ...templates,
    ...pipeline,
    cause_retry_id: await makeCauseRetry(test, test, pipeline.connection_id),
  };
});
afterAll(() => test.stop());

const malformed = (token: string) => [
  '',
  'Bearer',
  'Bearer ',
  token,
  `Bearer${token}`,
  `Bearer  ${token}`,
  `Bearer\t${token}`,
  `Bearer ${token} x`,
  `Bearer ${token},${token}`,
  `Bearer "${token}"`,
  `Token ${token}`,
  `Basic ${Buffer.from(`operator:${token}`).toString('base64')}`,
];
const garbage = ['x', 'null', 'undefined', '..', 'inlay_op_', `inlay_op_${'0'.repeat(49)}`, 'a'.repeat(10_000)];

describe('The route table', () => {
  it('gives every route an access policy', () => {
    const { routes } = test.app.routeTable;
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes) expect(accessPolicies, `${route.method} ${route.url}`).toContain(route.access);
  });

  it('refuses a route without an access policy, or with an unknown policy', () => {
    const app = Fastify();
    keepRouteTable(app);
    const handler = async () => 'open to all';
    const missing = /GET \/forgotten does not say who may call it/;
    expect(() => app.route({ method: 'GET', url: '/forgotten', handler })).toThrow(missing);
    const config = { access: 'everyone' as 'public' };
    expect(() => app.route({ method: 'GET', url: '/forgotten', config, handler })).toThrow(missing);
  });

  it('leaves only these routes open to everyone', () => {
    const open = routesWith(test, 'public').filter(({ method }) => method !== 'HEAD');
    expect(open.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
      'DELETE /console/session',
      'GET /',
      'GET /.well-known/inlay/audit-checkpoints',
      'GET /.well-known/inlay/webhook-keys/:webhook_endpoint_id',
      'GET /.well-known/jwks.json',
      'GET /console',
      'GET /console/*',
      'GET /console/assets/:name',
      'GET /console/session',
      'GET /console/session/ways',
      'GET /docs',
      'GET /docs/:group',
      'GET /docs/icon.svg',
      'GET /docs/reference.js',
      'GET /docs/style.css',
      'GET /embed.d.ts',
      'GET /embed.js',
      'GET /embed.mjs',
      'GET /embed.tgz',
      'GET /health/live',
      'GET /health/ready',
      'GET /icons/:id/:edition',
      'GET /metrics',
      'GET /oauth/callback/:key',
      'GET /oauth/done/:flow_id',
      'GET /oauth/page.js',
      'GET /oauth/start/:handle',
      'GET /openapi.json',
      'GET /webhooks.mjs',
      'GET /webhooks.tgz',
      'GET /widget',
      'GET /widget/assets/:name',
      'GET /widget/preview',
      'POST /console/session',
      'POST /console/session/link',
      'POST /oauth/done/:flow_id',
      'POST /oauth/start/:handle',
      'POST /platform/v1/applications/token',
      'POST /platform/v1/workers/join',
    ]);
  });
});

describe('A route for operators', () => {
  it('refuses everything but a usable operator token with the same 401', async () => {
    const own = test.operatorToken;
    const wrong = [scoped, widget.whole, widget.inner, expired, revoked, ...garbage];
    for (const { method, url } of routesWith(test, 'operator')) {
      const path = fill(url, ids);
      const body = method === 'POST' || method === 'PUT' ? { body: {} } : {};
      expectSame401(await test.request(method, path, { token: null, ...body }), method);
      for (const token of wrong) expectSame401(await test.request(method, path, { token, ...body }), method);
      for (const authorization of malformed(own)) {
        const answer = await test.request(method, path, { token: null, headers: { authorization }, ...body });
        expectSame401(answer, method);
      }
    }
  });

  it('takes the token from the Authorization header and from nowhere else', async () => {
    const token = test.operatorToken;
    for (const { method, url } of routesWith(test, 'operator')) {
      const path = fill(url, ids);
      const body = { access_token: token, token, authorization: `Bearer ${token}` };
      const carriesBody = method === 'POST' || method === 'PUT' ? { body } : {};
      const query = `${path}${path.includes('?') ? '&' : '?'}access_token=${token}&token=${token}&authorization=Bearer%20${token}`;
      expectSame401(await test.request(method, query, { token: null, ...carriesBody }), method);
      for (const name of ['cookie', 'proxy-authorization', 'x-authorization', 'x-api-key', 'x-access-token']) {
        const headers = {
          [name]: name === 'cookie' ? `token=${token}; Authorization=Bearer ${token}` : `Bearer ${token}`,
        };
        expectSame401(await test.request(method, path, { token: null, headers, ...carriesBody }), method);
      }
    }
  });

  it('gives a read-only token every GET, and 403 on everything else before looking at the request', async () => {
    for (const { method, url } of routesWith(test, 'operator')) {
      const answer = await test.request(method, fill(url, ids), { token: readOnly });
      if (method === 'GET' || method === 'HEAD') expect(answer.status, `${method} ${url}`).toBe(200);
      else
        expect([answer.status, answer.text], `${method} ${url}`).toEqual([
          403,
          '{"detail":"Access denied to this resource"}',
        ]);
    }
  });

  it("gives an operator's token everything but secrets of the organization and evidence of what it did", async () => {
    const administration: string[] = [];
    for (const { method, url, isAdministration } of routesWith(test, 'operator')) {
      const reads = method === 'GET' || method === 'HEAD';
      const answer = await test.request(method, fill(url, reads ? ids : {}), { token: operating });
      if (isAdministration) {
        administration.push(`${method} ${url}`);
        expect(answer.status, `${method} ${url}`).toBe(403);
      } else if (reads) expect(answer.status, `${method} ${url}`).toBe(200);
      else expect([200, 201, 404, 422], `${method} ${url}`).toContain(answer.status);
    }
    expect(administration.sort()).toEqual([
      'DELETE /api/v1/console-sessions/:console_session_id',
      'DELETE /api/v1/integrations/oauth/clients/:oauth_client_id',
      'DELETE /api/v1/integrations/workers/:worker_id',
      'DELETE /api/v1/operator-tokens/:operator_token_id',
      'DELETE /api/v1/webhook-endpoints/:webhook_endpoint_id',
      'PATCH /api/v1/integrations/oauth/clients/:oauth_client_id',
      'PATCH /api/v1/webhook-endpoints/:webhook_endpoint_id',
      'POST /api/v1/audit-events/erase',
      'POST /api/v1/integrations/definitions/sources/:source_definition_id/confirm',
      'POST /api/v1/integrations/oauth/clients',
      'POST /api/v1/integrations/oauth/clients/:oauth_client_id/rotate-secret',
      'POST /api/v1/integrations/workers',
      'POST /api/v1/integrations/workers/:worker_id/drain',
      'POST /api/v1/operator-tokens',
      'POST /api/v1/operator-tokens/:operator_token_id/rotate',
      'POST /api/v1/webhook-endpoints',
      'POST /api/v1/webhook-endpoints/:webhook_endpoint_id/rotate-secret',
    ]);
  });

  it("accepts the token's own X-Organization-Id and answers 403 to any other", async () => {
    const other = await addTenant(test, 'other');
    for (const { method, url } of routesWith(test, 'operator')) {
      for (const id of [other.organizationId, unknownId, 'x', '', `${test.organizationId}, ${test.organizationId}`]) {
        const headers = { 'x-organization-id': id };
        const answer = await test.request(method, fill(url, ids), { headers });
        expect([answer.status, answer.headers['www-authenticate']], `${method} ${url} ${id}`).toEqual([403, undefined]);
      }
      if (method !== 'GET') continue;
      for (const id of [test.organizationId, test.organizationId.toUpperCase()]) {
        const answer = await test.request(method, fill(url, ids), { headers: { 'x-organization-id': id } });
        expect(answer.status).toBe(200);
      }
    }
  });

  it('sends browsers nothing that would let another origin call it', async () => {
    const origin = { origin: 'https://app.example', 'access-control-request-headers': 'authorization' };
    for (const { method, url } of routesWith(test, 'operator')) {
      const headers = { ...origin, 'access-control-request-method': method };
      const answers = [
        await test.request('OPTIONS', fill(url, ids), { token: null, headers }),
        await test.request('OPTIONS', fill(url, ids), { headers }),
        await test.request(method, fill(url, {}), { headers: origin }),
        await test.request(method, fill(url, {}), { token: null, headers: origin }),
      ];
      expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([405, 405]);
      for (const answer of answers) {
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    }
  });
});

/**
 * The statuses for an accepted token: a success, or, for a write without a body and a real id, the refusal of those.
 */
const acceptable = (method: string) => (method === 'GET' || method === 'HEAD' ? [200] : [404, 422]);

describe('A route for scoped tokens', () => {
  it('refuses operator tokens, whole widget tokens and garbage with the same 401', async () => {
    const routes = routesWith(test, 'scoped');
    expect(routes.length).toBeGreaterThanOrEqual(14);
    for (const { method, url: pattern } of routes) {
      const url = fill(pattern, ids);
      for (const token of [null, test.operatorToken, readOnly, revoked, widget.whole, ...garbage]) {
        expectSame401(await test.request(method, url, { token }), method);
      }
      for (const authorization of malformed(scoped)) {
        expectSame401(await test.request(method, url, { token: null, headers: { authorization } }), method);
      }
      const query = `${url}?token=${scoped}&access_token=${scoped}`;
      expectSame401(await test.request(method, query, { token: null, headers: { cookie: `token=${scoped}` } }), method);
      const answer = await test.request(method, acceptable(method).includes(200) ? url : fill(pattern, {}), {
        token: scoped,
      });
      expect(acceptable(method), `${method} ${url}`).toContain(answer.status);
    }
  });

  it('may be called from any page, but never with credentials', async () => {
    for (const { method, url: pattern } of routesWith(test, 'scoped')) {
      const url = fill(pattern, ids);
      const headers = { origin: 'https://anywhere.example', 'access-control-request-method': method };
      const preflight = await test.request('OPTIONS', url, { token: null, headers });
      const answer = await test.request(method, acceptable(method).includes(200) ? url : fill(pattern, {}), {
        token: scoped,
        headers,
      });
      expect([preflight.status, preflight.text]).toEqual([204, '']);
      expect(acceptable(method), `${method} ${url}`).toContain(answer.status);
      for (const { headers } of [preflight, answer]) {
        expect(headers['access-control-allow-origin']).toBe('*');
        expect(headers['access-control-allow-credentials']).toBeUndefined();
      }
      expect(preflight.headers['access-control-allow-headers']).toBe(
        'authorization, content-type, prefer, idempotency-key, traceparent, tracestate',
      );
    }
  });
});

describe('Any route', () => {
  it('refuses two Authorization headers, even two good ones', async () => {
    await test.app.http.listen({ port: 0, host: '127.0.0.1' });
    const { port } = test.app.http.server.address() as AddressInfo;
    for (const [path, token] of [
      ['/api/v1/workspaces', test.operatorToken],
      [infoPath, scoped],
    ]) {
      for (const headers of [
        [`Bearer ${token}`, `Bearer ${token}`],
        [`Bearer ${token}`, 'Bearer x'],
        ['', `Bearer ${token}`],
      ]) {
        const lines = headers
          .map((value, index) => `${index ? 'authorization' : 'Authorization'}: ${value}\r\n`)
          .join('');
        const { status, head, body } = await exchange(
          port,
          `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`,
        );
        expect([status, body]).toEqual([401, '{"detail":"Invalid authentication credentials"}']);
        expect(head).toContain('www-authenticate: bearer');
      }
      const once = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      expect((await exchange(port, once)).status).toBe(200);
    }
  });

  it('keeps the two kinds of platform apart: a token of one opens nothing of the other', async () => {
    const { clientId, clientSecret } = platformCredentials(test);
    const body = { client_id: clientId, client_secret: clientSecret };
    const { access_token } = (await test.request('POST', '/platform/v1/applications/token', { token: null, body }))
      .body;
    for (const { method, url } of [...routesWith(test, 'operator'), ...routesWith(test, 'scoped')]) {
      expectSame401(await test.request(method, fill(url, ids), { token: access_token }), method);
    }
    const routes = routesWith(test, 'platform');
    expect(routes.length).toBeGreaterThan(10);
    for (const { method, url } of routes) {
      for (const token of [null, test.operatorToken, scoped, widget.inner, widget.whole]) {
        expect((await test.request(method, fill(url, ids), { token })).status, `${method} ${url}`).toBe(401);
      }
    }
  });
});
