/** What a page that was left or reloaded learns about its sign-in, and who else learns nothing. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, widgetToken } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
  fromElsewhere,
  locationOf,
  makeClient,
  makeSignInTemplate,
  nextIn,
  proofIn,
  returnTo,
  startProvider,
  type TestProvider,
  visitorOf,
} from '../support/providers.ts';

const path = '/api/v1/embedded/oauth/flows';
const product = 'https://app.example';

let test: TestApp;
let provider: TestProvider;
let templateId: string;
/** A customer's token, issued for a page of the product. */
let token: string;

beforeAll(async () => {
  provider = await startProvider();
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
  const { id } = await makeClient(test, {
    ...provider.endpoints,
    authorization_url: `${provider.url}/{subdomain}`,
    values: { subdomain: { title: 'Subdomain' } },
  });
  templateId = await makeSignInTemplate(test, id, {}, { base_url: undefined });
  token = (await widgetToken(test, { workspace_name: 'acme', allowed_origin: product })).inner;
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
});

const ask = (method: string, address: string, body?: object, by = token) =>
  test.request(method, address, { token: by, ...(body && { body }) });

async function start(body: object = {}, by = token) {
  const values = { subdomain: 'acme' };
  const answer = await ask('POST', path, { source_template_id: templateId, values, ...body }, by);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** The customer agrees with the provider. Gives the address to which the browser is sent. */
async function agree({ start_url }: { start_url: string }): Promise<URL> {
  const visitor = visitorOf(test);
  const page = await visitor.get(start_url);
  const { searchParams } = nextIn(await visitor.post(start_url, { proof: proofIn(page) }));
  const answer = new URLSearchParams({ code: 'the code', state: searchParams.get('state') ?? '' });
  return locationOf(await visitor.get(`${searchParams.get('redirect_uri')}?${answer}`, fromElsewhere));
}

const unused = async (by = token) =>
  (await ask('GET', `/api/v1/embedded/credentials?source_template_id=${templateId}`, undefined, by)).body.data;

const entered = {
  name: 'Our contacts',
  source_config: { base_url: 'https://eu.example.com', authentication: { type: 'bearer', token: 'a typed secret' } },
};

it('A sign-in shows its page what it is for and what was entered, without secrets', async () => {
  const flow = await start({ entered });
  const { body } = await ask('GET', `${path}/${flow.id}`);
  expect(body).toMatchObject({
    source_template_id: templateId,
    source_id: null,
    used_by: null,
    values: { subdomain: 'acme' },
    entered: { name: 'Our contacts', source_config: { base_url: 'https://eu.example.com' } },
  });
  expect(JSON.stringify(body)).not.toContain('a typed secret');
  const row = await test.app.store.db
    .selectFrom('oauth_flows')
    .selectAll()
    .where('id', '=', flow.id)
    .executeTakeFirstOrThrow();
  expect(JSON.stringify(row)).not.toMatch(/Our contacts|eu\.example|a typed secret/);
  expect((await start({ entered: { source_config: { base_url: 'x'.repeat(33_000) } } })).entered).toBeNull();
  expect((await start()).entered).toBeNull();
});

it('A sign-in names the source that was made with it, so that nobody continues with it twice', async () => {
  const flow = await start({ entered });
  await agree(flow);
  const { body: connected } = await ask('GET', `${path}/${flow.id}`);
  expect(connected).toMatchObject({ state: 'connected', used_by: null });
  const source = await ask('POST', '/api/v1/embedded/sources', {
    source_template_id: templateId,
    name: 'Our contacts',
    source_config: { base_url: 'https://eu.example.com' },
    credential_id: connected.credential_id,
  });
  expect(source.status, source.text).toBe(201);
  expect((await ask('GET', `${path}/${flow.id}`)).body.used_by).toBe(source.body.id);
});

it('An address with the sign-in of someone else is worth nothing', async () => {
  const flow = await start({ return_to: returnTo, entered });
  const address = await agree(flow);
  expect(address.href).toBe(`${returnTo}&inlay_sign_in=${flow.id}`);
  const stranger = await addTenant(test, 'stranger');
  const others = [
    (await widgetToken(test, { workspace_name: 'victim', allowed_origin: product })).inner,
    (await widgetToken(test, { workspace_name: 'acme', allowed_origin: 'https://other.example' })).inner,
    (await widgetToken(stranger, { workspace_name: 'acme', allowed_origin: product })).inner,
  ];
  for (const other of others) {
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/confirm'],
    ] as const) {
      const answer = await ask(method, `${path}/${flow.id}${suffix}`, undefined, other);
      expect([answer.status, answer.text.includes('contacts')]).toEqual([404, false]);
    }
    expect((await unused(other)).length).toBe(0);
  }
  expect((await ask('GET', `${path}/${flow.id}`)).body.state).toBe('connected');
});

it('A sign-in that its page may have forgotten waits in the form of its template', async () => {
  const known = (await unused()).map(({ id }: { id: string }) => id);
  const popup = await start();
  await agree(popup);
  expect((await unused()).length, 'the page with the popup knows its own').toBe(known.length);
  for (const request of [{ return_to: returnTo }, { offer_later: true }]) {
    const flow = await start(request);
    await agree(flow);
    const { credential_id } = (await ask('GET', `${path}/${flow.id}`)).body;
    expect((await unused())[0].id).toBe(credential_id);
  }
});

it('The query of the address that a browser comes back to stays as the operator has written it', async () => {
  const odd = `${product}/crm?q=a%20b&on&x=%2f#list`;
  const { id } = await makeClient(test, provider.endpoints);
  const source_template_id = await makeSignInTemplate(test, id, { return_to: [odd] });
  const { body: flow } = await ask('POST', path, { source_template_id, return_to: odd });
  expect((await agree(flow)).href).toBe(`${product}/crm?q=a%20b&on&x=%2f&inlay_sign_in=${flow.id}#list`);
});
