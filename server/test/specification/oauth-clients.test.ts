/** OAuth clients as operators see them through the API. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, unknownId } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';

const path = '/api/v1/integrations/oauth/clients';
let test: TestApp;
let provider: Server;
let issuer: string;
/** What the provider says about itself, by the path. */
const descriptions = new Map<string, object>();

beforeAll(async () => {
  provider = createServer((request, response) => {
    const description = descriptions.get(request.url ?? '');
    if (request.url === '/moved/.well-known/oauth-authorization-server') {
      response.writeHead(302, { location: '/.well-known/oauth-authorization-server' }).end();
    } else if (description) {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(description));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
});
afterAll(async () => {
  await test.stop();
  provider.close();
  provider.closeAllConnections();
});

const hubspot = { name: 'HubSpot', provider: 'hubspot', client_id: 'app', client_secret: 'very secret' };
const endpoints = {
  authorization_url: 'https://login.example.com/authorize',
  token_url: 'https://login.example.com/token',
};

async function create(body: object, on: Pick<TestApp, 'request'> = test) {
  const answer = await on.request('POST', path, { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function faultsOf(method: string, url: string, body: object) {
  const answer = await test.request(method, url, { body });
  expect(answer.status, answer.text).toBe(422);
  return answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`);
}

it('is made, read, changed, rotated and deleted, and its secret is in no answer', async () => {
  const made = await create(hubspot);
  expect(made).toMatchObject({
    provider: 'hubspot',
    client_secret: '**********',
    secret_hosts: ['api.hubapi.com'],
    needs_secret: false,
    endpoints: { token_url: 'https://api.hubapi.com/oauth/2026-03/token' },
    client_secrets: [{ used_until: null }],
  });
  expect(made.redirect_url).toMatch(/\/oauth\/callback\/[\w-]{22}$/);
  const one = `${path}/${made.id}`;
  const read = await test.request('GET', one);
  expect(read.body).toEqual(made);
  const list = await test.request('GET', path);
  expect(list.body.data).toContainEqual(made);
  const expires = '2027-01-31T00:00:00.000Z';
  const patched = await test.request('PATCH', one, { body: { name: 'CRM', client_secret_expires_at: expires } });
  expect(patched.body).toMatchObject({
    name: 'CRM',
    client_secret_expires_at: expires,
    redirect_url: made.redirect_url,
    client_secrets: made.client_secrets,
  });
  const rotated = await test.request('POST', `${one}/rotate-secret`, {
    body: { client_secret: 'another secret', overlap_seconds: 60 },
  });
  expect(rotated.body.client_secrets).toMatchObject([
    { used_until: null },
    { fingerprint: made.client_secrets[0].fingerprint, used_until: expect.any(String) },
  ]);
  expect(rotated.body.client_secret_expires_at).toBeNull();
  const atOnce = await test.request('POST', `${one}/rotate-secret`, {
    body: { client_secret: 'third secret', overlap_seconds: 0 },
  });
  expect(atOnce.body.client_secrets).toHaveLength(1);
  const audit = await test.request('GET', '/api/v1/audit-events');
  for (const { text } of [read, list, patched, rotated, atOnce, audit]) {
    expect(text).not.toMatch(/very secret|another secret|third secret/);
  }
  expect((await test.request('DELETE', one)).body).toMatchObject({ id: made.id });
  expect((await test.request('GET', one)).status).toBe(404);
});

it('has a redirect address that no client of any organization shares', async () => {
  const other = await addTenant(test, 'other');
  const made = [await create(hubspot), await create(hubspot), await create(hubspot, other)];
  expect(new Set(made.map(({ redirect_url }) => redirect_url)).size).toBe(3);
  const listed = (await other.request('GET', path)).body.data;
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([made[2].id]);
  expect((await other.request('GET', `${path}/${made[0].id}`)).text).toBe(
    (await other.request('GET', `${path}/${unknownId}`)).text,
  );
});

it('says where the provider is in exactly one way', async () => {
  const { provider: _, ...nowhere } = hubspot;
  expect(await faultsOf('POST', path, nowhere)).toEqual(['body.provider value_error']);
  expect(await faultsOf('POST', path, { ...hubspot, endpoints })).toEqual(['body.provider value_error']);
  expect(await faultsOf('POST', path, { ...hubspot, provider: 'nobody' })).toEqual(['body.provider value_error']);
  const given = await create({ ...nowhere, endpoints });
  expect(given).toMatchObject({ provider: null, issuer: null, endpoints, secret_hosts: ['login.example.com'] });
});

it('sends its secret nowhere but to the hosts that it was given for', async () => {
  const { provider: _, ...body } = hubspot;
  const made = await create({ ...body, endpoints });
  const one = `${path}/${made.id}`;
  const moved = { ...endpoints, token_url: 'https://login.evil.example/token' };
  const again = ['body.client_secret value_error.secret'];
  expect(await faultsOf('PATCH', one, { endpoints: moved })).toEqual(again);
  expect(await faultsOf('PATCH', one, { endpoints: { ...endpoints, refresh_url: moved.token_url } })).toEqual(again);
  expect(await faultsOf('PATCH', one, { endpoints: { ...endpoints, revocation_url: moved.token_url } })).toEqual(again);
  expect(await faultsOf('PATCH', one, { provider: 'zendesk' })).toEqual(again);
  // The page where a customer signs in gets no secret, and another path of the same host is the same host.
  const elsewhere = {
    authorization_url: 'https://sign-in.example.com/',
    token_url: 'https://login.example.com/v2/token',
  };
  expect((await test.request('PATCH', one, { body: { endpoints: elsewhere } })).status).toBe(200);
  const anew = await test.request('PATCH', one, { body: { endpoints: moved, client_secret: 'other secret' } });
  expect(anew.body).toMatchObject({ secret_hosts: ['login.evil.example'], needs_secret: false });
  // The secret of before was for other hosts.
  expect(anew.body.client_secrets).toHaveLength(1);
});

it('takes its secret nowhere with another way of writing an address, and no tokens to another host', async () => {
  const { provider: _, ...body } = hubspot;
  const account = { url: 'https://api.example.com/me', id: ['id'] };
  const odd = { ...endpoints, token_url: 'https:///login.example.com/token', account };
  const made = await create({ ...body, endpoints: odd });
  expect(made.secret_hosts).toEqual(['login.example.com']);
  const one = `${path}/${made.id}`;
  const again = ['body.client_secret value_error.secret'];
  for (const changed of [
    { token_url: 'https:///login.evil.example/token' },
    { account: { ...account, url: 'https://api.evil.example/me' } },
    {
      account: { ...account, url: 'https://login.example.com/x', introspects: true },
      refresh_url: 'https://a.example/',
    },
    // It would get the secret, not only tokens.
    { account: { ...account, introspects: true } },
  ]) {
    expect(await faultsOf('PATCH', one, { endpoints: { ...odd, ...changed } }), JSON.stringify(changed)).toEqual(again);
  }
  const elsewhere = { ...account, url: 'https://api.example.com/v2/me', label: ['email'] };
  const patched = await test.request('PATCH', one, { body: { endpoints: { ...odd, account: elsewhere } } });
  expect(patched.status, patched.text).toBe(200);
  const moved = { ...account, url: 'https://api.evil.example/me' };
  const anew = { endpoints: { ...odd, account: moved }, client_secret: 'given again' };
  expect((await test.request('PATCH', one, { body: anew })).status).toBe(200);
});

it('takes values of customers only where the host stays the provider’s', async () => {
  const { provider: _, ...body } = hubspot;
  const values = { shop: { title: 'Shop' } };
  const withToken = (token_url: string) => ({ ...body, endpoints: { ...endpoints, token_url, values } });
  for (const bad of [
    'https://{shop}/token',
    'https:///{shop}/token',
    'https://{shop}.com/token',
    'https://{shop}.co.uk/token',
    'https://{shop}.github.io/token',
    // Everybody can have a name there. That Shopify serves all of them is known to its preset alone.
    'https://{shop}.myshopify.com/token',
    'https://a.{shop}.example.com/',
    'https://{x}.example.com/',
  ]) {
    expect(await faultsOf('POST', path, withToken(bad)), bad).toEqual(['body.endpoints.token_url value_error.url']);
  }
  for (const field of ['authorization_url', 'refresh_url', 'revocation_url']) {
    const open = { ...endpoints, values, [field]: 'https://{shop}.co.uk/' };
    expect(await faultsOf('POST', path, { ...body, endpoints: open })).toEqual([
      `body.endpoints.${field} value_error.url`,
    ]);
  }
  const account = { url: 'https://{shop}.github.io/me', id: ['id'] };
  expect(await faultsOf('POST', path, { ...body, endpoints: { ...endpoints, values, account } })).toEqual([
    'body.endpoints.account.url value_error.url',
  ]);
  const listed = { host: { title: 'Host', hosts: ['login.example.com', '*.co.uk'] } };
  const anywhere = { ...endpoints, token_url: 'https://{host}/token', values: listed };
  expect(await faultsOf('POST', path, { ...body, endpoints: anywhere })).toEqual([
    'body.endpoints.token_url value_error.url',
  ]);
  // A description cannot vouch for a suffix.
  const vouching = { ...endpoints, token_url: 'https://{shop}.github.io/token', values, own_suffixes: ['github.io'] };
  expect((await test.request('POST', path, { body: { ...body, endpoints: vouching } })).status).toBe(422);
  const shopify = await create({ ...body, provider: 'shopify' });
  expect([shopify.secret_hosts, 'own_suffixes' in shopify.endpoints]).toEqual([['*.myshopify.com'], false]);
  expect(await create(withToken('https://{shop}.example.com/token'))).toMatchObject({
    secret_hosts: ['*.example.com'],
  });
});

it('has a secret where the provider wants one, and a key where it wants a key', async () => {
  const { provider: _, client_secret: _secret, ...body } = hubspot;
  const needs = (client_authentication: string) => ({ ...body, endpoints: { ...endpoints, client_authentication } });
  const wrong = ['body.client_secret value_error'];
  expect(await faultsOf('POST', path, needs('post'))).toEqual(wrong);
  expect(await faultsOf('POST', path, { ...needs('none'), client_secret: 'x' })).toEqual(wrong);
  expect(await faultsOf('POST', path, { ...needs('private_key_jwt'), client_secret: 'no key' })).toEqual(wrong);
  expect(await create(needs('none'))).toMatchObject({ client_secret: null, client_secrets: [], needs_secret: false });
  const key = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' });
  expect(await create({ ...needs('private_key_jwt'), client_secret: key })).toMatchObject({
    client_secret: '**********',
  });
});

it('reads what a provider says about itself', async () => {
  const { provider: _, ...body } = hubspot;
  const described = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    userinfo_endpoint: `${issuer}/me`,
    scopes_supported: ['openid', 'offline_access'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  };
  const wrong = ['body.issuer value_error.url'];
  expect(await faultsOf('POST', path, { ...body, issuer })).toEqual(wrong);
  // Many have only the description of OpenID Connect.
  descriptions.set('/.well-known/openid-configuration', described);
  const made = await create({ ...body, issuer });
  expect(made).toMatchObject({
    issuer,
    endpoints: {
      authorization_url: `${issuer}/auth`,
      token_url: `${issuer}/token`,
      revocation_url: `${issuer}/revoke`,
      client_authentication: 'post',
      checks_issuer: true,
      scopes: ['openid', 'offline_access'],
      account: { url: `${issuer}/me`, id: ['sub'] },
    },
  });
  expect(made.endpoints).not.toHaveProperty('pkce');
  // A description may hold anything.
  for (const odd of [
    { token_endpoint: { url: 'x' } },
    { token_endpoint: 7 },
    { token_endpoint: `${issuer}/\u0000` },
    { authorization_endpoint: `${issuer}/${'x'.repeat(100_000)}` },
    { revocation_endpoint: [] },
    { userinfo_endpoint: {} },
  ]) {
    descriptions.set('/.well-known/openid-configuration', { ...described, ...odd });
    expect(await faultsOf('POST', path, { ...body, issuer }), JSON.stringify(odd).slice(0, 100)).toEqual(wrong);
  }
  descriptions.set('/.well-known/openid-configuration', {
    ...described,
    ...{
      scopes_supported: 7,
      code_challenge_methods_supported: { S256: 1 },
      token_endpoint_auth_methods_supported: 'x',
    },
  });
  expect(await create({ ...body, issuer })).toMatchObject({ endpoints: { client_authentication: 'basic' } });
  // Another issuer than the one that was asked, and a redirect, are not believed.
  descriptions.set('/.well-known/openid-configuration', { ...described, issuer: 'https://evil.example' });
  expect(await faultsOf('POST', path, { ...body, issuer })).toEqual(wrong);
  descriptions.set('/.well-known/oauth-authorization-server', described);
  expect(await faultsOf('POST', path, { ...body, issuer: `${issuer}/moved` })).toEqual(wrong);
});

it('reaches no provider on a private network, and none by plain http, unless the operator allows it', async () => {
  const closed = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'false' } });
  try {
    const { provider: _, ...body } = hubspot;
    for (const bad of [issuer, 'https://127.0.0.1', 'https://localhost', 'https://[::1]', 'http://login.example.com']) {
      const answer = await closed.request('POST', path, { body: { ...body, issuer: bad } });
      expect([answer.status, answer.body.detail[0].loc], bad).toEqual([422, ['body', 'issuer']]);
      const given = { ...endpoints, token_url: `${bad}/token` };
      const other = await closed.request('POST', path, { body: { ...body, endpoints: given } });
      expect([other.status, other.body.detail[0].loc], bad).toEqual([422, ['body', 'endpoints', 'token_url']]);
      const asking = { ...endpoints, account: { url: `${bad}/me`, id: ['id'] } };
      const third = await closed.request('POST', path, { body: { ...body, endpoints: asking } });
      expect([third.status, third.body.detail[0].loc], bad).toEqual([422, ['body', 'endpoints', 'account', 'url']]);
    }
  } finally {
    await closed.stop();
  }
});

it("comes from the connector's own specification, and asks for the secret again when another version has other hosts", async () => {
  const manifestFor = (host: string) => ({
    version: '6.0.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: ['items'] },
    streams: [
      {
        type: 'DeclarativeStream',
        name: 'items',
        schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: {} } },
        retriever: {
          type: 'SimpleRetriever',
          requester: {
            type: 'HttpRequester',
            url_base: 'https://api.example.com',
            path: '/items',
            authenticator: { type: 'BearerAuthenticator', api_token: "{{ config['token'] }}" },
          },
          record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: [] } },
        },
      },
    ],
    spec: {
      type: 'Spec',
      connection_specification: {
        type: 'object',
        required: ['token'],
        properties: { token: { type: 'string', airbyte_secret: true } },
      },
      advanced_auth: {
        auth_flow_type: 'oauth2.0',
        oauth_config_specification: {
          oauth_connector_input_specification: {
            consent_url: `https://${host}/authorize?{{ client_id_param }}&{{ redirect_uri_param }}&{{ state_param }}`,
            access_token_url: `https://${host}/token`,
          },
          complete_oauth_output_specification: {
            properties: { access_token: { type: 'string', path_in_connector_config: ['token'] } },
          },
        },
      },
    },
  });
  const definitions = '/api/v1/integrations/definitions/sources';
  const body = { name: 'Items', manifest: manifestFor('login.example.com') };
  const definition = await test.request('POST', definitions, { body });
  expect(definition.status, definition.text).toBe(201);
  const id = definition.body.sourceDefinitionId ?? definition.body.id;
  const client = await create({ name: 'Items', definition_id: id, client_id: 'app', client_secret: 'secret' });
  expect(client).toMatchObject({ definition_id: id, secret_hosts: ['login.example.com'] });
  // A template needs no fields: the specification says where the token goes.
  const template = await test.request('POST', '/api/v1/integrations/templates/sources', {
    body: { actor_definition_id: id, oauth: { oauth_client_id: client.id } },
  });
  expect(template.status, template.text).toBe(201);
  expect(template.body.user_config_spec.connectionSpecification.properties).toEqual({});

  const moved = await test.request('PUT', `${definitions}/${id}`, {
    body: { manifest: manifestFor('evil.example.com') },
  });
  expect(moved.status, moved.text).toBe(200);
  expect((await test.request('GET', `${path}/${client.id}`)).body.secret_hosts).toEqual(['login.example.com']);
  expect(await faultsOf('PATCH', `${path}/${client.id}`, { definition_id: id })).toEqual([
    'body.client_secret value_error.secret',
  ]);
  const other = await addTenant(test, 'Without the connector');
  const refused = await other.request('POST', path, {
    body: { name: 'x', definition_id: id, client_id: 'a', client_secret: 'b' },
  });
  expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'definition_id']]);
});
