/** Where the operator's client secret and tokens go, and where a customer's: to no host that someone else has chosen. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { sealConfiguration } from '../../src/catalog/definitions/sealed-configuration.ts';
import type { ProviderNetwork } from '../../src/credentials/provider/network.ts';
import { type AccessWanted, accessTo, CredentialNeedsAttention } from '../../src/credentials/tokens/access.ts';
import { createSealer } from '../../src/kernel/sealing.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { replicaOf } from '../support/credentials.ts';
import { httpApi } from '../support/pipelines.ts';
import {
  fromElsewhere,
  makeClient,
  makeSignInTemplate,
  nextIn,
  proofIn,
  startProvider,
  type TestProvider,
  visitorOf,
} from '../support/providers.ts';

const templates = '/api/v1/integrations/templates/sources';
const flows = '/api/v1/embedded/oauth/flows';
const env = { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' };
const key = randomBytes(32);
let test: TestApp;
let provider: TestProvider;
let token: string;

beforeAll(async () => {
  provider = await startProvider();
  test = await startTestApp('sqlite', { env: { ...env, INLAY_ENCRYPTION_KEY: key.toString('hex') } });
});
beforeEach(async () => {
  token = await test.scopedToken(`customer ${randomUUID()}`);
  provider.asked.length = 0;
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
});

const handingOver = {
  hand_over: 'refresh_token',
  fields: {
    refresh_token: ['authentication', 'username'],
    client_secret: ['authentication', 'password'],
  },
};
const basic = { authentication: { type: 'basic' } };

const defaults = {
  base_url: 'https://api.example.com',
  streams: [{ name: 'items', path: '/items' }],
  authentication: { type: 'bearer' },
};

async function faultsOf(on: Pick<TestApp, 'request'>, clientId: string, oauth: object, config: object = {}) {
  const body = {
    actor_definition_id: httpApi,
    partial_default_config: { ...defaults, ...config },
    oauth: { oauth_client_id: clientId, fields: { access_token: ['authentication', 'token'] }, ...oauth },
  };
  const answer = await on.request('POST', templates, { body });
  return answer.status === 422 ? answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')) : answer.status;
}

async function signIn(
  source_template_id: string,
  values?: Record<string, string>,
  redirect: Record<string, string> = {},
) {
  const begun = await test.request('POST', flows, { token, body: { source_template_id, ...(values && { values }) } });
  expect(begun.status, begun.text).toBe(201);
  const visitor = visitorOf(test);
  const page = await visitor.get(begun.body.start_url);
  const asked = nextIn(await visitor.post(begun.body.start_url, { proof: proofIn(page) })).searchParams;
  const back = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', ...redirect });
  await visitor.get(`${asked.get('redirect_uri')}?${back}`, fromElsewhere);
  return (await test.request('GET', `${flows}/${begun.body.id}`, { token })).body;
}

const sealer = createSealer(key);

async function rowOf(credentialId: string) {
  const found = test.app.store.db.selectFrom('credentials').selectAll().where('id', '=', credentialId);
  return await found.executeTakeFirstOrThrow();
}

/** What a connector would be given, with a network that keeps what is sent. */
async function access(credentialId: string, wanted: AccessWanted = {}) {
  const row = await rowOf(credentialId);
  const sent: string[] = [];
  const network: ProviderNetwork = {
    async request(url) {
      sent.push(url);
      return { status: 200, contentType: 'application/json', body: '{"access_token":"next"}' };
    },
    addressFault: () => undefined,
  };
  const ctx = replicaOf(test.app.store, { sealer, network });
  const ref = { organizationId: row.organization_id, workspaceId: row.workspace_id, credentialId };
  return { given: accessTo(ctx, ref, wanted), sent };
}

/** A template as an earlier release would have taken it. */
async function openTemplate(id: string, config: Record<string, unknown>): Promise<void> {
  const { base_url: _, ...left } = { ...defaults, ...config };
  await test.app.store.db
    .updateTable('source_templates')
    .set({ sealed_defaults: sealConfiguration(sealer, 'source template', id, left) })
    .where('id', '=', id)
    .execute();
}

