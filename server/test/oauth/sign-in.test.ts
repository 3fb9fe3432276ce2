/** How a customer signs in with a provider, as the browser and the API see it; and what attackers try. */

import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { wordsFor } from '../../src/credentials/sign-in/page-words.ts';
import { addTenant, type Tenant, widgetToken } from '../security/support.ts';
import { type Answer, startTestApp, type TestApp } from '../support/app.ts';
import { httpApi } from '../support/pipelines.ts';
import {
  fromElsewhere,
  locationOf,
  makeClient,
  makeSignInTemplate as makeTemplate,
  nextIn,
  openedByUs,
  proofIn,
  returnTo,
  startProvider,
  type TestProvider,
  typedIn,
  type Visitor,
  visitorOf,
} from '../support/providers.ts';

const path = '/api/v1/embedded/oauth/flows';
const product = 'https://app.example';

let test: TestApp;
let provider: TestProvider;
let client: { id: string; redirect_url: string };
let templateId: string;
let widget: Awaited<ReturnType<typeof widgetToken>>;
/** Everything that the service logs. */
let logged = '';

beforeAll(async () => {
  provider = await startProvider();
  const log = pino(
    { level: 'trace' },
    new Writable({
      write(chunk, _encoding, done) {
        logged += chunk;
        done();
      },
    }),
  );
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' }, overrides: { log } });
  client = await makeClient(test, { ...provider.endpoints, scopes: ['always'] });
  templateId = await makeTemplate(test, client.id);
  widget = await widgetToken(test, { workspace_name: 'acme', allowed_origin: product, customer_label: 'Acme & Co.' });
});
beforeEach(() => {
  provider.asked.length = 0;
  provider.token = () => ({
    body: { access_token: 'the access token', refresh_token: 'the refresh token', expires_in: 3600 },
  });
  provider.account = () => ({ body: { id: 7, email: 'ada@example.com' } });
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
});

const ask = (method: string, address: string, body?: object, token = widget.inner) =>
  test.request(method, address, { token, ...(body && { body }) });

/** What the page of the widget holds if a browser loads it like this. */
async function proofOf(dest: string, of = widget): Promise<string | undefined> {
  const page = await test.request('GET', `/widget${of.url.search}`, {
    token: null,
    headers: { 'sec-fetch-dest': dest },
  });
  return /name="inlay-frame-proof" content="([^"]+)"/.exec(page.text)?.[1];
}

