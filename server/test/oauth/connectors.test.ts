/** The tokens of a customer who has signed in reach the connector of the customer's workspace, and nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { widgetToken } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startHostedApp } from '../support/hosted-app.ts';
import { httpApi } from '../support/pipelines.ts';
import {
  fromElsewhere,
  makeClient,
  nextIn,
  proofIn,
  startProvider,
  type TestProvider,
  visitorOf,
} from '../support/providers.ts';

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

/** A customer of a template whose customers sign in. */
async function startCustomer(test: TestApp, own: object = {}) {
  const client = await makeClient(test, provider.endpoints);
  const base_url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const template = await test.request('POST', '/api/v1/integrations/templates/sources', {
    body: {
      actor_definition_id: httpApi,
      name: 'Provider',
      partial_default_config: {
        base_url,
        streams: [{ name: 'items', path: '/items' }],
        authentication: { type: 'bearer' },
      },
      oauth: { oauth_client_id: client.id, fields: { access_token: ['authentication', 'token'] }, ...own },
    },
  });
  expect(template.status, template.text).toBe(201);
  const source_template_id: string = template.body.id;
  const { inner: token } = await widgetToken(test, { workspace_name: 'acme', allowed_origin: 'https://app.example' });
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await test.request(method, `/api/v1/embedded${path}`, { token, ...(body && { body }) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const signIn = async (more: object = {}): Promise<string> => {
    const flow = await ask('POST', '/oauth/flows', { source_template_id, ...more });
    const visitor = visitorOf(test);
    const page = await visitor.get(flow.start_url);
    const asked = nextIn(await visitor.post(flow.start_url, { proof: proofIn(page) })).searchParams;
    const params = new URLSearchParams({ code: 'the code', state: asked.get('state') ?? '' });
    await visitor.get(`${asked.get('redirect_uri')}?${params}`, fromElsewhere);
    const { credential_id, state } = await ask('GET', `/oauth/flows/${flow.id}`);
    expect(state).toBe('connected');
    return credential_id;
  };
  const check = async (credential_id?: string) => {
    const wanted = { source_template_id, ...(credential_id !== undefined && { credential_id }) };
    const { id } = await ask('POST', '/sources/check', wanted);
    let shown = await ask('GET', `/sources/check/${id}/status`);
    await vi.waitUntil(
      async () => {
        shown = await ask('GET', `/sources/check/${id}/status`);
        return ['succeeded', 'failed'].includes(shown.status);
      },
      { timeout: 120_000, interval: 100 },
    );
    return shown;
  };
  return { ask, signIn, check, source_template_id };
}

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
    await test.app.setUps.pass();
    await vi.waitUntil(async () => (await rowOf()).sealed_tokens === '', { timeout: 120_000, interval: 100 });
    expect(written().slice(2)).toMatchObject([{ method: 'PATCH', configuration: withToken('next-access-token') }]);
    await ask('PUT', `/sources/${source_id}`, { name: 'Another name' });
    await vi.waitUntil(() => written().length === 4, { timeout: 120_000, interval: 100 });
    expect(JSON.stringify(written()[3])).not.toContain('next-access-token');
  } finally {
    await stop();
  }
});
