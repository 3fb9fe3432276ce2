/** The tokens of a customer who has signed in reach the connector of the customer's workspace, and nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { widgetToken } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
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

let test: TestApp;
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
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
  api.close();
  api.closeAllConnections();
});

it('A check of a source gets the token of the sign-in, and a fresh one where the API refuses the token', async () => {
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
      oauth: { oauth_client_id: client.id, fields: { access_token: ['authentication', 'token'] } },
    },
  });
  expect(template.status, template.text).toBe(201);
  const source_template_id = template.body.id;
  const { inner: token } = await widgetToken(test, { workspace_name: 'acme', allowed_origin: 'https://app.example' });
  provider.token = () => ({
    body: { access_token: 'first-access-token', refresh_token: 'the refresh token', expires_in: 3600 },
  });
  const ask = (method: string, path: string, body?: object) =>
    test.request(method, path, { token, ...(body && { body }) });
  const flow = (await ask('POST', '/api/v1/embedded/oauth/flows', { source_template_id })).body;
  const visitor = visitorOf(test);
  const page = await visitor.get(flow.start_url);
  const asked = nextIn(await visitor.post(flow.start_url, { proof: proofIn(page) })).searchParams;
  const params = new URLSearchParams({ code: 'the code', state: asked.get('state') ?? '' });
  await visitor.get(`${asked.get('redirect_uri')}?${params}`, fromElsewhere);
  const { credential_id } = (await ask('GET', `/api/v1/embedded/oauth/flows/${flow.id}`)).body;
  expect(credential_id).toEqual(expect.any(String));

  const check = async () => {
    const started = await ask('POST', '/api/v1/embedded/sources/check', { source_template_id, credential_id });
    expect(started.status, started.text).toBeLessThan(300);
    const path = `/api/v1/embedded/sources/check/${started.body.id}/status`;
    let shown = (await ask('GET', path)).body;
    await vi.waitUntil(
      async () => {
        shown = (await ask('GET', path)).body;
        return ['succeeded', 'failed'].includes(shown.status);
      },
      { timeout: 120_000, interval: 100 },
    );
    return shown;
  };
  expect(await check()).toMatchObject({ status: 'succeeded' });
  expect(sent).toEqual(['Bearer first-access-token']);

  accepted = 'Bearer second-access-token';
  provider.token = ({ form }) => ({
    body: form.refresh_token === 'the refresh token' ? { access_token: 'second-access-token', expires_in: 3600 } : {},
  });
  expect(await check()).toMatchObject({ status: 'succeeded' });
  expect(sent.slice(1)).toEqual(['Bearer first-access-token', 'Bearer second-access-token']);
  expect(JSON.stringify(provider.exchanged().at(-1))).toContain('the refresh token');
});