async function start(body: object = {}, token = widget.inner): Promise<Answer['body']> {
  const answer = await ask('POST', path, { source_template_id: templateId, ...body }, token);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const startFramed = async (body: object = {}) => await start({ frame_proof: await proofOf('iframe'), ...body });

const stateOf = async ({ id }: { id: string }) => (await ask('GET', `${path}/${id}`)).body;

/** Clicks through the page that asks, and returns the parameters of the request to the provider. */
async function agree(visitor: Visitor, { start_url }: { start_url: string }): Promise<URLSearchParams> {
  const page = await visitor.get(start_url);
  expect(page.status, page.text).toBe(200);
  const gone = await visitor.post(start_url, { proof: proofIn(page) });
  expect(gone.status, gone.text).toBe(200);
  return nextIn(gone).searchParams;
}

const callbackOf = (asked: URLSearchParams, params: Record<string, string> = {}) =>
  `${asked.get('redirect_uri')}?${new URLSearchParams({ code: 'the code', state: asked.get('state') ?? '', ...params })}`;

/** Signs in, and gives the sign-in and the last page. */
async function signIn(body: object = {}, params: Record<string, string> = {}) {
  const visitor = visitorOf(test);
  const flow = await start(body);
  const asked = await agree(visitor, flow);
  const back = await visitor.get(callbackOf(asked, params), fromElsewhere);
  expect(back.status, back.text).toBe(303);
  return { visitor, flow, asked, back, ended: await stateOf(flow), done: await visitor.get(locationOf(back).href) };
}

const entries = async (id: string) =>
  (await test.app.store.db.selectFrom('log_pending').selectAll().orderBy('number').execute())
    .filter(({ data }) => data.includes(id))
    .map(({ type, actor_kind }) => `${type} ${actor_kind}`);

describe('A customer in a widget', () => {
  it('is sent to the provider without a further question, and comes back connected', async () => {
    const flow = await startFramed();
    expect(flow).toMatchObject({ state: 'created', credential_id: null, failure: null });
    expect(flow.start_url).toMatch(/\/oauth\/start\/[\w-]{43}$/);
    const waiting = ask('GET', `${path}/${flow.id}?wait=20&known=created`);
    const visitor = visitorOf(test);
    const begun = await visitor.get(flow.start_url, openedByUs);
    expect(begun.status).toBe(302);
    expect(String(begun.headers['set-cookie'])).toMatch(
      new RegExp(`^__Host-inlay-sign-in-${flow.id}=[\\w-]{43}; Path=/; Max-Age=\\d+; Secure; HttpOnly; SameSite=Lax$`),
    );
    expect((await waiting).body).toMatchObject({ state: 'started' });
    expect((await waiting).body).not.toHaveProperty('start_url');
    const asked = locationOf(begun);
    expect(`${asked.origin}${asked.pathname}`).toBe(provider.endpoints.authorization_url);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'our app',
      redirect_uri: client.redirect_url,
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'always contacts.read deals.read',
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    });
    const back = await visitor.get(callbackOf(asked.searchParams), fromElsewhere);
    expect([back.status, locationOf(back).search, locationOf(back).pathname]).toEqual([
      303,
      '',
      `/oauth/done/${flow.id}`,
    ]);
    const ended = await stateOf(flow);
    expect(ended).toMatchObject({ state: 'connected', account: 'ada@example.com', failure: null });
    expect(provider.exchanged()).toMatchObject([{ code: 'the code', redirect_uri: client.redirect_url }]);
    const done = await visitor.get(locationOf(back).href);
    expect(done.text).toContain('Connected as ada@example.com.');
    const source = { source_template_id: templateId, credential_id: ended.credential_id };
    expect((await ask('POST', '/api/v1/embedded/sources', source)).status).toBe(201);
    expect(await entries(flow.id)).toEqual(
      ['created', 'started', 'returned', 'connected'].map((step) => `sign_in.${step} scoped_token`),
    );
  });

  it.each<[string, () => Promise<object>, Record<string, string>]>([
    ['opens an address that was mailed', () => startFramed(), typedIn],
    ['is sent by another site', () => startFramed(), fromElsewhere],
    ['has a browser that says nothing', () => startFramed(), {}],
    ['is in a frame', () => startFramed(), { ...openedByUs, 'sec-fetch-dest': 'iframe' }],
    ['opened the widget as a page of its own', () => start(), openedByUs],
    [
      'has a proof of another workspace',
      async () => {
        const other = await widgetToken(test, { workspace_name: 'other', allowed_origin: product });
        return await start({ frame_proof: await proofOf('iframe', other) });
      },
      openedByUs,
    ],
    ['has a proof that was changed', async () => start({ frame_proof: `9${await proofOf('iframe')}` }), openedByUs],
  ])('is asked before anything happens who %s', async (_name, begin, headers) => {
    const flow = (await begin()) as { id: string; start_url: string };
    const visitor = visitorOf(test);
    const page = await visitor.get(flow.start_url, headers);
    expect(page.status).toBe(200);
    expect(page.headers.location).toBeUndefined();
    for (const named of [
      'app.example',
      'Acme &#38; Co.',
      'contacts.read',
      wordsFor('en').words.continueTo('Provider'),
    ]) {
      expect(page.text).toContain(named);
    }
    expect(page.text).toContain('<button class="main" disabled data-after-a-second>');
    expect(page.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    const policy = String(page.headers['content-security-policy']);
    for (const part of [`form-action 'self' ${provider.url}`, "frame-ancestors 'none'", "script-src 'self'"]) {
      expect(policy.split('; ')).toContain(part);
    }
    expect((await stateOf(flow)).state).toBe('created');
    expect((await agree(visitor, flow)).get('state')).toMatch(/^[\w-]{43}$/);
  });

  it('has a proof only in a frame', async () => {
    expect(await proofOf('document')).toBeUndefined();
    expect(await proofOf('empty')).toBeUndefined();
    expect(await proofOf('iframe')).toMatch(/^\d+\.[\w-]+\.[\w-]{43}$/);
  });

  it('reads the pages in the language of the browser', async () => {
    const { start_url } = await start();
    const titles = [];
    for (const language of ['de-AT,en;q=0.5', 'en;q=0.3, fr;q=0.9', 'es', 'ja', 'xx, *;q=0.1', 'de;q=0, en']) {
      const page = await visitorOf(test).get(start_url, { ...typedIn, 'accept-language': language });
      titles.push(/<html lang="(..)">[\s\S]*<h1>(.*)<\/h1>/.exec(page.text)?.slice(1).join(' '));
    }
    const wanted = ['de', 'fr', 'es', 'ja', 'en', 'en'];
    expect(titles).toEqual(wanted.map((language) => `${language} ${wordsFor(language).words.askTitle('Provider')}`));
  });
});

