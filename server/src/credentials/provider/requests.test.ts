/** What clients ask of providers, with a provider that answers as it likes. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { decodeJwt, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../kernel/config/config.ts';
import { openOAuthNetwork } from './network.ts';
import {
  CallbackRefused,
  clientCredentials,
  exchangeCode,
  jwtBearer,
  newVerifier,
  type OpenClient,
  refreshTokens,
  signInAddress,
} from './requests.ts';

interface Asked {
  headers: IncomingMessage['headers'];
  body: string;
}
let provider: Server;
let base: string;
let asked: Asked[];
let answer: (response: ServerResponse, request: Asked) => void;
const network = openOAuthNetwork(readConfig({ INLAY_ALLOW_PRIVATE_NETWORKS: 'true' }).config);

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const one = { headers: request.headers, body: await text(request) };
    asked.push(one);
    answer(response, one);
  });
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
  base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
  answer = (response) => sendJson(response, 200, { access_token: 'access', refresh_token: 'next', expires_in: 60 });
});
afterAll(async () => {
  await network.close();
  provider.close();
  provider.closeAllConnections();
});

function sendJson(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function clientWith(described: Partial<OAuthProvider> = {}, more: Partial<OpenClient> = {}): OpenClient {
  return {
    clientId: 'app',
    secrets: ['very secret'],
    provider: { authorization_url: `${base}/authorize`, token_url: `${base}/token`, ...described },
    issuer: null,
    authorizationParams: {},
    tokenParams: {},
    values: {},
    ...more,
  };
}

const signIn = { redirectUrl: 'https://inlay.example/oauth/callback/key', state: 'the state', verifier: newVerifier() };
const callback = (params: Record<string, string> = {}) =>
  new URLSearchParams({ code: 'the code', state: signIn.state, ...params });
const bodyOf = (index = 0) => Object.fromEntries(new URLSearchParams(asked[index]?.body));

describe('the address where a customer signs in', () => {
  it('has what the provider wants, and nobody replaces what protects the flow', async () => {
    const client = clientWith(
      {
        authorization_url: `${base}/authorize?fixed=1`,
        authorization_params: { prompt: 'consent', state: 'evil' },
        scope_separator: ',',
      },
      {
        authorizationParams: { prompt: 'login', redirect_uri: 'https://evil.example', code_challenge_method: 'plain' },
      },
    );
    const url = new URL(await signInAddress(client, { ...signIn, scopes: ['a', 'b'] }));
    expect(Object.fromEntries(url.searchParams)).toEqual({
      fixed: '1',
      prompt: 'login',
      scope: 'a,b',
      response_type: 'code',
      client_id: 'app',
      redirect_uri: signIn.redirectUrl,
      state: signIn.state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const without = new URL(
      await signInAddress(clientWith({ scope_parameter: 'user_scope' }), {
        ...signIn,
        verifier: undefined,
        scopes: ['x'],
      }),
    );
    expect(without.searchParams.get('user_scope')).toBe('x');
    expect(without.searchParams.has('code_challenge')).toBe(false);
  });
});

describe('a code', () => {
  it('is exchanged with the verifier, as the provider wants it', async () => {
    const client = clientWith({ token_params: { audience: 'x' } }, { tokenParams: { audience: 'y' } });
    expect(await exchangeCode(network, client, callback(), signIn)).toMatchObject({
      kind: 'tokens',
      accessToken: 'access',
      refreshToken: 'next',
      expiresInSeconds: 60,
      scopes: undefined,
    });
    expect(bodyOf()).toEqual({
      grant_type: 'authorization_code',
      code: 'the code',
      redirect_uri: signIn.redirectUrl,
      code_verifier: signIn.verifier,
      client_id: 'app',
      client_secret: 'very secret',
      audience: 'y',
    });
  });

  it('is sent as JSON, or with the secret in a header, where the provider wants that', async () => {
    const client = clientWith({ token_body: 'json', client_authentication: 'basic', pkce: false });
    await exchangeCode(network, client, callback(), { ...signIn, verifier: undefined });
    const [{ headers, body } = { headers: {}, body: '' }] = asked;
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({
      grant_type: 'authorization_code',
      code: 'the code',
      redirect_uri: signIn.redirectUrl,
    });
    expect(headers.authorization).toBe(`Basic ${Buffer.from('app:very+secret').toString('base64')}`);
  });

  it('is sent with a signed assertion in place of a secret', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const secret = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'k' });
    const client = clientWith({ client_authentication: 'private_key_jwt' }, { secrets: [secret] });
    expect(await exchangeCode(network, client, callback(), signIn)).toMatchObject({ kind: 'tokens' });
    expect(decodeJwt(bodyOf().client_assertion ?? '')).toMatchObject({ iss: 'app', sub: 'app' });
    expect(asked[0]?.body).not.toContain(privateKey.export({ format: 'jwk' }).d);
  });

  it('with an ID token that is not valid is refused; a refresh, which needs none, keeps its tokens', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const issuer = 'https://login.example';
    const idToken = (claims: object) =>
      new SignJWT({ iss: issuer, sub: 'ada', aud: 'app', nonce: 'the nonce', ...claims })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey);
    const exchange = () =>
      exchangeCode(network, clientWith({}, { issuer }), callback(), { ...signIn, nonce: 'the nonce' });
    const answers = (id_token: unknown) => {
      answer = (response) => sendJson(response, 200, { access_token: 'access', id_token });
    };
    answers(await idToken({}));
    expect(await exchange()).toMatchObject({ kind: 'tokens', accessToken: 'access' });
    for (const odd of [await idToken({ nonce: 'another' }), await idToken({ aud: 'other' }), 'x.y.z', {}, undefined]) {
      answers(odd);
      expect(await exchange()).toMatchObject({ kind: 'refused', code: 'invalid_id_token' });
      expect(await refreshTokens(network, clientWith({}, { issuer }), 'r')).toMatchObject({ kind: 'tokens' });
    }
  });

  it.each<[string, Record<string, string>, string, Partial<OpenClient>, boolean]>([
    ['of another flow', { state: 'another' }, 'invalid_callback', {}, false],
    [
      'of another issuer',
      { iss: 'https://evil.example' },
      'invalid_callback',
      { issuer: 'https://login.example' },
      true,
    ],
    ['without the issuer that was promised', {}, 'invalid_callback', { issuer: 'https://login.example' }, true],
    ['in place of which the customer said no', { error: 'access_denied' }, 'access_denied', {}, false],
  ])('%s is not sent', async (_name, params, code, more, checks_issuer) => {
    const client = clientWith({ checks_issuer }, more);
    const refusal = await exchangeCode(network, client, callback(params), signIn).catch((error) => error);
    expect(refusal).toBeInstanceOf(CallbackRefused);
    expect(refusal.code).toBe(code);
    expect(asked).toEqual([]);
  });
});

describe('a refresh token', () => {
  const refresh = (client = clientWith()) => refreshTokens(network, client, 'the refresh token');

  it('brings tokens, and keeps what the provider does not say unsaid', async () => {
    expect(await refresh()).toMatchObject({ kind: 'tokens', refreshToken: 'next' });
    expect(bodyOf()).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'the refresh token' });
    answer = (response) => sendJson(response, 201, { access_token: 'access', scope: 'a b' });
    expect(await refresh(clientWith({ refresh_url: `${base}/elsewhere` }))).toMatchObject({
      kind: 'tokens',
      refreshToken: undefined,
      expiresInSeconds: undefined,
      scopes: ['a', 'b'],
    });
  });

  it.each<[string, typeof answer, object]>([
    [
      'that is refused',
      (response) => sendJson(response, 400, { error: 'invalid_grant' }),
      { kind: 'refused', code: 'invalid_grant' },
    ],
    [
      'that is refused with status 200',
      (response) => sendJson(response, 200, { error: 'bad_refresh_token' }),
      { kind: 'refused', code: 'invalid_grant' },
    ],
    [
      'at a provider that is overloaded',
      (response) => sendJson(response, 429, { error: 'slow_down' }),
      { kind: 'unavailable', status: 429 },
    ],
    [
      'at a provider that fails',
      (response) => sendJson(response, 500, { error: 'server_error' }),
      { kind: 'unavailable', status: 500 },
    ],
    [
      'at a provider that asks for patience in seconds',
      (response) => response.writeHead(503, { 'retry-after': '120' }).end(),
      { kind: 'unavailable', retryAfterMs: 120_000 },
    ],
    [
      'at a provider that asks for patience with a date, by a clock of its own',
      (response) =>
        response
          .writeHead(503, { date: 'Wed, 01 Jan 2020 00:00:00 GMT', 'retry-after': 'Wed, 01 Jan 2020 00:01:00 GMT' })
          .end(),
      { kind: 'unavailable', retryAfterMs: 60_000 },
    ],
    [
      'at a provider that asks for patience in words',
      (response) => response.writeHead(503, { 'retry-after': 'soon' }).end(),
      { kind: 'unavailable', retryAfterMs: undefined },
    ],
    ['whose answer is a page', (response) => response.writeHead(200).end('<html>'), { kind: 'unavailable' }],
    ['whose answer is lost', (response) => response.destroy(), { kind: 'lost' }],
    [
      'whose answer is cut off',
      (response) => response.writeHead(200, { 'content-length': '100' }).write('{"acc', () => response.destroy()),
      { kind: 'lost' },
    ],
    [
      'at a provider that fails and whose answer is cut off',
      (response) => response.writeHead(502, { 'content-length': '100' }).write('<htm', () => response.destroy()),
      { kind: 'unavailable', status: 502 },
    ],
    [
      'whose answer has no end',
      (response) => response.writeHead(200).end('x'.repeat(2_000_000)),
      { kind: 'unavailable' },
    ],
    [
      'at a provider that fails without end',
      (response) => response.writeHead(500).end('x'.repeat(2_000_000)),
      { kind: 'unavailable', status: 500 },
    ],
    [
      'that is sent elsewhere by a redirect',
      (response) => response.writeHead(307, { location: '/stolen' }).end(),
      { kind: 'unavailable' },
    ],
  ])('%s', async (_name, given, expected) => {
    answer = given;
    const grant = await refresh();
    expect(grant).toMatchObject(expected);
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(grant)).not.toMatch(/very secret|the refresh token/);
  });

  it('is not sent where nobody listens, nor to an address that may not be reached', async () => {
    const unheard = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => unheard.once('listening', listening));
    const { port } = unheard.address() as AddressInfo;
    await new Promise((closed) => unheard.close(closed));
    expect(await refresh(clientWith({ token_url: `http://127.0.0.1:${port}/token` }))).toMatchObject({
      kind: 'not_sent',
    });
    // The handshake breaks before the request is written.
    const secure = `${base.replace('http:', 'https:')}/token`;
    expect(await refresh(clientWith({ token_url: secure }))).toMatchObject({ kind: 'not_sent', isUnreachable: true });
    const signing = clientWith({ client_authentication: 'private_key_jwt' });
    const unsigned = await refresh(signing);
    expect(unsigned).toMatchObject({ kind: 'not_sent', isUnreachable: false });
    expect(JSON.stringify(unsigned)).not.toContain('very');
    const guarded = openOAuthNetwork(readConfig({ INLAY_ALLOW_PRIVATE_NETWORKS: 'false' }).config);
    const grant = await refreshTokens(guarded, clientWith(), 'the refresh token').finally(() => guarded.close());
    expect(grant).toMatchObject({ kind: 'not_sent' });
    expect(asked).toEqual([]);
  });

  it('ends where the provider answers never, or not to the end', async () => {
    const impatient = openOAuthNetwork(readConfig({ INLAY_ALLOW_PRIVATE_NETWORKS: 'true' }).config, { timeoutMs: 500 });
    const begins = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{ "access_token": ');
    };
    for (const slow of [() => {}, begins]) {
      // A server of its own: on a busy machine, a request may still come when its sender has given up.
      const provider = createServer((_, response) => slow(response)).listen(0, '127.0.0.1');
      await once(provider, 'listening');
      const client = clientWith({ token_url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/token` });
      expect(await refreshTokens(impatient, client, 'the refresh token')).toMatchObject({ kind: 'lost' });
      provider.close();
      provider.closeAllConnections();
    }
    await impatient.close();
  });

  it('goes with the secret of before where the provider does not know the new one yet', async () => {
    answer = (response, { body }) =>
      body.includes('old')
        ? sendJson(response, 200, { access_token: 'access' })
        : sendJson(response, 401, { error: 'invalid_client' });
    expect(await refresh(clientWith({}, { secrets: ['new', 'old'] }))).toMatchObject({ kind: 'tokens' });
    expect(await refresh(clientWith({}, { secrets: ['new'] }))).toMatchObject({
      kind: 'refused',
      code: 'invalid_client',
    });
    expect(asked).toHaveLength(3);
  });
});

it('a client has tokens of its own by an assertion that it signs, and does not authenticate besides', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const secret = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'k' });
  const provider = { client_authentication: 'private_key_jwt', assertion: { subject: 'admin@example.com' } } as const;
  const now = Date.UTC(2026, 0, 1);
  const client = clientWith(provider, { secrets: [secret] });
  expect(await jwtBearer(network, client, ['a'], now)).toMatchObject({ kind: 'tokens', accessToken: 'access' });
  const { assertion = '', ...others } = bodyOf();
  expect(others).toEqual({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: 'a', client_id: 'app' });
  const { payload, protectedHeader } = await jwtVerify(assertion, publicKey, { currentDate: new Date(now) });
  expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k' });
  expect(payload).toMatchObject({ iss: 'app', sub: 'admin@example.com', aud: client.provider.token_url, scope: 'a' });
});

it('a client has tokens of its own', async () => {
  const client = clientWith({ token_params: { audience: 'x' } });
  expect(await clientCredentials(network, client, ['a', 'b'])).toMatchObject({ kind: 'tokens', accessToken: 'access' });
  expect(bodyOf()).toEqual({
    grant_type: 'client_credentials',
    scope: 'a b',
    audience: 'x',
    client_id: 'app',
    client_secret: 'very secret',
  });
});
