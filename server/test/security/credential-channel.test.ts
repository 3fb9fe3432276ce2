/** The channel by which a platform of its own gets tokens: who can ask, what a response reveals, and what an eavesdropper can do. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { channelPath, createAsker, type Question, type Reply } from '../../src/credentials/tokens/channel-envelope.ts';
import { recordCredential } from '../../src/credentials/tokens/credentials.ts';
import type { PlatformAnswer } from '../../src/kernel/platform/transport.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { replicaOf } from '../support/credentials.ts';
import { makeClient } from '../support/providers.ts';
import { addTenant, expectSame401, routesWith, sealerOf, widgetToken } from './support.ts';

const application = { clientId: 'the client', clientSecret: 'a-secret-between-the-platform-and-the-service' };
const ours: PlatformAnswer = { status: 200, headers: {}, text: '{"areResolved":true,"outage":null}' };
const workspaces: string[] = [];
let kind: PlatformAnswer = ours;
let test: TestApp;
let place: { workspaceId: string; credentialId: string };
let elsewhere: { workspaceId: string; credentialId: string };
let logged = '';

/** A platform that identifies itself, has every workspace, and does nothing else. */
function answer(path: string, method: string): PlatformAnswer {
  if (path.startsWith('/credentials')) return kind;
  if (path.startsWith('/applications/token')) return { status: 200, headers: {}, text: '{"access_token":"x.y.z"}' };
  if (method === 'POST' && path === '/workspaces') {
    const workspaceId = randomUUID();
    workspaces.push(workspaceId);
    return { status: 200, headers: {}, text: JSON.stringify({ workspaceId, name: 'w', dataResidency: 'auto' }) };
  }
  return { status: 200, headers: {}, text: '{"data":[]}' };
}

const stream = new PassThrough();
stream.on('data', (chunk) => {
  logged += chunk;
});

function start(): Promise<TestApp> {
  return startTestApp('sqlite', {
    env: {
      INLAY_PLATFORM_URL: 'http://127.0.0.1:9/v1',
      INLAY_PLATFORM_CLIENT_ID: application.clientId,
      INLAY_PLATFORM_CLIENT_SECRET: application.clientSecret,
    },
    overrides: {
      log: pino({ level: 'trace' }, stream),
      wrapTransport: () => ({ send: async ({ path, method }) => answer(path, method), close: async () => {} }),
    },
  });
}

beforeAll(async () => {
  test = await start();
  const ctx = { ...replicaOf(test.app.store, { sealer: sealerOf(test), network: {} as never }) };
  const signIn = async (organizationId: string, workspaceId: string, oauthClientId: string) => {
    const row = await test.app.store.transaction((tx) =>
      recordCredential(ctx, tx, {
        ...{ organizationId, workspaceId, oauthClientId, sourceTemplateId: randomUUID() },
        ...{ grant: 'authorization_code', accessToken: 'the-access-token', refreshToken: 'the-refresh-token' },
        ...{ expiresInSeconds: 3_600, scopes: [], values: {}, taken: {}, accountId: null, accountLabel: null },
      }),
    );
    return { workspaceId, credentialId: row.id };
  };
  const endpoints = { authorization_url: 'https://a.example/authorize', token_url: 'https://a.example/token' };
  const client = await makeClient(test, endpoints);
  place = await signIn(test.organizationId, await test.workspaceId('acme'), client.id);
  const other = await addTenant(test, 'other');
  const token = (await other.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: 'globex' } }))
    .body;
  const { sub } = JSON.parse(Buffer.from(token.token.split('.')[1], 'base64url').toString());
  elsewhere = await signIn(other.organizationId, sub, (await makeClient(other, endpoints)).id);
});
afterAll(() => test.stop());

const seal = createAsker(application, systemRuntime);
const post = (token: string | null, body: string) =>
  test.request('POST', channelPath, { token, payload: body, headers: { 'content-type': 'application/json' } });
const tokenOf = ({ authorization }: { authorization: string }) => authorization.replace('Bearer ', '');

async function ask(question: Question): Promise<Reply | undefined> {
  const sealed = seal(question);
  const reply = await post(tokenOf(sealed), sealed.body);
  expect(reply.status, reply.text).toBe(200);
  expect(reply.text).not.toContain('token');
  return sealed.read(reply.text);
}

it('gives the platform the access token of a credential, and never its refresh token', async () => {
  expect(await ask({ about: 'access', ...place })).toMatchObject({
    ...{ kind: 'access', generation: 1, expiresAt: expect.any(Number) },
    values: { access_token: 'the-access-token', expires_at: expect.any(String) },
  });
  expect(JSON.stringify(await ask({ about: 'access', ...place }))).not.toContain('the-refresh-token');
  expect(await ask({ about: 'reach' })).toEqual({ kind: 'reached' });
});

