/** Templates whose customers sign in instead of entering keys, and the sources that are made from them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CredentialRow } from '../../src/kernel/db/tables.ts';
import { addTenant } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { httpApi } from '../support/pipelines.ts';

const templates = '/api/v1/integrations/templates/sources';
const offers = '/api/v1/embedded/source-templates';
const sources = '/api/v1/embedded/sources';
let test: TestApp;
let clientId: string;
let token: string;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
  const client = { name: 'Shop', provider: 'hubspot', client_id: 'app', client_secret: 'very secret' };
  clientId = (await test.request('POST', '/api/v1/integrations/oauth/clients', { body: client })).body.id;
  token = await test.scopedToken('Acme');
});
afterAll(() => test.stop());

const fields = { access_token: ['authentication', 'token'] };
const fixed = { base_url: 'https://shop.example.com', authentication: { type: 'bearer' } };

async function makeTemplate(oauth: object | null, defaults: object = fixed) {
  const body = {
    actor_definition_id: httpApi,
    name: 'Shop',
    partial_default_config: { streams: [{ name: 'orders', path: '/orders' }], ...defaults },
    ...(oauth && { oauth: { oauth_client_id: clientId, fields, ...oauth } }),
  };
  return await test.request('POST', templates, { body });
}

/** As a sign-in leaves it. */
async function signIn(templateId: string, workspaceName = 'Acme'): Promise<string> {
  const row: CredentialRow = {
    id: randomUUID(),
    organization_id: test.organizationId,
    workspace_id: await test.workspaceId(workspaceName),
    oauth_client_id: clientId,
    source_template_id: templateId,
    grant_kind: 'authorization_code',
    owner: 'service',
    state: 'connected',
    reason: null,
    sealed_tokens: '',
    generation: 1,
    access_expires_at: null,
    refresh_due_at: null,
    failures: 0,
    used_at: null,
    scopes: '[]',
    provider_values: '{}',
    account_id: null,
    account_label: null,
    tried_generation: null,
    tries: 0,
    lease_id: null,
    lease_until: 0,
    last_error: null,
    revoke_due_at: null,
    revoke_tries: 0,
    revocation: null,
    created_at: 1,
    updated_at: 1,
    signed_in_at: 1,
    ended_at: null,
  };
  await test.app.store.db.insertInto('credentials').values(row).execute();
  return row.id;
}

const stateOf = async (id: string) =>
  await test.app.store.db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const locOf = (answer: { status: number; body: { detail: { loc: string[] }[] } }) => [
  answer.status,
  answer.body.detail?.map(({ loc }) => loc.join('.')),
];

it('offer a sign-in in place of the fields that it fills', async () => {
  const return_to = ['https://app.example.com/integrations'];
  const { body: template } = await makeTemplate({
    ...{ scopes: ['orders.read'], optional_scopes: ['refunds.read'], return_to },
  });
  expect(template.oauth).toMatchObject({ oauth_client_id: clientId, scopes: ['orders.read'] });
  expect(Object.keys(template.user_config_spec.connectionSpecification.properties)).not.toContain('authentication');
  const { body: offer } = await test.request('GET', `${offers}/${template.id}`, { token });
  expect(offer.oauth).toEqual({
    provider: 'HubSpot',
    scopes: ['orders.read', 'refunds.read'],
    may_paste: false,
    covers: [['authentication', 'token']],
    values: [],
    user_config_spec: null,
    return_to,
  });
  expect(JSON.stringify(offer)).not.toContain(clientId);
  const { body: plain } = await makeTemplate(null);
  expect((await test.request('GET', `${offers}/${plain.id}`, { token })).body.oauth).toBeNull();
});

it('are refused with a client that another organization has, and with fields that the connector lacks', async () => {
  const elsewhere = await addTenant(test, 'Elsewhere');
  const client = { name: 'Shop', provider: 'hubspot', client_id: 'app', client_secret: 'secret' };
  const { body } = await elsewhere.request('POST', '/api/v1/integrations/oauth/clients', { body: client });
  expect(locOf(await makeTemplate({ oauth_client_id: body.id }))).toEqual([422, ['body.oauth.oauth_client_id']]);
  const none = await makeTemplate({ fields: undefined });
  expect(locOf(none)).toEqual([422, ['body.oauth.fields']]);
  expect(locOf(await makeTemplate({ fields: { account: ['base_url'] } }))).toEqual([422, ['body.oauth.fields']]);
  // The connector has no such place: a number stands there.
  const wrong = await makeTemplate({ fields: { access_token: ['streams'] } });
  expect([wrong.status, wrong.body.detail[0].loc.slice(0, 2)]).toEqual([422, ['body', 'oauth']]);
});

it('can be changed with their sign-in, for existing sources as well', async () => {
  const { body: template } = await makeTemplate({ oauth_client_id: clientId });
  const changed = {
    partial_default_config: {
      ...fixed,
      base_url: 'https://new.example.com',
      streams: [{ name: 'orders', path: '/orders' }],
    },
  };
  const at = `${templates}/${template.id}`;
  const alone = await test.request('PATCH', at, { body: changed });
  expect(alone.status, alone.text).toBe(200);
  const again = {
    partial_default_config: { ...changed.partial_default_config, base_url: 'https://newer.example.com' },
  };
  const all = await test.request('PATCH', at, { body: { ...again, propagate: true } });
  expect(all.status, all.text).toBe(200);
});