describe('A click on the page that asks', () => {
  it.each<[string, Record<string, string>, (proof: string) => Record<string, string>]>([
    ['that another site makes', { ...fromElsewhere, origin: 'https://evil.example' }, (proof) => ({ proof })],
    ['of another origin, in a browser that says no more', { origin: 'https://evil.example' }, (proof) => ({ proof })],
    ['without the proof of the page', openedByUs, () => ({})],
    [
      'with a proof of another page',
      openedByUs,
      (proof) => ({ proof: proof.replace(/^./, (c) => (c === '0' ? '1' : '0')) }),
    ],
  ])('%s does nothing', async (_name, headers, form) => {
    const visitor = visitorOf(test);
    const flow = await start();
    const page = await visitor.get(flow.start_url);
    const answer = await visitor.post(flow.start_url, form(proofIn(page)), headers);
    expect([answer.status, answer.text.includes('data-next')]).toEqual([403, false]);
    expect((await stateOf(flow)).state).toBe('created');
  });

  it('in a browser without the cookie of the page does nothing', async () => {
    const flow = await start();
    const page = await visitorOf(test).get(flow.start_url);
    expect((await visitorOf(test).post(flow.start_url, { proof: proofIn(page) })).status).toBe(403);
    expect((await stateOf(flow)).state).toBe('created');
  });
});

describe('A start address', () => {
  it('works once, and again only for the browser that has gone back', async () => {
    const visitor = visitorOf(test);
    const flow = await start();
    const first = await agree(visitor, flow);
    const somebody = await visitorOf(test).get(flow.start_url);
    expect([somebody.status, somebody.text.includes('no longer valid')]).toEqual([410, true]);
    const second = await agree(visitor, flow);
    expect(second.get('state')).not.toBe(first.get('state'));
    expect((await visitor.get(callbackOf(first), fromElsewhere)).status).toBe(410);
    expect((await visitor.get(callbackOf(second), fromElsewhere)).status).toBe(303);
    expect((await visitor.get(flow.start_url)).status).toBe(410);
    expect((await stateOf(flow)).state).toBe('connected');
  });

  it('ends after ten minutes, and the sign-in says so', async () => {
    const flow = await start();
    await moveBack(flow.id, 10 * 60_000 + 1);
    expect((await visitorOf(test).get(flow.start_url)).status).toBe(410);
    expect(await stateOf(flow)).toMatchObject({ state: 'failed', failure: 'expired' });
    await test.app.keepHouse();
    expect(await entries(flow.id)).toEqual(['sign_in.created scoped_token', 'sign_in.failed worker']);
    await moveBack(flow.id, 25 * 3_600_000);
    await test.app.keepHouse();
    expect((await ask('GET', `${path}/${flow.id}`)).status).toBe(404);
  });

  it('is not used up by programs that look at links', async () => {
    const flow = await startFramed();
    for (const method of ['HEAD', 'OPTIONS', 'PUT']) {
      const answer = await test.request(method, new URL(flow.start_url).pathname, { token: null, headers: openedByUs });
      expect(answer.status, method).toBe(405);
    }
    expect((await stateOf(flow)).state).toBe('created');
  });
});

async function moveBack(id: string, ms: number) {
  const { db } = test.app.store;
  const row = await db.selectFrom('oauth_flows').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  await db
    .updateTable('oauth_flows')
    .set({
      created_at: row.created_at - ms,
      expires_at: row.expires_at - ms,
      ended_at: row.ended_at && row.ended_at - ms,
      link_until: row.link_until && row.link_until - ms,
    })
    .where('id', '=', id)
    .execute();
}

