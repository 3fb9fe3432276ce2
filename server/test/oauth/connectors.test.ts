/** The tokens of a customer who has signed in reach the connector of the customer's workspace, and nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startHostedApp } from '../support/hosted-app.ts';
import { httpApi } from '../support/pipelines.ts';
import { startProvider, type TestProvider } from '../support/providers.ts';
import { startSigningIn } from '../support/signing-in.ts';

const env = { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' };
let provider: TestProvider;
/** What the API was asked with. */
const sent: (string | undefined)[] = [];
let accepted = 'Bearer first-access-token';
const api = createServer(({ headers }, reply) => {
  sent.push(headers.authorization);
  const isGood = headers.authorization === accepted;
  reply.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end(isGood ? '[{"id":1}]' : '{}');
});

beforeAll(async () => {
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  provider = await startProvider();
});
beforeEach(() => {
  provider.token = () => ({
    body: { access_token: 'first-access-token', refresh_token: 'the refresh token', expires_in: 3600 },
  });
});
afterAll(() => {
  provider?.close();
  api.close();
  api.closeAllConnections();
});

const startCustomer = (test: TestApp, own: object = {}) =>
  startSigningIn(test, { provider, apiUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, own });

it('A check of a source gets the token of the sign-in, and a fresh one where the API refuses the token', async () => {
  const test = await startTestApp('sqlite', { env });
  try {
    const { signIn, check } = await startCustomer(test);
    const credentialId = await signIn();
    expect(await check(credentialId)).toMatchObject({ status: 'succeeded' });
    expect(sent).toEqual(['Bearer first-access-token']);

    accepted = 'Bearer second-access-token';
    provider.token = ({ form }) => ({
      body: form.refresh_token === 'the refresh token' ? { access_token: 'second-access-token', expires_in: 3600 } : {},
    });
    expect(await check(credentialId)).toMatchObject({ status: 'succeeded' });
    expect(sent.slice(1)).toEqual(['Bearer first-access-token', 'Bearer second-access-token']);
  } finally {
    await test.stop();
  }
});

it("Tokens of the operator's own reach the connector without anybody signing in, one credential for a workspace", async () => {
  const test = await startTestApp('sqlite', { env });
  try {
    accepted = 'Bearer own-access-token';
    provider.token = ({ form }) => ({
      body: form.grant_type === 'client_credentials' ? { access_token: 'own-access-token', expires_in: 3600 } : {},
    });
    const { ask, check, source_template_id } = await startCustomer(test, { grant: 'client_credentials' });
    expect(await ask('GET', `/source-templates/${source_template_id}`)).toMatchObject({ oauth: null });
    expect(await check()).toMatchObject({ status: 'succeeded' });
    const made = [
      await ask('POST', '/sources', { source_template_id }),
      await ask('POST', '/sources', { source_template_id }),
    ];
    const rows = await test.app.store.db.selectFrom('credentials').selectAll().execute();
    expect(rows).toMatchObject([{ grant_kind: 'client_credentials', state: 'connected', owner: 'service' }]);
    expect(made.map(({ credential_id }) => credential_id)).toEqual([rows[0]?.id, rows[0]?.id]);
  } finally {
    await test.stop();
  }
});

it('A hosted platform gets the tokens once, when the source is made and when its customer signs in again', async () => {
  const { test, faulty, stop } = await startHostedApp('sqlite', undefined, env);
  try {
    const { ask, signIn, check, source_template_id } = await startCustomer(test);
    const { oauth } = (await test.request('GET', `/api/v1/integrations/templates/sources/${source_template_id}`)).body;
    const fields = { ...oauth.fields, client_secret: ['authentication', 'header'] };
    const leaking = await test.request('POST', '/api/v1/integrations/templates/sources', {
      body: {
        actor_definition_id: httpApi,
        partial_default_config: { authentication: { type: 'bearer' } },
        oauth: { oauth_client_id: oauth.oauth_client_id, fields },
      },
    });
    // The platform refreshes the tokens, so it gets the secret of the client wherever a field asks for it.
    expect([leaking.status, leaking.body.detail[0].loc]).toEqual([422, ['body', 'oauth', 'fields']]);
    const credential_id = await signIn();
    // No temporary source gets a token that may work once.
    expect(await check(credential_id)).toMatchObject({ status: 'succeeded', warnings: [{ code: 'checked_later' }] });
    expect(faulty.sent.filter(({ method, path }) => method === 'POST' && path.startsWith('/sources'))).toEqual([]);

    const rowOf = () =>
      test.app.store.db.selectFrom('credentials').selectAll().where('id', '=', credential_id).executeTakeFirstOrThrow();
    const { id: source_id } = await ask('POST', '/sources', { source_template_id, credential_id });
    await vi.waitUntil(async () => (await rowOf()).sealed_tokens === '', { timeout: 120_000, interval: 100 });
    expect(await rowOf()).toMatchObject({ owner: 'platform', state: 'connected', refresh_due_at: null });
    const written = () =>
      faulty.sent.flatMap(({ method, path, body }) =>
        /^\/sources(\/[^/]+)?$/.test(path) && method !== 'GET' ? [{ method, ...JSON.parse(body ?? '{}') }] : [],
      );
    const withToken = (token?: string) => ({
      authentication: token === undefined ? { type: 'bearer' } : { type: 'bearer', token },
    });
    expect(written()).toMatchObject([
      { method: 'POST', configuration: withToken('first-access-token') },
      { method: 'PATCH', configuration: withToken() },
    ]);
    expect(JSON.stringify(written())).not.toContain('credential');

    provider.token = () => ({ body: { access_token: 'next-access-token', refresh_token: 'next', expires_in: 3600 } });
    expect(await signIn({ source_id })).toBe(credential_id);
    await test.app.workers.setUps.pass();
    await vi.waitUntil(async () => (await rowOf()).sealed_tokens === '', { timeout: 120_000, interval: 100 });
    expect(written().slice(2)).toMatchObject([{ method: 'PATCH', configuration: withToken('next-access-token') }]);
    await ask('PUT', `/sources/${source_id}`, { name: 'Another name' });
    await vi.waitUntil(() => written().length === 4, { timeout: 120_000, interval: 100 });
    expect(JSON.stringify(written()[3])).not.toContain('next-access-token');
  } finally {
    await stop();
  }
});