async function check(source_template_id: string, credential_id: string | undefined, base_url: string) {
  const started = await test.request('POST', '/api/v1/embedded/sources/check', {
    token,
    body: { source_template_id, ...(credential_id && { credential_id }), source_config: { base_url } },
  });
  if (started.status === 422) return started.body.detail[0].type;
  const status = `/api/v1/embedded/sources/check/${started.body.id}/status`;
  return await vi.waitUntil(
    async () => {
      const { body } = await test.request('GET', status, { token });
      return ['succeeded', 'failed'].includes(body.status) && body.status;
    },
    { timeout: 120_000, interval: 100 },
  );
}

it('A template hands the secret of a client over only where it fixes every address', async () => {
  const { id } = await makeClient(test, provider.endpoints);
  const open = { base_url: undefined };
  expect(await faultsOf(test, id, handingOver, basic)).toBe(201);
  expect(await faultsOf(test, id, handingOver, { ...basic, ...open })).toEqual(['body.oauth.hand_over']);
  expect(await faultsOf(test, id, { grant: 'client_credentials' }, open)).toEqual(['body.oauth.grant']);
  // The tokens of customers may go to the host that the customer enters for the source.
  expect(await faultsOf(test, id, {}, open)).toBe(201);
  const made = await makeSignInTemplate(test, id, handingOver, basic);
  const opened = await test.request('PATCH', `${templates}/${made}`, {
    body: { partial_default_config: { ...defaults, ...basic, ...open } },
  });
  expect([opened.status, opened.body.detail?.[0].loc]).toEqual([422, ['body', 'oauth', 'hand_over']]);
  const keys = await makeSignInTemplate(test, id, {}, open);
  const changed = await test.request('PATCH', `${templates}/${keys}`, {
    body: {
      partial_default_config: { streams: defaults.streams, ...basic },
      oauth: { oauth_client_id: id, ...handingOver },
    },
  });
  expect([changed.status, changed.body.detail?.[0].loc]).toEqual([422, ['body', 'oauth', 'hand_over']]);
});

it('A connector of the organization may have the host in any field, whatever that is called', async () => {
  const { id } = await makeClient(test, provider.endpoints);
  const text = { type: 'string' };
  const definition = await test.request('POST', '/api/v1/integrations/definitions/sources', {
    body: {
      name: `Orders ${randomUUID()}`,
      manifest: {
        version: '6.0.0',
        type: 'DeclarativeSource',
        check: { type: 'CheckStream', stream_names: ['orders'] },
        streams: [
          {
            type: 'DeclarativeStream',
            name: 'orders',
            retriever: {
              type: 'SimpleRetriever',
              requester: {
                type: 'HttpRequester',
                url_base: "https://api.example.com/{{ config['project'] }}",
                request_parameters: { since: "{{ config['since'] }}" },
                authenticator: {
                  type: 'OAuthAuthenticator',
                  token_refresh_endpoint: "https://{{ config['company']['code'] }}.example.com/token",
                  client_id: "{{ config['id'] }}",
                  client_secret: "{{ config['secret'] }}",
                  refresh_token: "{{ config['token'] }}",
                },
              },
              record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: [] } },
            },
          },
        ],
        spec: {
          type: 'Spec',
          connection_specification: {
            type: 'object',
            properties: {
              company: { type: 'object', properties: { code: text, size: text } },
              ...{ since: text, project: text, id: text },
              ...{ secret: { ...text, airbyte_secret: true }, token: { ...text, airbyte_secret: true } },
            },
          },
        },
      },
    },
  });
  expect(definition.status, definition.text).toBe(201);
  const fields = { refresh_token: ['token'], client_id: ['id'], client_secret: ['secret'] };
  const make = (partial_default_config: object) =>
    test.request('POST', templates, {
      body: {
        actor_definition_id: definition.body.id,
        partial_default_config,
        oauth: { oauth_client_id: id, hand_over: 'refresh_token', fields },
      },
    });
  const open = await make({});
  expect([open.status, open.body.detail]).toMatchObject([
    422,
    [{ loc: ['body', 'oauth', 'hand_over'], msg: expect.stringContaining('set company.code in') }],
  ]);
  expect((await make({ company: { code: 'acme' } })).status).toBe(201);
});

it('A template that is older than this rule hands nothing of the operator over', async () => {
  const { id } = await makeClient(test, provider.endpoints);
  const handing = await makeSignInTemplate(test, id, handingOver, basic);
  await openTemplate(handing, basic);
  const { credential_id } = await signIn(handing);
  expect(await check(handing, credential_id, provider.url)).toBe('failed');
  const own = await makeSignInTemplate(test, id, { grant: 'client_credentials', return_to: undefined });
  await openTemplate(own, {});
  expect(await check(own, undefined, provider.url)).toBe('failed');
  expect(provider.asked.map(({ path }) => path)).not.toContain('/items');
});