describe('A callback', () => {
  it('with a code of the attacker, in the browser of a victim, does nothing', async () => {
    const attacker = visitorOf(test);
    const flow = await start();
    const asked = await agree(attacker, flow);
    const victim = visitorOf(test);
    await agree(victim, await start());
    const answer = await victim.get(callbackOf(asked), fromElsewhere);
    expect([answer.status, answer.headers.location]).toEqual([410, undefined]);
    expect([(await stateOf(flow)).state, provider.exchanged()]).toEqual(['started', []]);
  });

  it('belongs to its own tab: two tabs of one browser do not disturb each other', async () => {
    const visitor = visitorOf(test);
    const [one, other] = [await start(), await start()];
    const asked = [await agree(visitor, one), await agree(visitor, other)] as const;
    expect(visitor.cookies.size).toBe(2);
    expect((await visitor.get(callbackOf(asked[1], { code: 'second' }), fromElsewhere)).status).toBe(303);
    expect([(await stateOf(one)).state, (await stateOf(other)).state]).toEqual(['started', 'connected']);
    expect((await visitor.get(callbackOf(asked[0], { code: 'first' }), fromElsewhere)).status).toBe(303);
    expect((await stateOf(one)).state).toBe('connected');
    expect(provider.exchanged().map(({ code }) => code)).toEqual(['second', 'first']);
  });

  it('is answered with a harmless page when it comes again, and the code is sent once', async () => {
    const visitor = visitorOf(test);
    const flow = await start();
    const address = callbackOf(await agree(visitor, flow));
    const both = await Promise.all([visitor.get(address, fromElsewhere), visitor.get(address, fromElsewhere)]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 410]);
    const again = await visitor.get(address, fromElsewhere);
    expect(again.status).toBe(410);
    expect(again.text).not.toMatch(/the code|the access token/);
    expect(provider.exchanged()).toHaveLength(1);
    expect((await stateOf(flow)).state).toBe('connected');
  });

  it('takes GET only: a form post brings no cookie', async () => {
    const visitor = visitorOf(test);
    const asked = await agree(visitor, await start());
    const { pathname } = new URL(client.redirect_url);
    for (const method of ['POST', 'HEAD']) {
      const answer = await test.request(method, `${pathname}?${new URL(callbackOf(asked)).searchParams}`, {
        token: null,
      });
      expect(answer.status, method).toBe(405);
    }
    expect(provider.exchanged()).toEqual([]);
  });

  it.each<[string, () => void, Record<string, string>, object]>([
    ['says that the customer said no', () => {}, { error: 'access_denied', code: '' }, { failure: 'denied' }],
    ['says another error', () => {}, { error: 'server_error', code: '' }, { failure: 'refused' }],
    [
      'has a code that the provider refuses',
      () => {
        provider.token = () => ({
          status: 400,
          body: { error: 'invalid_grant', error_description: 'the code is old' },
        });
      },
      {},
      { failure: 'refused' },
    ],
    [
      'comes while the provider does not know the client',
      () => {
        provider.token = () => ({ status: 401, body: { error: 'invalid_client' } });
      },
      {},
      { failure: 'not_possible' },
    ],
    [
      'comes while the provider loses answers',
      () => {
        provider.token = () => ({ lost: true });
      },
      {},
      { failure: 'unreachable' },
    ],
    [
      'comes while the provider sends elsewhere',
      () => {
        provider.token = () => ({ status: 307, headers: { location: `${provider.url}/stolen` } });
      },
      {},
      { failure: 'refused' },
    ],
  ])('that %s ends the sign-in', async (_name, prepare, params, expected) => {
    prepare();
    const { ended, done } = await signIn({}, params);
    expect(ended).toMatchObject({ state: 'failed', credential_id: null, message: expect.any(String), ...expected });
    expect(done.text).toContain(wordsFor('en').words.failedTitle);
    expect(provider.asked.every(({ path: asked }) => asked === '/token')).toBe(true);
  });

  it('is refused with another issuer than promised, and the code is sent nowhere', async () => {
    const issuer = provider.url;
    const id = await makeTemplate(test, (await makeClient(test, { ...provider.endpoints, checks_issuer: true })).id);
    await test.app.store.db
      .updateTable('oauth_clients')
      .set({ issuer })
      .where('organization_id', '=', test.organizationId)
      .where('id', '!=', client.id)
      .execute();
    const cases: Record<string, string>[] = [{ iss: 'https://evil.example' }, {}];
    for (const params of cases) {
      expect((await signIn({ source_template_id: id }, params)).ended).toMatchObject({ failure: 'refused' });
    }
    expect(provider.exchanged()).toEqual([]);
    expect((await signIn({ source_template_id: id }, { iss: issuer })).ended).toMatchObject({ state: 'connected' });
  });
});

describe('A second organization', () => {
  let hostile: Tenant;
  let trap: TestProvider;
  beforeAll(async () => {
    hostile = await addTenant(test, 'hostile');
    trap = await startProvider();
  });
  afterAll(() => trap?.close());

  it('whose provider wants to collect codes gets none: a redirect address belongs to one client', async () => {
    const theirs = await makeClient(hostile, trap.endpoints);
    const visitor = visitorOf(test);
    const flow = await start();
    const asked = await agree(visitor, flow);
    // The customer is lured to the other address, with a good state and a good code.
    const mixed = new URL(callbackOf(asked));
    mixed.pathname = new URL(theirs.redirect_url).pathname;
    expect((await visitor.get(mixed.href, fromElsewhere)).status).toBe(410);
    expect([trap.asked, provider.exchanged()]).toEqual([[], []]);
    expect((await stateOf(flow)).state).toBe('started');
    // And the other way round: its own sign-in ends nowhere else.
    const template = await makeTemplate(hostile, theirs.id);
    const made = await hostile.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'theirs', allowed_origin: 'https://evil.example' },
    });
    const { token } = JSON.parse(Buffer.from(made.body.token, 'base64').toString());
    const begun = await start({ source_template_id: template }, token);
    const theirAsked = await agree(visitor, begun);
    const back = new URL(callbackOf(theirAsked));
    back.pathname = new URL(client.redirect_url).pathname;
    expect((await visitor.get(back.href, fromElsewhere)).status).toBe(410);
    expect([trap.asked, provider.exchanged()]).toEqual([[], []]);
    // Nobody reads, confirms or begins anything of another organization or workspace.
    for (const [method, address] of [
      ['GET', `${path}/${flow.id}`],
      ['POST', `${path}/${flow.id}/confirm`],
    ] as const) {
      expect((await ask(method, address, undefined, token)).status).toBe(404);
    }
    const stranger = await ask('POST', path, { source_template_id: templateId }, token);
    expect(stranger.status).toBe(404);
  });
});

