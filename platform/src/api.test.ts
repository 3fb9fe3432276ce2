import Fastify from 'fastify';
import { SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { credentials, startPlatform } from '../test/start-platform.ts';
import { platformApi } from './api.ts';

const errorIdOnly = { errorId: expect.stringMatching(/^[0-9a-f-]{36}$/) };
const tokenUrl = '/platform/v1/applications/token';
const goodBody = { client_id: credentials.clientId, client_secret: credentials.clientSecret };

describe('POST /applications/token', () => {
  test('gives a bearer token that opens the other routes', async () => {
    const { inject } = await startPlatform();
    const { status, body } = await inject({ method: 'POST', url: tokenUrl, payload: goodBody });
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
    const headers = { authorization: `bearer ${body.access_token}` };
    expect((await inject({ url: '/platform/v1/workspaces', headers })).status).toBe(200);
  });

  test.each(['grant-type', 'grant_type'])('takes the grant type under the name %s', async (member) => {
    const { inject } = await startPlatform();
    const payload = { ...goodBody, [member]: 'client_credentials' };
    expect((await inject({ method: 'POST', url: tokenUrl, payload })).status).toBe(200);
  });

  test.each(['grant-type', 'grant_type'])('takes a form as well, with %s', async (member) => {
    const { inject } = await startPlatform({ accessTokenTtlSeconds: 60 });
    const payload = new URLSearchParams({ ...goodBody, [member]: 'client_credentials' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, body } = await inject({ method: 'POST', url: tokenUrl, headers, payload });
    expect(status).toBe(200);
    expect(body.expires_in).toBe(60);
  });

  test.each([
    ['a wrong secret', { ...goodBody, client_secret: 'guess' }],
    ['a wrong client', { ...goodBody, client_id: 'someone' }],
  ])('answers 401 with only an errorId to %s', async (_case, payload) => {
    const { inject } = await startPlatform();
    expect(await inject({ method: 'POST', url: tokenUrl, payload })).toEqual({ status: 401, body: errorIdOnly });
  });

  test.each([
    ['no secret', { client_id: 'x' }],
    ['an empty secret', { client_id: 'x', client_secret: '' }],
    ['a secret that is no text', { client_id: 'x', client_secret: 5 }],
  ])('answers 400 to %s', async (_case, payload) => {
    const { inject } = await startPlatform();
    expect(await inject({ method: 'POST', url: tokenUrl, payload })).toEqual({ status: 400, body: errorIdOnly });
  });
});

describe('access', () => {
  test('every route says who may call it, and only those that give out tokens are public', async () => {
    const { platform } = await startPlatform();
    const app = Fastify();
    const routes: { route: string; access: unknown }[] = [];
    app.addHook('onRoute', ({ method, url, config }) => {
      routes.push({ route: `${method} ${url}`, access: (config as { access?: unknown } | undefined)?.access });
    });
    await app.register(platformApi(platform));
    await app.ready();
    expect(routes.length).toBeGreaterThan(30);
    expect(routes.filter(({ access }) => access !== 'platform' && access !== 'public')).toEqual([]);
    expect(routes.filter(({ access }) => access === 'public').map(({ route }) => route)).toEqual([
      'POST /applications/token',
      'POST /workers/join',
    ]);
    await app.close();
  });

  const refused = {
    status: 401,
    body: { status: 401, type: expect.stringContaining('#invalid-api-key'), title: 'invalid-api-key', data: null },
  };

  test('needs a token, for unknown paths too', async () => {
    const { inject } = await startPlatform();
    expect(await inject({ url: '/platform/v1/workspaces' })).toMatchObject(refused);
    expect(await inject({ url: '/platform/v1/nothing-here' })).toMatchObject(refused);
  });

  test.each(['Bearer nonsense', 'Bearer ', 'Basic dGhlOnNlY3JldA==', 'Bearer a.b.c'])('refuses %j', async (header) => {
    const { inject } = await startPlatform();
    expect(await inject({ url: '/platform/v1/workspaces', headers: { authorization: header } })).toMatchObject(refused);
  });

  test('ends when the token expires', async () => {
    const { inject, clock } = await startPlatform();
    const { body } = await inject({ method: 'POST', url: tokenUrl, payload: goodBody });
    const list = () =>
      inject({ url: '/platform/v1/workspaces', headers: { authorization: `Bearer ${body.access_token}` } });
    clock.time += 899_000;
    expect((await list()).status).toBe(200);
    clock.time += 1_000;
    expect(await list()).toMatchObject(refused);
  });

  test('survives a restart, but not a change of the secret', async () => {
    const first = await startPlatform();
    const { token } = await first.platform.tokens.issue(credentials.clientId, credentials.clientSecret);
    await first.stop();
    const same = await startPlatform({ file: first.file });
    const headers = { authorization: `Bearer ${token}` };
    expect((await same.inject({ url: '/platform/v1/workspaces', headers })).status).toBe(200);
    await same.stop();
    const rotated = await startPlatform({ file: first.file, clientSecret: 'another secret' });
    expect(await rotated.inject({ url: '/platform/v1/workspaces', headers })).toMatchObject(refused);
  });

  test('is not given to a token signed with the secret itself, or not signed', async () => {
    const { inject } = await startPlatform();
    const claims = { iss: 'inlay-platform', aud: 'inlay-platform-api', sub: credentials.clientId, exp: 4_000_000_000 };
    const selfMade = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(credentials.clientSecret));
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${part({ alg: 'none' })}.${part(claims)}.`;
    for (const token of [selfMade, unsigned]) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await inject({ url: '/platform/v1/workspaces', headers })).toMatchObject(refused);
    }
  });
});

describe('failures', () => {
  const post = async (payload: string, contentType = 'application/json') => {
    const { platform, inject } = await startPlatform();
    const { token } = await platform.tokens.issue(credentials.clientId, credentials.clientSecret);
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
    return inject({ method: 'POST', url: '/platform/v1/workspaces', headers, payload });
  };

  test('malformed JSON is 422 with only an errorId', async () => {
    expect(await post('{"name":')).toEqual({ status: 422, body: errorIdOnly });
    expect(await post('')).toEqual({ status: 422, body: errorIdOnly });
  });

  test('a body that reaches for a prototype is 422', async () => {
    expect(await post('{"name":"x","__proto__":{"a":1}}')).toEqual({ status: 422, body: errorIdOnly });
  });

  test('a form is taken by no route but the token one', async () => {
    expect(await post('name=x', 'application/x-www-form-urlencoded')).toEqual({ status: 415, body: errorIdOnly });
  });

  test('a body past the limit is 413', async () => {
    expect(await post(JSON.stringify({ name: 'x'.repeat(2_000_000) }))).toEqual({ status: 413, body: errorIdOnly });
  });

  test('an unknown path is 404 with only an errorId', async () => {
    const { call } = await startPlatform();
    expect(await call('GET', '/nothing-here')).toEqual({ status: 404, body: errorIdOnly });
    expect(await call('PUT', '/workspaces')).toEqual({ status: 404, body: errorIdOnly });
  });

  test('an id that is no UUID is 400', async () => {
    const { call } = await startPlatform();
    expect(await call('GET', '/workspaces/1')).toEqual({ status: 400, body: errorIdOnly });
  });

  test('an internal failure is 500, reports nothing, and is logged under the errorId it shows', async () => {
    const { platform } = await startPlatform();
    const log: string[] = [];
    const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => log.push(line) } } });
    await app.register(platformApi(platform));
    onTestFinished(() => app.close());
    const { token } = await platform.tokens.issue(credentials.clientId, credentials.clientSecret);
    await platform.close();
    const reply = await app.inject({ url: '/workspaces', headers: { authorization: `Bearer ${token}` } });
    expect(reply.statusCode).toBe(500);
    expect(reply.json()).toEqual(errorIdOnly);
    expect(log.join()).toContain(reply.json().errorId);
  });
});

describe('inside a bigger app', () => {
  test('keeps its own validation, parsing, errors and not-found reply, and leaves those of the app alone', async () => {
    const { platform } = await startPlatform();
    const app = Fastify();
    onTestFinished(() => app.close());
    app.setErrorHandler(async (_error, _request, reply) => reply.code(418).send({ from: 'app' }));
    app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ from: 'app' }));
    app.setValidatorCompiler(() => () => ({ error: new Error('the app accepts nothing') }));
    app.setSchemaErrorFormatter(() => new Error('the app formats errors'));
    app.addContentTypeParser('application/json', async () => ({ from: 'app' }));
    await app.register(platformApi(platform), { prefix: '/platform/v1' });

    const issued = await app.inject({ method: 'POST', url: tokenUrl, payload: goodBody });
    expect(issued.statusCode).toBe(200);
    const headers = { authorization: `Bearer ${issued.json().access_token}` };
    const invalid = await app.inject({ url: '/platform/v1/workspaces?limit=0', headers });
    expect([invalid.statusCode, invalid.json()]).toEqual([400, errorIdOnly]);
    const unknown = await app.inject({ url: '/platform/v1/nothing-here', headers });
    expect([unknown.statusCode, unknown.json()]).toEqual([404, errorIdOnly]);
    expect((await app.inject('/nothing-here')).json()).toEqual({ from: 'app' });
  });
});
