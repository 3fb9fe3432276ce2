/** A sign-in that stops working: what operator and customer see, how it recovers, and how it ends. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { customer, makeConnectionTemplate } from '../support/pipelines.ts';
import {
  locationOf,
  makeClient,
  makeSignInTemplate,
  nextIn,
  openedByUs,
  proofIn,
  startProvider,
  type TestProvider,
  visitorOf,
} from '../support/providers.ts';

const credentials = '/api/v1/integrations/credentials';
let test: TestApp;
let provider: TestProvider;
let token: string;
let clientId: string;
let templateId: string;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
  provider = await startProvider();
  const endpoints = { ...provider.endpoints, revocation_url: `${provider.url}/revoke` };
  clientId = (await makeClient(test, endpoints)).id;
  templateId = await makeSignInTemplate(test, clientId);
  await makeConnectionTemplate(test, { sync_on_create: false });
  token = await test.scopedToken('Acme');
});
afterAll(async () => {
  await test.stop();
  provider.close();
});

async function signIn(body: object = {}): Promise<string> {
  const flows = '/api/v1/embedded/oauth/flows';
  const begun = await test.request('POST', flows, { token, body: { source_template_id: templateId, ...body } });
  expect(begun.status, begun.text).toBe(201);
  const visitor = visitorOf(test);
  const question = await visitor.get(begun.body.start_url);
  const sent = await visitor.post(begun.body.start_url, { proof: proofIn(question) }, openedByUs);
  const asked = nextIn(sent).searchParams;
  const params = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
  locationOf(await visitor.get(`${asked.get('redirect_uri')}?${params}`));
  const flow = await test.request('GET', `${flows}/${begun.body.id}`, { token });
  expect(flow.body).toMatchObject({ state: 'connected' });
  return flow.body.credential_id;
}

const get = async (id: string) => (await test.request('GET', `${credentials}/${id}`)).body;
const own = async (id: string) => (await test.request('GET', `/api/v1/embedded/credentials/${id}`, { token })).body;
const health = async (sourceId: string) =>
  (await test.request('GET', `/api/v1/embedded/sources/${sourceId}`, { token })).body.health;
const makeDue = (id: string) =>
  test.app.store.db.updateTable('credentials').set({ refresh_due_at: 1 }).where('id', '=', id).execute();
async function told(): Promise<string[]> {
  const rows = await test.app.store.db.selectFrom('log_pending').select(['type', 'number']).orderBy('number').execute();
  return rows.map(({ type }) => type).filter((type) => /^(credential|source\.(needs|recovered))/.test(type));
}

it('turns its source to needs_attention by the customer, who signs in again, and everything keeps its id', async () => {
  const id = await signIn();
  const source = { source_template_id: templateId, credential_id: id };
  const made = await test.request('POST', '/api/v1/embedded/sources', { token, body: source });
  expect(made.status, made.text).toBe(201);
  const sourceId = made.body.id;
  await (await customer(test, 'Acme')).settled(sourceId);
  // Whether the platform could set it up is of no interest here.
  for (const table of ['sources', 'connections', 'destinations'] as const) {
    await test.app.store.db.updateTable(table).set({ failure: null, customer_failure: null }).execute();
  }
  expect(await get(id)).toMatchObject({
    ...{ state: 'connected', reason: null, owner: 'service', grant: 'authorization_code', account: 'ada@example.com' },
    ...{ has_refresh_token: true, scopes: ['contacts.read', 'deals.read'], source_ids: [sourceId], revocation: null },
  });
  const { body: listed } = await test.request('GET', `${credentials}?workspace_id=${await test.workspaceId('Acme')}`);
  expect(listed.data.map((one: { id: string }) => one.id)).toEqual([id]);

  provider.token = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'revoked by the user' } });
  await makeDue(id);
  await test.app.workers.refreshWorker.pass();
  expect(await get(id)).toMatchObject({ state: 'needs_attention', reason: 'revoked' });
  const needed = { code: 'sign_in_ended', parameters: {} };
  expect(await own(id)).toMatchObject({ state: 'needs_attention', attention_by: 'customer', reason: needed });
  expect(await health(sourceId)).toMatchObject({ state: 'needs_attention', attention: { by: 'customer', ...needed } });
  expect(await told()).toEqual(['credential.connected', 'source.needs_attention', 'credential.revoked']);

  provider.token = () => ({ body: { access_token: 'another access token', expires_in: 3600 } });
  expect(await signIn({ source_id: sourceId })).toBe(id);
  expect(await get(id)).toMatchObject({ state: 'connected', reason: null, has_refresh_token: true });
  expect(await health(sourceId)).toMatchObject({ state: 'never_synced' });
  expect((await told()).slice(3)).toEqual(['credential.connected', 'source.recovered']);

  // Nobody loses what others need: the client stays while someone has signed in with it.
  const kept = await test.request('DELETE', `/api/v1/integrations/oauth/clients/${clientId}`);
  expect([kept.status, kept.headers['x-inlay-error']]).toEqual([409, 'oauth_client_in_use']);
});

it("is the operator's to fix where the provider refuses the client, and the customer doesn’t see it", async () => {
  provider.token = () => ({ body: { access_token: 'access', refresh_token: 'refresh', expires_in: 3600 } });
  const id = await signIn();
  const source = { source_template_id: templateId, credential_id: id };
  const { body: made } = await test.request('POST', '/api/v1/embedded/sources', { token, body: source });
  await (await customer(test, 'Acme')).settled(made.id);
  provider.token = () => ({
    status: 401,
    body: { error: 'invalid_client', error_description: 'the client secret is old' },
  });
  await makeDue(id);
  await test.app.workers.refreshWorker.pass();
  const shown = await get(id);
  expect(shown).toMatchObject({ state: 'needs_attention', reason: 'client_refused' });
  expect(shown.last_error).toBe('invalid_client: *** is old');
  expect(await own(id)).toMatchObject({ attention_by: 'operator', account: 'ada@example.com' });
  const customers = JSON.stringify([await own(id), await health(made.id)]);
  expect(customers).toContain('problem_on_our_side');
  expect(customers).not.toContain('invalid_client');
  provider.token = () => ({ body: { access_token: 'mended', refresh_token: 'next', expires_in: 3600 } });
  await makeDue(id);
  // The host was left alone after a failure; an answer of the provider is none.
  await test.app.workers.refreshWorker.pass();
  expect(await get(id)).toMatchObject({ state: 'connected', reason: null, last_error: null });
  expect(JSON.stringify(await health(made.id))).not.toContain('invalid_client');
});

it('is ended by an operator, revoked at the provider, and unknown to everybody else', async () => {
  const elsewhere = await addTenant(test, 'Elsewhere');
  const globex = await test.scopedToken('Globex');
  provider.account = () => ({ body: { id: 8, email: 'grace@example.com' } });
  provider.token = () => ({ body: { access_token: 'short', refresh_token: 'to be revoked', expires_in: 3600 } });
  const id = await signIn();
  for (const method of ['GET', 'DELETE']) {
    expect((await elsewhere.request(method, `${credentials}/${id}`)).status).toBe(404);
  }
  expect((await test.request('GET', `/api/v1/embedded/credentials/${id}`, { token: globex })).status).toBe(404);
  const ended = await test.request('DELETE', `${credentials}/${id}`);
  expect(ended.body).toMatchObject({ state: 'ended', revocation: 'due' });
  await test.app.workers.revocations.pass();
  const revoked = provider.asked.filter(({ path }) => path === '/revoke');
  expect(revoked.map(({ form }) => form)).toMatchObject([{ token: 'to be revoked', token_type_hint: 'refresh_token' }]);
  expect(await get(id)).toMatchObject({ state: 'ended', revocation: 'done', has_refresh_token: false });
  expect((await test.request('DELETE', `${credentials}/${id}`)).body).toMatchObject({ revocation: 'done' });
});