it('knows a credential only in its own workspace, and only while that is there', async () => {
  const gone = { kind: 'attention', whose: 'customer' };
  expect(await ask({ about: 'access', ...elsewhere })).toMatchObject({ kind: 'access' });
  expect(await ask({ about: 'access', ...place, workspaceId: elsewhere.workspaceId })).toEqual(gone);
  expect(await ask({ about: 'access', ...place, credentialId: elsewhere.credentialId })).toEqual(gone);
  expect(await ask({ about: 'access', ...place, credentialId: randomUUID() })).toEqual(gone);
  const handed = { about: 'hand_back', generation: 1, refreshToken: 'theirs' } as const;
  expect(await ask({ ...handed, ...place, workspaceId: elsewhere.workspaceId })).toEqual(gone);
  // Its connector gets no refresh token, so whatever it says of one counts nothing.
  expect(await ask({ ...handed, ...place })).toEqual({ kind: 'handed_back', generation: null });
  const { db } = test.app.store;
  const live = (lifecycle: 'live' | 'deleting') =>
    db.updateTable('workspaces').set({ lifecycle }).where('id', '=', elsewhere.workspaceId).execute();
  await live('deleting');
  expect(await ask({ about: 'access', ...elsewhere })).toEqual(gone);
  await live('live');
});

it('answers everybody else with the same 401', async () => {
  const { token } = (await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'one' } })).body;
  const widget = await widgetToken(test, {});
  const question: Question = { about: 'access', ...place };
  const wrong = [
    ...[null, '', 'x', token, test.operatorToken, await test.scopedToken('acme'), widget.whole, widget.inner, 'x.y.z'],
    application.clientSecret,
    ...[
      { ...application, clientSecret: 'another-secret-that-nobody-has-been-told' },
      { ...application, clientId: 'another client' },
    ].map((other) => tokenOf(createAsker(other, systemRuntime)(question))),
    ...[-301_000, 301_000].map((ms) =>
      tokenOf(createAsker(application, { ...systemRuntime, now: () => Date.now() + ms })(question)),
    ),
  ];
  for (const one of wrong) expectSame401(await post(one, seal(question).body), 'POST');
  // A header of one question with the body of another, with none, or with a damaged one.
  const { body } = seal(question);
  for (const other of [body, '{}', '{"sealed":7}', 'null', '[]', '{', '']) {
    expectSame401(await post(tokenOf(seal(question)), other), 'POST');
  }
  // The answer, or the body, in the place of the header.
  const good = seal(question);
  const reply = await post(tokenOf(good), good.body);
  expectSame401(await post(reply.body.sealed, good.body), 'POST');
  expectSame401(await post(JSON.parse(good.body).sealed, good.body), 'POST');
});

it('takes a question once, and an answer can be read only by who asked', async () => {
  const first = seal({ about: 'access', ...place });
  const second = seal({ about: 'access', ...place });
  const reply = await post(tokenOf(first), first.body);
  expect(first.read(reply.text)).toMatchObject({ kind: 'access' });
  expect(second.read(reply.text)).toBeUndefined();
  expect(createAsker({ ...application, clientSecret: 'x' }, systemRuntime)({ about: 'reach' }).read(reply.text)).toBe(
    undefined,
  );
  expectSame401(await post(tokenOf(first), first.body), 'POST');
});

it('is not there for a hosted platform, although it has the same secret, nor where the platform is in the process', async () => {
  kind = { status: 404, headers: {}, text: '{}' };
  const hosted = await start();
  const bundled = await startTestApp('sqlite');
  try {
    const sealed = seal({ about: 'access', ...place });
    const asked = { token: tokenOf(sealed), payload: sealed.body, headers: { 'content-type': 'application/json' } };
    expectSame401(await hosted.request('POST', channelPath, asked), 'POST');
    kind = { status: 503, headers: {}, text: '' };
    const again = { ...asked, token: tokenOf(seal({ about: 'reach' })) };
    expect((await hosted.request('POST', channelPath, again)).status).toBe(503);
    expect((await bundled.request('POST', channelPath, asked)).status).toBe(404);
    expect(routesWith(bundled, 'channel')).toEqual([]);
  } finally {
    kind = ours;
    await hosted.stop();
    await bundled.stop();
  }
});

it('is no part of the public API, is closed to browsers, and writes no token into the log', async () => {
  expect(routesWith(test, 'channel').map(({ method, url }) => `${method} ${url}`)).toEqual([`POST ${channelPath}`]);
  expect((await test.request('GET', '/openapi.json', { token: null })).text).not.toContain(channelPath);
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  const preflight = await test.request('OPTIONS', channelPath, { token: null, headers });
  expect(preflight.status).toBe(405);
  const sealed = seal({ about: 'access', ...place });
  const reply = await test.request('POST', channelPath, { token: tokenOf(sealed), payload: sealed.body, headers });
  expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(logged).toContain(channelPath);
  expect(logged).not.toMatch(/the-(access|refresh)-token/);
  expect(logged).not.toContain(tokenOf(sealed));
  expect(workspaces.length).toBeGreaterThan(0);
});