it('A client that is older than this rule sends nothing', async () => {
  const values = { sub: { title: 'Sub' } };
  const { id } = await makeClient(test, { ...provider.endpoints, values });
  const template = await makeSignInTemplate(test, id);
  const { credential_id } = await signIn(template, { sub: 'acme' });
  const describe = async (token_url: string, host: string) =>
    await test.app.store.db
      .updateTable('oauth_clients')
      .set({
        provider: JSON.stringify({ ...provider.endpoints, values, token_url }),
        secret_hosts: JSON.stringify([host]),
      })
      .where('id', '=', id)
      .execute();
  await describe('https://{sub}.github.io/token', '*.github.io');
  const open = await access(credential_id, { notGeneration: 1 });
  await expect(open.given).rejects.toThrow(CredentialNeedsAttention);
  const begun = await test.request('POST', flows, { token, body: { source_template_id: template } });
  expect([begun.status, begun.headers['x-inlay-error']]).toEqual([409, 'sign_in_not_possible']);
  await describe('https://{sub}.provider.example/token', '*.provider.example');
  const entered = async (sub: string) =>
    await test.app.store.db
      .updateTable('credentials')
      .set({ provider_values: JSON.stringify({ sub }), state: 'connected', reason: null })
      .where('id', '=', credential_id)
      .execute();
  for (const sub of ['evil.example/', 'x@evil.example#', 'a.b', '']) {
    await entered(sub);
    const tried = await access(credential_id, { notGeneration: 1 });
    await expect(tried.given, sub).rejects.toThrow();
    expect([...open.sent, ...tried.sent], sub).toEqual([]);
  }
  await entered('acme');
  const good = await access(credential_id, { notGeneration: 1 });
  expect(await good.given).toMatchObject({ accessToken: 'next' });
  expect(good.sent).toEqual(['https://acme.provider.example/token']);
});

it('No provider sends a secret or a token on to another host with a redirect', async () => {
  const { id } = await makeClient(test, provider.endpoints);
  const template = await makeSignInTemplate(test, id);
  const { token: tokens, account } = provider;
  onTestFinished(() => {
    Object.assign(provider, { token: tokens, account });
  });
  const elsewhere = { status: 307, headers: { location: `${provider.url}/elsewhere` } };
  provider.account = () => elsewhere;
  expect(await signIn(template)).toMatchObject({ state: 'connected', account: null });
  provider.token = () => elsewhere;
  expect(await signIn(template)).toMatchObject({ state: 'failed', credential_id: null });
  expect(provider.asked.map(({ path }) => path)).toEqual(['/token', '/me', '/token']);
});

it('What a redirect says is handed over with the secret only where it cannot be a host', async () => {
  const taken = { shop: { from: 'redirect' as const, path: ['shop'] } };
  const { id } = await makeClient(test, { ...provider.endpoints, taken });
  const template = await makeSignInTemplate(test, id, handingOver, basic);
  for (const [shop, given] of [
    ['acme', 'acme'],
    ['evil.example', undefined],
  ]) {
    const { credential_id } = await signIn(template, undefined, { shop: shop ?? '' });
    const { values } = await (await access(credential_id)).given;
    expect([values.shop, values.client_secret]).toEqual([given, 'the client secret']);
  }
});

it("A customer's tokens go to no other host than that of the source that uses them", async () => {
  const { id } = await makeClient(test, provider.endpoints);
  const source_template_id = await makeSignInTemplate(test, id, {}, { base_url: undefined });
  const { credential_id } = await signIn(source_template_id);
  const connect = async (base_url: string, credential = credential_id) =>
    (
      await test.request('POST', '/api/v1/embedded/sources', {
        token,
        body: { source_template_id, credential_id: credential, source_config: { base_url } },
      })
    ).status;
  expect(await connect('https://api.example.com')).toBe(201);
  provider.asked.length = 0;
  expect(await check(source_template_id, credential_id, provider.url)).toBe('value_error.secret');
  expect(await connect(provider.url)).toBe(422);
  expect(provider.asked).toEqual([]);
  expect(await connect('https://api.example.com/')).toBe(201);
  // A customer who signs in again may choose where the new tokens go.
  expect(await connect(provider.url, (await signIn(source_template_id)).credential_id)).toBe(201);
});