describe('What was granted', () => {
  it('is as asked where the provider does not say it', async () => {
    const { ended } = await signIn();
    const row = await credential(ended.credential_id);
    expect(JSON.parse(row.scopes)).toEqual(['always', 'contacts.read', 'deals.read']);
  });

  it('is compared with what is needed, and what is missing is named', async () => {
    provider.token = () => ({ body: { access_token: 'less', scope: 'always deals.read' } });
    const { ended, done } = await signIn();
    expect(ended).toMatchObject({
      state: 'failed',
      failure: 'scopes_missing',
      missing_scopes: ['contacts.read'],
      credential_id: null,
    });
    expect(done.text).toContain('<code>contacts.read</code>');
    // What is optional may be left out.
    provider.token = () => ({ body: { access_token: 'enough', scope: ['contacts.read'] } });
    expect((await signIn()).ended).toMatchObject({ state: 'connected', missing_scopes: [] });
  });
});

const credential = (id: string) =>
  test.app.store.db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

async function connectSource(template = templateId) {
  const { ended } = await signIn({ source_template_id: template });
  const body = { source_template_id: template, credential_id: ended.credential_id };
  const answer = await ask('POST', '/api/v1/embedded/sources', body);
  expect(answer.status, answer.text).toBe(201);
  return {
    source_id: answer.body.id as string,
    source_template_id: template,
    credentialId: ended.credential_id as string,
  };
}

describe('A source that is connected again', () => {
  it('keeps its credential, and asks for what it holds as well', async () => {
    provider.token = () => ({ body: { access_token: 'one', refresh_token: 'r', scope: 'contacts.read extra' } });
    const { credentialId, ...again } = await connectSource();
    const before = await credential(credentialId);
    const { asked, ended } = await signIn(again);
    expect(asked.get('scope')).toBe('always contacts.read deals.read extra');
    expect(ended).toMatchObject({ state: 'connected', credential_id: credentialId });
    const after = await credential(credentialId);
    expect(after.generation).toBeGreaterThan(before.generation);
  });

  it('asks only for what is missing where the provider adds grants up', async () => {
    const adding = await makeClient(test, { ...provider.endpoints, adds_up_scopes: true });
    const template = await makeTemplate(test, adding.id);
    provider.token = () => ({ body: { access_token: 'one', scope: 'contacts.read' } });
    const { credentialId, ...again } = await connectSource(template);
    provider.token = () => ({ body: { access_token: 'two', scope: 'deals.read' } });
    const { asked, ended } = await signIn(again);
    expect(asked.get('scope')).toBe('deals.read');
    expect(ended).toMatchObject({ state: 'connected', credential_id: credentialId });
    expect(JSON.parse((await credential(credentialId)).scopes).sort()).toEqual(['contacts.read', 'deals.read']);
  });

  it('with another account waits until that is confirmed, by its id and not by its name', async () => {
    const { credentialId, ...again } = await connectSource();
    provider.account = () => ({ body: { id: 7, email: 'ada@renamed.example' } });
    expect((await signIn(again)).ended).toMatchObject({ state: 'connected', account: 'ada@renamed.example' });
    provider.account = () => ({ body: { id: 8, email: 'ada@example.com' } });
    const { flow, ended, done } = await signIn(again);
    expect(ended).toMatchObject({
      state: 'unconfirmed',
      failure: 'other_account',
      account: 'ada@example.com',
      previous_account: 'ada@renamed.example',
      credential_id: null,
    });
    expect(done.text).toContain(wordsFor('en').words.other('ada@example.com', 'ada@renamed.example'));
    const before = await credential(credentialId);
    expect(before.account_label).toBe('ada@renamed.example');
    const confirmed = await ask('POST', `${path}/${flow.id}/confirm`);
    expect(confirmed.body).toMatchObject({ state: 'connected', credential_id: credentialId, failure: null });
    expect((await credential(credentialId)).account_label).toBe('ada@example.com');
    expect((await ask('POST', `${path}/${flow.id}/confirm`)).status).toBe(409);
    expect(await entries(flow.id)).toContain('sign_in.unconfirmed scoped_token');
    // It must be confirmed in time; the tokens are not kept longer.
    provider.account = () => ({ body: { id: 9, email: 'bob@example.com' } });
    const late = await signIn(again);
    await moveBack(late.flow.id, 10 * 60_000 + 1);
    expect((await ask('POST', `${path}/${late.flow.id}/confirm`)).status).toBe(409);
    await test.app.keepHouse();
    const row = await test.app.store.db
      .selectFrom('oauth_flows')
      .selectAll()
      .where('id', '=', late.flow.id)
      .executeTakeFirstOrThrow();
    expect([row.state, row.sealed_secrets]).toEqual(['failed', '']);
  });
});

