import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';
import { startTestProvider } from './provider.mjs';

const app = { clientId: 'demo', clientSecret: 'the secret of the demo' };
const redirect_uri = 'http://localhost:1/oauth/callback/key';
let provider: Awaited<ReturnType<typeof startTestProvider>>;
let time = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  provider = await startTestProvider({ port: await freePort(), ...app, now: () => time });
});
afterAll(() => provider.close());

const post = async (path: string, form: Record<string, string>) =>
  await fetch(`${provider.url}${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
const tokenFor = async (form: Record<string, string>) => {
  const response = await post('/token', { client_id: app.clientId, client_secret: app.clientSecret, ...form });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
};
const get = async (path: string, token: string | undefined) => {
  const response = await fetch(`${provider.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.json() };
};

it('asks the customer, gives tokens for a code once, refreshes and ends them, and lets the account be read', async () => {
  const query = new URLSearchParams({
    ...{ client_id: app.clientId, response_type: 'code', redirect_uri, state: '"><b>', scope: 'invoices.read' },
    code_challenge: createHash('sha256').update('verifier').digest('base64url'),
  });
  const page = await (await fetch(`${provider.url}/authorize?${query}`)).text();
  expect(page).toContain('ada@kestrel.example');
  expect(page).not.toContain('"><b>');
  const denied = await post('/authorize', { redirect_uri, state: 's', denied: '1' });
  expect(denied.headers.get('location')).toContain('error=access_denied');

  const agreed = await post('/authorize', { ...Object.fromEntries(query), account: '1', granted: 'invoices.read' });
  const target = new URL(agreed.headers.get('location') ?? '');
  expect([target.searchParams.get('state'), target.searchParams.get('iss')]).toEqual(['"><b>', provider.url]);
  const code = target.searchParams.get('code') ?? '';
  const exchange = { grant_type: 'authorization_code', code, redirect_uri };
  expect((await tokenFor({ ...exchange, code_verifier: 'another' })).body.error).toBe('invalid_grant');
  const { body: tokens } = await tokenFor({ ...exchange, code_verifier: 'verifier' });
  expect((await tokenFor({ ...exchange, code_verifier: 'verifier' })).body.error).toBe('invalid_grant');
  expect((await tokenFor({ ...exchange, client_secret: 'wrong' })).status).toBe(401);

  expect((await get('/me', tokens.access_token)).body).toMatchObject({ id: '1', email: 'ada@kestrel.example' });
  expect((await get('/invoices?page=3', tokens.access_token)).body).toHaveLength(50);
  time += 61_000;
  expect((await get('/me', tokens.access_token)).status).toBe(401);
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
  const { body: fresh } = await tokenFor(refresh);
  expect((await get('/me', fresh.access_token)).status).toBe(200);
  await post('/revoke', { token: fresh.refresh_token ?? '' });
  expect((await get('/me', fresh.access_token)).status).toBe(401);
  expect((await tokenFor(refresh)).body.error).toBe('invalid_grant');
});