it('do not come back with a client that was deleted', async () => {
  const client = { name: 'Old', provider: 'hubspot', client_id: 'app', client_secret: 'secret' };
  const { body: old } = await test.request('POST', '/api/v1/integrations/oauth/clients', { body: client });
  const { body: template } = await makeTemplate({ oauth_client_id: old.id });
  const at = `${templates}/${template.id}`;
  await test.request('PATCH', at, { body: { oauth: null } });
  const gone = await test.request('DELETE', `/api/v1/integrations/oauth/clients/${old.id}`);
  expect(gone.status, gone.text).toBe(200);
  const back = await test.request('POST', `${at}/rollback`, { body: { version: 1, apply: 'new_only' } });
  expect(locOf(back)).toEqual([422, ['body.oauth.oauth_client_id']]);
});

it("keep the operator's own tokens from hosts that customers enter", async () => {
  const open = { authentication: { type: 'bearer' } };
  const refused = await makeTemplate({ grant: 'client_credentials' }, open);
  expect(locOf(refused)).toEqual([422, ['body.oauth.grant']]);
  expect(refused.body.detail[0].msg).toContain('base_url');
  expect((await makeTemplate({ grant: 'client_credentials' })).status).toBe(201);
});

it('make sources only of a sign-in of the same workspace and template, and never show what it fills', async () => {
  const { body: template } = await makeTemplate({});
  const create = (more: object) =>
    test.request('POST', sources, { token, body: { source_template_id: template.id, ...more } });
  expect(locOf(await create({}))).toEqual([422, ['body.credential_id']]);
  const foreign = await signIn(template.id, 'Globex');
  expect(locOf(await create({ credential_id: foreign }))).toEqual([422, ['body.credential_id']]);
  const { body: other } = await makeTemplate({});
  expect(locOf(await create({ credential_id: await signIn(other.id) }))).toEqual([422, ['body.credential_id']]);

  const credential = await signIn(template.id);
  const made = await create({ credential_id: credential });
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({ credential_id: credential, source_config: {} });
  const { body: plain } = await makeTemplate(null, { ...fixed, authentication: { type: 'none' } });
  const needless = await test.request('POST', sources, {
    token,
    body: { source_template_id: plain.id, credential_id: credential },
  });
  expect(locOf(needless)).toEqual([422, ['body.credential_id']]);
});

it('end a sign-in when the last source that uses it has another or is deleted', async () => {
  const { body: template } = await makeTemplate({});
  const [first, second] = [await signIn(template.id), await signIn(template.id)];
  const body = { source_template_id: template.id, credential_id: first };
  const [one, two] = [
    (await test.request('POST', sources, { token, body })).body.id,
    (await test.request('POST', sources, { token, body })).body.id,
  ];
  await test.request('PUT', `${sources}/${one}`, { token, body: { credential_id: second } });
  expect(await stateOf(first)).toMatchObject({ state: 'connected' });
  const deleted = await test.request('DELETE', `${sources}/${two}`, { token });
  expect(deleted.status, deleted.text).toBe(200);
  expect(await stateOf(first)).toMatchObject({ state: 'ended' });
  expect(await stateOf(second)).toMatchObject({ state: 'connected' });
});

it('ask for a new sign-in when the address beside it changes', async () => {
  const { body: template } = await makeTemplate({}, { authentication: { type: 'bearer' } });
  const credential = await signIn(template.id);
  const at = (base_url: string) => ({ source_config: { base_url } });
  const { body: source } = await test.request('POST', sources, {
    token,
    body: { source_template_id: template.id, credential_id: credential, ...at('https://one.example.com') },
  });
  const patch = (body: object) => test.request('PUT', `${sources}/${source.id}`, { token, body });
  expect(locOf(await patch(at('https://two.example.com')))).toEqual([422, ['body.source_config.authentication.token']]);
  expect((await patch(at('https://one.example.com'))).status).toBe(200);
  const again = await signIn(template.id);
  const moved = await patch({ ...at('https://two.example.com'), credential_id: again });
  expect(moved.body).toMatchObject({ credential_id: again, source_config: { base_url: 'https://two.example.com' } });
});

it('let customers paste a key where the template allows it, and sign in later', async () => {
  const { body: template } = await makeTemplate({ may_paste: true });
  const { body: offer } = await test.request('GET', `${offers}/${template.id}`, { token });
  const asked = ({ connectionSpecification }: { connectionSpecification: { properties: object } }) =>
    Object.keys(connectionSpecification.properties);
  expect(asked(offer.user_config_spec)).toContain('authentication');
  expect(asked(offer.oauth.user_config_spec)).not.toContain('authentication');
  const made = await test.request('POST', sources, {
    token,
    body: { source_template_id: template.id, source_config: { authentication: { token: 'pasted' } } },
  });
  expect(made.body).toMatchObject({ credential_id: null, source_config: { authentication: { token: '**********' } } });
  expect(asked(made.body.user_config_spec)).toContain('authentication');
  const credential = await signIn(template.id);
  const signedIn = await test.request('PUT', `${sources}/${made.body.id}`, {
    token,
    body: { credential_id: credential },
  });
  expect(signedIn.body).toMatchObject({ credential_id: credential, source_config: {}, oauth: offer.oauth });
  expect(asked(signedIn.body.user_config_spec)).not.toContain('authentication');
});