describe('A sign-in', () => {
  it('without a popup goes back to an address on the list, of the origin of the token', async () => {
    const faults = async (return_to: string, token = widget.inner) =>
      (await ask('POST', path, { source_template_id: templateId, return_to }, token)).status;
    const visitor = visitorOf(test);
    const flow = await start({ return_to: returnTo });
    const back = await visitor.get(callbackOf(await agree(visitor, flow)), fromElsewhere);
    expect([back.status, back.headers.location]).toEqual([303, `${returnTo}&inlay_sign_in=${flow.id}`]);
    for (const bad of [
      'https://evil.example/',
      `${product}/integrations`,
      `${returnTo}#x`,
      'javascript:alert(1)',
      '//x',
    ]) {
      expect(await faults(bad), bad).toBe(422);
    }
    const elsewhere = await widgetToken(test, { workspace_name: 'acme', allowed_origin: 'https://other.example' });
    expect(await faults(returnTo, elsewhere.inner)).toBe(422);
    expect(await faults(returnTo, await test.scopedToken('acme'))).toBe(422);
  });

  it('takes values for the addresses of the provider only as the provider describes them', async () => {
    const described = {
      ...provider.endpoints,
      authorization_url: 'https://{subdomain}.provider.example/authorize',
      values: { subdomain: { title: 'Subdomain' } },
    };
    const template = await makeTemplate(test, (await makeClient(test, described)).id);
    for (const subdomain of ['evil.example/', 'a.b', '', '{x}']) {
      const answer = await ask('POST', path, { source_template_id: template, values: { subdomain } });
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'values', 'subdomain']]);
    }
    const flow = await start({ source_template_id: template, values: { subdomain: 'Acme' } });
    const page = await visitorOf(test).get(flow.start_url);
    expect(String(page.headers['content-security-policy'])).toContain(
      "form-action 'self' https://acme.provider.example;",
    );
  });

  it('is refused where the template has none, or its client cannot be used', async () => {
    const body = { actor_definition_id: httpApi, name: 'Keys', partial_default_config: {} };
    const keys = await test.request('POST', '/api/v1/integrations/templates/sources', { body });
    expect((await ask('POST', path, { source_template_id: keys.body.id })).status).toBe(422);
    const lost = await makeClient(test, provider.endpoints);
    const template = await makeTemplate(test, lost.id);
    const flow = await start({ source_template_id: template });
    await test.app.store.db.deleteFrom('oauth_clients').where('id', '=', lost.id).execute();
    expect((await visitorOf(test).get(flow.start_url)).status).toBe(409);
    expect(await stateOf(flow)).toMatchObject({ state: 'failed', failure: 'not_possible' });
    const answer = await ask('POST', path, { source_template_id: template });
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([409, 'sign_in_not_possible']);
  });
});

describe('A provider that names itself in the redirect', () => {
  const outcomes = async (more: object, answers: (Record<string, string> | [string, string][])[]) => {
    const own = await makeClient(test, { ...provider.endpoints, checks_issuer: true, ...more });
    const template = await makeTemplate(test, own.id);
    const found: string[] = [];
    for (const params of answers) {
      const visitor = visitorOf(test);
      const flow = await start({ source_template_id: template });
      const back = new URL(callbackOf(await agree(visitor, flow)));
      for (const [name, value] of Array.isArray(params) ? params : Object.entries(params)) {
        back.searchParams.append(name, value);
      }
      await visitor.get(back.href, fromElsewhere);
      const { state, failure } = await stateOf(flow);
      found.push(failure ?? state);
    }
    return found;
  };

  it('is believed by its issuer, or by the origin of its sign-in page where the issuer is unknown', async () => {
    const path = `${provider.url}/realms/one`;
    const evil = { iss: 'https://evil.example' };
    const twice: [string, string][] = [
      ['iss', provider.url],
      ['iss', 'https://evil.example'],
    ];
    expect(await outcomes({}, [{ iss: provider.url }, { iss: path }, {}, evil, twice, { iss: 'nonsense' }])).toEqual([
      'connected',
      'connected',
      ...Array(4).fill('refused'),
    ]);
    expect(await outcomes({ issuer: path }, [{ iss: path }, { iss: provider.url }, {}])).toEqual([
      'connected',
      'refused',
      'refused',
    ]);
  });

  it('signs customers in although nobody reads its ID token', async () => {
    provider.token = () => ({ body: { access_token: 'a', id_token: 'not.read.here', expires_in: 60 } });
    expect(await outcomes({ scopes: ['openid'] }, [{ iss: provider.url }])).toEqual(['connected']);
  });
});

