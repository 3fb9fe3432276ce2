/** Signing in to the console with a real OpenID provider, as a browser does it; and what attackers try. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examine } from '../../src/edge/deployment/doctor.ts';
import { startTestApp, type TestApp } from '../support/app.ts';

let test: TestApp;
let server: Server;
let issuer: string;
let handle: RequestListener = (_request, response) => response.writeHead(404).end();
const callback = 'http://localhost:8080/console/oidc/callback';
const own = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin', host: 'localhost:8080' };

beforeAll(async () => {
  server = createServer((request, response) => handle(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  handle = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: 'a secret of the test',
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    scopes: ['openid', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({
        sub: id,
        email: id === 'odd' ? 'o\u0000d\u202ed@example.com' : `${id}@example.com`,
        email_verified: true,
        groups: id === 'ada' ? ['staff', 'admins'] : ['bob', 'odd'].includes(id) ? ['support'] : [],
      }),
    }),
    cookies: { keys: ['of a test'] },
  }).callback();
  test = await startTestApp('sqlite', {
    env: {
      INLAY_CONSOLE_OIDC_ISSUER: issuer,
      INLAY_CONSOLE_OIDC_CLIENT_ID: 'console',
      INLAY_CONSOLE_OIDC_CLIENT_SECRET: 'a secret of the test',
      INLAY_CONSOLE_OIDC_SCOPES: 'openid email groups',
      INLAY_CONSOLE_OIDC_RULES: JSON.stringify([
        { claim: 'groups', value: 'admins', permission: 'full' },
        { claim: 'groups', value: 'support', permission: 'read' },
      ]),
    },
  });
});
afterAll(async () => {
  await test?.stop();
  server?.close();
  server?.closeAllConnections();
});

const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  test.request(method, path, { token: null, headers });
const firstOf = (cookies: unknown) => String([cookies].flat()[0]).split(';')[0] ?? '';

async function start(): Promise<{ url: string; cookie: string }> {
  const answer = await send('POST', '/console/oidc', own);
  expect(answer.status, answer.text).toBe(200);
  expect(String(answer.headers['set-cookie'])).toMatch(/^inlay_console_oidc=[\w-]{43};.*HttpOnly; SameSite=Lax$/);
  return { url: answer.body.url, cookie: firstOf(answer.headers['set-cookie']) };
}

/** Goes through the pages of the provider, and gives the address that it sends the browser back to. */
async function signInAs(name: string, url: string): Promise<URL> {
  const jar = new Map<string, string>();
  let address = new URL(url);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step++) {
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([key, value]) => `${key}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(key, value);
    }
    form = undefined;
    const location = answer.headers.get('location');
    if (location !== null) {
      address = new URL(location, address);
      if (address.href.startsWith(callback)) return address;
      continue;
    }
    const page = await answer.text();
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    if (action === undefined || prompt === undefined) throw new Error(`an odd page of the provider: ${page}`);
    address = new URL(action, address);
    form = new URLSearchParams({ prompt, login: name, password: 'any' });
  }
  throw new Error('the provider did not send the browser back');
}

const comeBack = (address: URL, cookie?: string) =>
  send('GET', `/console/oidc/callback${address.search}`, { host: 'localhost:8080', ...(cookie && { cookie }) });

it('A name that no database can hold is stored as far as it can be read', async () => {
  const { url, cookie } = await start();
  const answer = await comeBack(await signInAs('odd', url), cookie);
  expect(answer.status, answer.text).toBe(303);
  const { body } = await send('GET', '/console/session', { cookie: firstOf(answer.headers['set-cookie']) });
  expect(body).toMatchObject({ kind: 'oidc', label: 'o d d@example.com' });
});

it('A rule gives the session its role; identity is issuer and subject, and nothing of the provider is kept', async () => {
  expect((await send('GET', '/console/session/ways')).body.oidc).toBe(true);
  const { url, cookie } = await start();
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: callback,
  });
  const before = Date.now();
  const answer = await comeBack(await signInAs('ada', url), cookie);
  const after = Date.now();
  expect([answer.status, answer.headers.location], answer.text).toEqual([303, 'http://localhost:8080/console']);
  expect(String(answer.headers['set-cookie'])).toContain('SameSite=Strict');
  const session = firstOf(answer.headers['set-cookie']);
  const { body } = await send('GET', '/console/session', { cookie: session });
  expect(body).toMatchObject({ kind: 'oidc', permission: 'full', label: 'ada@example.com' });
  const row = await test.app.store.db
    .selectFrom('console_sessions')
    .selectAll()
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject({ issuer, subject: 'ada' });
  expect(row.ends_at).toBeGreaterThanOrEqual(before + 12 * 3_600_000);
  expect(row.ends_at).toBeLessThanOrEqual(after + 12 * 3_600_000);
  expect((await send('GET', '/console/api/v1/workspaces', { cookie: session })).status).toBe(200);
});

it('A viewer by rule writes nothing, and an account without a rule is refused with words', async () => {
  const bob = await start();
  const answer = await comeBack(await signInAs('bob', bob.url), bob.cookie);
  const session = firstOf(answer.headers['set-cookie']);
  expect((await send('GET', '/console/session', { cookie: session })).body.permission).toBe('read');
  expect((await send('POST', '/console/api/v1/workspaces/sync', { ...own, cookie: session })).status).toBe(403);

  const eve = await start();
  const refused = await comeBack(await signInAs('eve', eve.url), eve.cookie);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('has no access');
  expect(String(refused.headers['set-cookie'])).not.toContain('inlay_console=');
});

it('An answer of the provider counts once, and only in the browser that asked', async () => {
  const mine = await start();
  const other = await start();
  const address = await signInAs('ada', mine.url);
  const changed = new URL(address);
  changed.searchParams.set('state', 'A'.repeat(43));
  for (const answer of [
    await comeBack(address),
    await comeBack(address, other.cookie),
    await comeBack(address, `${mine.cookie}; ${mine.cookie}`),
    await comeBack(changed, mine.cookie),
  ]) {
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('started in another browser');
  }
  expect((await comeBack(address, mine.cookie)).status).toBe(303);
  expect((await comeBack(address, mine.cookie)).status).toBe(403);
});

it('A code of another sign-in is refused: its verifier and nonce are of another browser', async () => {
  const mine = await start();
  const other = await start();
  const mixed = await signInAs('ada', mine.url);
  const stolen = await signInAs('ada', other.url);
  mixed.searchParams.set('code', stolen.searchParams.get('code') ?? '');
  const answer = await comeBack(mixed, mine.cookie);
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('an invalid response')]);
});

it('Another page cannot begin a sign-in, and doctor says whether the provider answers', async () => {
  const foreign = await send('POST', '/console/oidc', { ...own, 'sec-fetch-site': 'cross-site' });
  expect([foreign.status, foreign.headers['x-inlay-error']]).toEqual([403, 'console_origin']);
  const findings = await examine(test.env);
  expect(findings).toContainEqual({ state: 'ok', what: expect.stringContaining(`sign-in with ${issuer}`) });
  const away = await examine({ ...test.env, INLAY_CONSOLE_OIDC_ISSUER: `${issuer}/away` });
  expect(away.find(({ what }) => what.includes('/away'))?.state).toBe('fail');
});
