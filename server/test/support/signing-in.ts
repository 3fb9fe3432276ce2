/** A customer who signs in with a provider, and connects a source of an API that takes the provider's tokens. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { widgetToken } from '../security/support.ts';
import type { TestApp } from './app.ts';
import { httpApi } from './pipelines.ts';
import { fromElsewhere, makeClient, nextIn, proofIn, type TestProvider, visitorOf } from './providers.ts';

interface SigningIn {
  provider: TestProvider;
  apiUrl: string;
  /** More of the template's `oauth`. */
  own?: object;
}

export async function startSigningIn(
  test: Pick<TestApp, 'request'>,
  { provider, apiUrl: base_url, own = {} }: SigningIn,
) {
  const client = await makeClient(test, provider.endpoints);
  const create = () =>
    test.request('POST', '/api/v1/integrations/templates/sources', {
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
  let template = await create();
  // A service that has just started may not know its platform yet, and says when to ask again.
  for (let again = 0; again < 100 && template.status === 503; again++) {
    await delay(100);
    template = await create();
  }
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