describe('A link', () => {
  const links = '/api/v1/integrations/oauth/links';
  async function makeLink(body: object) {
    const workspace_id = await test.workspaceId('acme');
    const answer = await test.request('POST', links, { body: { workspace_id, ...body } });
    expect(answer.status, answer.text).toBe(201);
    return answer.body as { id: string; url: string; expires_at: string };
  }
  const sources = async () => (await ask('GET', '/api/v1/embedded/sources')).body.data as { id: string }[];

  it('asks anyone who opens it, makes a source of its template, and connects once', async () => {
    const link = await makeLink({ source_template_id: templateId, customer_label: 'Linked Inc.' });
    const visitor = visitorOf(test);
    // Not even our own page opens it without a question.
    const page = await visitor.get(link.url, openedByUs);
    expect([page.status, page.text.includes('Linked Inc.')]).toEqual([200, true]);
    const before = (await sources()).length;
    // It can be tried again, also by another browser, until it has connected.
    const denied = await agree(visitor, { start_url: link.url });
    const refused = await visitor.get(callbackOf(denied, { error: 'access_denied', code: '' }), fromElsewhere);
    expect(refused.status).toBe(303);
    const other = visitorOf(test);
    const back = await other.get(callbackOf(await agree(other, { start_url: link.url })), fromElsewhere);
    expect((await other.get(locationOf(back).href)).text).toContain('Connected as ada@example.com.');
    expect(await sources()).toHaveLength(before + 1);
    for (const browser of [visitor, other]) expect((await browser.get(link.url)).status).toBe(410);
    const steps = await entries(link.id);
    expect([steps[0], steps.at(-1)]).toEqual(['sign_in_link.created operator_token', 'sign_in.connected sign_in_link']);
  });

  it('connects a source again, and asks on its last page where the account is another one', async () => {
    const { credentialId, source_id } = await connectSource();
    const link = await makeLink({ source_id });
    provider.account = () => ({ body: { id: 99, email: 'eve@example.com' } });
    const visitor = visitorOf(test);
    const back = await visitor.get(callbackOf(await agree(visitor, { start_url: link.url })), fromElsewhere);
    const done = locationOf(back).href;
    const question = await visitor.get(done);
    expect(question.text).toContain(wordsFor('en').words.confirm);
    const cross = await visitor.post(
      done,
      { proof: proofIn(question) },
      { ...fromElsewhere, origin: 'https://evil.example' },
    );
    expect([cross.status, (await credential(credentialId)).account_label]).toEqual([403, 'ada@example.com']);
    expect((await visitor.post(done, { proof: proofIn(question) })).status).toBe(303);
    expect((await visitor.post(done, { proof: proofIn(question) })).status).toBe(303);
    expect(await credential(credentialId)).toMatchObject({ account_label: 'eve@example.com', state: 'connected' });
    expect((await visitor.get(done)).text).toContain('Connected as eve@example.com.');
  });

  it('ends, and is made only for what the organization has', async () => {
    const link = await makeLink({ source_template_id: templateId, expires_in_seconds: 60 });
    await moveBack(link.id, 61_000);
    expect((await visitorOf(test).get(link.url)).status).toBe(410);
    const workspace_id = await test.workspaceId('acme');
    const { source_id } = await connectSource();
    const stranger = await addTenant(test, 'stranger');
    for (const body of [
      { workspace_id, source_template_id: templateId },
      { workspace_id, source_id },
    ]) {
      expect((await stranger.request('POST', links, { body })).status).toBe(404);
    }
    for (const body of [{ workspace_id }, { workspace_id, source_id, source_template_id: templateId }]) {
      expect((await test.request('POST', links, { body })).status).toBe(422);
    }
    const elsewhere = { workspace_id: await test.workspaceId('elsewhere'), source_id };
    expect((await test.request('POST', links, { body: elsewhere })).status).toBe(404);
  });
});

it('An operator tries a sign-in by API: the result is shown, and nothing is connected', async () => {
  await connectSource();
  const tests = '/api/v1/integrations/oauth/tests';
  const given = provider.token;
  onTestFinished(() => {
    provider.token = given;
  });
  provider.token = () => ({
    body: { access_token: 'tried', refresh_token: 'r', expires_in: 60, scope: 'contacts.read' },
  });
  const begin = async () => (await test.request('POST', tests, { body: { source_template_id: templateId } })).body;
  const read = async (id: string) => (await test.request('GET', `${tests}/${id}`)).body;
  const started = await begin();
  expect(await read(started.id)).toEqual({
    id: started.id,
    state: 'open',
    report: null,
    failure: null,
    message: null,
    revocation: null,
    revocation_error: null,
  });
  const visitor = visitorOf(test);
  expect((await visitor.get(callbackOf(await agree(visitor, started)), fromElsewhere)).status).toBe(303);
  const told = await read(started.id);
  expect(told).toEqual({
    id: started.id,
    state: 'succeeded',
    report: {
      account: 'ada@example.com',
      can_tell_accounts: true,
      scopes_asked: expect.arrayContaining(['contacts.read', 'deals.read']),
      scopes_granted: ['contacts.read'],
      scopes_missing: ['always', 'deals.read'],
      expires_in_seconds: 60,
      has_refresh_token: true,
      values: expect.any(Array),
    },
    failure: null,
    message: null,
    revocation: 'due',
    revocation_error: null,
  });
  await test.app.workers.revocations.pass();
  // Nobody knows whether the account is that of a customer, whose access would end.
  expect(await read(started.id)).toMatchObject({ revocation: 'kept' });
  expect(JSON.stringify(told)).not.toContain('tried');
  // One that the provider refuses; and the sign-in of a customer is no test.
  provider.token = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'too late' } });
  const refused = await begin();
  const other = visitorOf(test);
  await other.get(callbackOf(await agree(other, refused)), fromElsewhere);
  expect(await read(refused.id)).toMatchObject({ state: 'failed', report: null, revocation: null });
  const flow = await startFramed();
  expect((await test.request('GET', `${tests}/${flow.id}`)).status).toBe(404);
  const stranger = await addTenant(test, 'stranger of tests');
  expect((await stranger.request('GET', `${tests}/${started.id}`)).status).toBe(404);
  const foreign = await stranger.request('POST', tests, { body: { source_template_id: templateId } });
  expect(foreign.status).toBe(404);
});

it('Nothing of a sign-in is in the log of the service, in the audit trail or in an answer', async () => {
  const visitor = visitorOf(test);
  const flow = await startFramed();
  const begun = await visitor.get(flow.start_url, openedByUs);
  const asked = locationOf(begun).searchParams;
  const code = 'a very secret code';
  const given = provider.token;
  provider.token = () => ({ status: 400, body: { error: 'invalid_grant', error_description: `${code} is not good` } });
  const back = await visitor.get(callbackOf(asked, { code }), fromElsewhere);
  const failed = await visitor.get(locationOf(back).href);
  provider.token = given;
  const { done, ended } = await signIn();
  const trail = JSON.stringify(await test.app.store.db.selectFrom('log_pending').selectAll().execute());
  const answers = [back, failed, done].map(({ text, headers }) => `${text}${JSON.stringify(headers)}`).join();
  expect(logged).toContain('/oauth/callback/:key');
  const secrets = [
    code,
    'the code',
    'the access token',
    'the refresh token',
    'the client secret',
    asked.get('state') ?? '',
    new URL(flow.start_url).pathname.split('/').at(-1) ?? '',
    ...visitor.cookies.values(),
  ];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(5);
    for (const [where, text] of Object.entries({ logged, trail, answers, ended: JSON.stringify(ended) })) {
      expect(text.includes(secret), `${where}: ${secret}`).toBe(false);
    }
  }
  const stored = JSON.stringify(await test.app.store.db.selectFrom('oauth_flows').selectAll().execute());
  for (const secret of secrets) expect(stored.includes(secret), `stored: ${secret}`).toBe(false);
});

it('A service with a public address of plain http refuses sign-ins, and says what to do', async () => {
  await test.restart({ env: { INLAY_PUBLIC_URL: 'http://inlay.example.com' } });
  try {
    const token = await test.scopedToken('acme');
    const answer = await ask('POST', path, { source_template_id: templateId }, token);
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([409, 'sign_in_needs_https']);
    expect(answer.body.detail).toContain('INLAY_PUBLIC_URL');
  } finally {
    await test.restart();
  }
});
