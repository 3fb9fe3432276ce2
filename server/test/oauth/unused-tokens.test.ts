/**
 * Tokens that a provider has issued and that no source uses: tokens that nobody will use are revoked at the provider, and
 * a sign-in by a link waits until its customer has created the source.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { wordsFor } from '../../src/credentials/sign-in/page-words.ts';
import { runCommandLine } from '../../src/edge/cli/cli.ts';
import { type Answer, startTestApp, type TestApp } from '../support/app.ts';
import {
  locationOf,
  makeClient,
  makeSignInTemplate,
  nextIn,
  openedByUs,
  proofIn,
  startProvider,
  type TestProvider,
  type Visitor,
  visitorOf,
} from '../support/providers.ts';

const flows = '/api/v1/embedded/oauth/flows';
const minute = 60_000;
let test: TestApp;
let provider: TestProvider;
let token: string;
let templateId: string;
let given = 0;

beforeAll(async () => {
  provider = await startProvider();
  test = await startTestApp('sqlite', { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
  const endpoints = { ...provider.endpoints, revocation_url: `${provider.url}/revoke` };
  templateId = await makeSignInTemplate(test, (await makeClient(test, endpoints)).id);
});
beforeEach(async () => {
  // Customers do not see each other, so each test has a customer and an account of its own.
  given++;
  token = await test.scopedToken(`customer ${given}`);
  provider.asked.length = 0;
  signsInAs(given);
});
afterAll(async () => {
  await test?.stop();
  provider?.close();
});

function signsInAs(account: number, refreshToken = `refresh ${account}`, scope = 'contacts.read deals.read'): void {
  provider.account = () => ({ body: { id: account, email: `${account}@example.com` } });
  provider.token = () => ({ body: { access_token: 'access', refresh_token: refreshToken, expires_in: 3600, scope } });
}

const ask = (method: string, path: string, body?: object) =>
  test.request(method, path, { token, ...(body && { body }) });

/** Agrees on the page that asks, and comes back from the provider. */
async function comeBack(visitor: Visitor, startUrl: string): Promise<Answer> {
  const question = await visitor.get(startUrl);
  const sent = await visitor.post(startUrl, { proof: proofIn(question) }, openedByUs);
  const asked = nextIn(sent).searchParams;
  const params = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
  const back = await visitor.get(`${asked.get('redirect_uri')}?${params}`);
  expect(back.status, back.text).toBe(303);
  return back;
}

async function signIn(body: object = {}) {
  const begun = await ask('POST', flows, { source_template_id: templateId, ...body });
  expect(begun.status, begun.text).toBe(201);
  await comeBack(visitorOf(test), begun.body.start_url);
  return (await ask('GET', `${flows}/${begun.body.id}`)).body;
}

async function connectSource(): Promise<{ source_id: string; credentialId: string }> {
  const { credential_id: credentialId } = await signIn();
  const made = await ask('POST', '/api/v1/embedded/sources', {
    source_template_id: templateId,
    credential_id: credentialId,
  });
  expect(made.status, made.text).toBe(201);
  return { source_id: made.body.id, credentialId };
}

/** The provider's revocations after that much time. */
async function revokedAfter(ms: number): Promise<string[]> {
  await test.app.store.db
    .updateTable('credentials')
    .set(({ eb }) => ({ revoke_due_at: eb('revoke_due_at', '-', ms) }))
    .where('revoke_due_at', 'is not', null)
    .execute();
  await test.app.workers.revocations.pass();
  return provider.asked.flatMap(({ path, form }) => (path === '/revoke' ? [form.token ?? ''] : []));
}

const listed = async () => {
  const workspace = await test.workspaceId(`customer ${given}`);
  return (await test.request('GET', `/api/v1/integrations/credentials?workspace_id=${workspace}`)).body.data;
};

it('A sign-in that was granted too little is revoked once the customer has had time to try again', async () => {
  signsInAs(given, 'too little', 'deals.read');
  expect(await signIn()).toMatchObject({ state: 'failed', failure: 'scopes_missing', credential_id: null });
  expect(await listed()).toMatchObject([{ state: 'ended', revocation: 'due', account: `${given}@example.com` }]);
  expect(await revokedAfter(10 * minute)).toEqual([]);
  expect(await revokedAfter(10 * minute)).toEqual(['too little']);
  expect(await listed()).toMatchObject([{ state: 'ended', revocation: 'done' }]);
});

it('A grant that the customer has given again meanwhile is kept: many providers would end it as a whole', async () => {
  signsInAs(given, 'too little', 'deals.read');
  await signIn();
  signsInAs(given, 'enough');
  expect(await signIn()).toMatchObject({ state: 'connected' });
  expect(await revokedAfter(20 * minute)).toEqual([]);
  expect(await listed()).toMatchObject([{ state: 'connected' }, { state: 'ended', revocation: 'kept' }]);
});

it('Nothing is revoked where the account may be one that the customer uses', async () => {
  await connectSource();
  signsInAs(given, 'whose?', 'deals.read');
  provider.account = () => ({ status: 403 });
  expect(await signIn()).toMatchObject({ failure: 'scopes_missing' });
  expect(await revokedAfter(20 * minute)).toEqual([]);
});

it('Another account that nobody has confirmed in time is revoked, and the source keeps its own', async () => {
  const { source_id, credentialId } = await connectSource();
  signsInAs(given + 1_000, 'never confirmed');
  const flow = await signIn({ source_id });
  expect(flow).toMatchObject({ state: 'unconfirmed' });
  expect(await revokedAfter(20 * minute)).toEqual([]);
  await test.app.store.db.updateTable('oauth_flows').set({ expires_at: 1 }).where('id', '=', flow.id).execute();
  await test.app.keepHouse();
  await test.app.keepHouse();
  expect(await revokedAfter(20 * minute)).toEqual(['never confirmed']);
  expect((await listed()).find(({ id }: { id: string }) => id === credentialId)).toMatchObject({ state: 'connected' });
});

it('The account of before is revoked when another one was confirmed in its place', async () => {
  const { source_id, credentialId } = await connectSource();
  signsInAs(given + 1_000, 'another');
  const { id } = await signIn({ source_id });
  expect((await ask('POST', `${flows}/${id}/confirm`)).body).toMatchObject({ credential_id: credentialId });
  expect(await revokedAfter(20 * minute)).toEqual([`refresh ${given}`]);
  expect((await ask('GET', `/api/v1/embedded/credentials/${credentialId}`)).body).toMatchObject({ state: 'connected' });
});

it('A sign-in that ended while the provider was still asked says so, and its tokens are revoked', async () => {
  const account = { body: { id: given, email: 'late@example.com' } };
  provider.account = async () => {
    // What the housekeeping of another replica does meanwhile.
    await test.app.store.db
      .updateTable('oauth_flows')
      .set({ expires_at: 1 })
      .where('state', '=', 'exchanging')
      .execute();
    await test.app.keepHouse();
    return account;
  };
  const flow = await signIn();
  expect(flow).toMatchObject({ state: 'failed', failure: 'expired', credential_id: null });
  expect(await revokedAfter(20 * minute)).toEqual([`refresh ${given}`]);
});

it('Nothing that a customer has signed in for survives the workspace, and the provider is notified', async () => {
  const workspace_id = await test.workspaceId(`customer ${given}`);
  const { credential_id: waiting } = await signIn();
  signsInAs(given + 1_000, 'of a source');
  const { source_id } = await connectSource();
  signsInAs(given + 2_000, 'unconfirmed');
  expect(await signIn({ source_id })).toMatchObject({ state: 'unconfirmed' });
  const begun = await ask('POST', flows, { source_template_id: templateId });
  const link = await test.request('POST', '/api/v1/integrations/oauth/links', {
    body: { workspace_id, source_template_id: templateId },
  });
  const gone = await test.request('DELETE', `/api/v1/workspaces/${workspace_id}`);
  expect(gone.status, gone.text).toBe(200);
  const { db } = test.app.store;
  const left = await db.selectFrom('oauth_flows').select('id').where('workspace_id', '=', workspace_id).execute();
  expect(left).toEqual([]);
  const states = await db.selectFrom('credentials').selectAll().where('workspace_id', '=', workspace_id).execute();
  expect(states.map(({ state }) => state)).toEqual(['ended', 'ended', 'ended']);
  for (const url of [begun.body.start_url, link.body.url]) expect((await visitorOf(test).get(url)).status).toBe(410);
  expect((await revokedAfter(20 * minute)).sort()).toEqual(['of a source', `refresh ${given}`, 'unconfirmed']);
  const ends = await db.selectFrom('log_pending').selectAll().where('type', '=', 'credential.revoked').execute();
  expect(ends.filter(({ data }) => data.includes(waiting))).toHaveLength(1);
});

it('A sign-in that comes back after its workspace was deleted keeps nothing', async () => {
  const workspace_id = await test.workspaceId(`customer ${given}`);
  const visitor = visitorOf(test);
  const begun = await ask('POST', flows, { source_template_id: templateId });
  provider.account = async () => {
    await test.request('DELETE', `/api/v1/workspaces/${workspace_id}`);
    return { body: { id: given } };
  };
  await comeBack(visitor, begun.body.start_url);
  const { db } = test.app.store;
  const kept = await db.selectFrom('credentials').select('state').where('workspace_id', '=', workspace_id).execute();
  expect(kept).toEqual([{ state: 'ended' }]);
  expect(await revokedAfter(20 * minute)).toEqual([`refresh ${given}`]);
});

it('A link for a template that asks for more keeps the sign-in, and the customer finishes in the widget', async () => {
  const { body: client } = await test.request('GET', '/api/v1/integrations/oauth/clients');
  const asking = await makeSignInTemplate(test, client.data[0].id, {}, { base_url: undefined });
  const workspace_id = await test.workspaceId(`customer ${given}`);
  const link = await test.request('POST', '/api/v1/integrations/oauth/links', {
    body: { workspace_id, source_template_id: asking },
  });
  expect(link.status, link.text).toBe(201);
  const visitor = visitorOf(test);
  const done = await comeBack(visitor, link.body.url);
  const page = await visitor.get(locationOf(done).href, { 'accept-language': 'de' });
  expect(page.text).toContain(wordsFor('de').words.oneStepLeft('Provider'));

  const unused = async (template = asking, as = token) =>
    (await test.request('GET', `/api/v1/embedded/credentials?source_template_id=${template}`, { token: as })).body.data;
  const [waiting, ...others] = await unused();
  expect([waiting, others]).toMatchObject([{ state: 'connected', account: `${given}@example.com` }, []]);
  expect(await unused(templateId)).toEqual([]);
  expect(await unused(asking, await test.scopedToken('someone else'))).toEqual([]);
  // It waits as long as the link would have worked.
  const signedIn = (ms: number) =>
    test.app.store.db.updateTable('credentials').set({ signed_in_at: ms }).where('id', '=', waiting.id).execute();
  await signedIn(1);
  await test.app.keepHouse();
  expect(await unused()).toHaveLength(1);
  const source = { source_template_id: asking, credential_id: waiting.id };
  const made = await ask('POST', '/api/v1/embedded/sources', {
    ...source,
    source_config: { base_url: 'https://api.example.com' },
  });
  expect(made.status, made.text).toBe(201);
  expect(await unused()).toEqual([]);
  expect((await visitor.get(locationOf(done).href)).text).not.toContain(wordsFor('en').words.oneStepLeft('Provider'));
});

describe('`inlay oauth test`', () => {
  /** Its output, and its revocations at the provider, after someone has signed in. */
  async function tryOut(
    template = templateId,
    more = {},
  ): Promise<{ printed: string; code: number; revoked: string[] }> {
    const { env, exitCode } = process;
    let printed = '';
    const streams = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text) => {
        printed += text;
        return true;
      }),
    );
    process.env = { ...env, ...test.env, ...more };
    process.exitCode = 0;
    onTestFinished(() => {
      process.env = env;
      process.exitCode = exitCode;
      for (const stream of streams) stream.mockRestore();
    });
    const running = runCommandLine(['oauth', 'test', template, '--organization', test.organizationId]);
    await expect.poll(() => printed).toMatch(/oauth\/start/);
    await comeBack(visitorOf(test), /http\S+\/oauth\/start\/\S+/.exec(printed)?.[0] ?? '');
    const revoked = await revokedAfter(0);
    await running;
    return { printed, code: Number(process.exitCode), revoked };
  }

  it.each(['store', 'API'])(
    'signs in as a customer would, says what came back, keeps nothing, and has the tokens ended (%s)',
    async (by) => {
      const usable = async () =>
        await test.app.store.db
          .selectFrom('credentials')
          .select('id')
          .where((is) => is.or([is('state', '<>', 'ended'), is('sealed_tokens', '<>', '')]))
          .execute();
      const before = await usable();
      signsInAs(given, 'tried', 'contacts.read');
      const overApi = async () => ({
        INLAY_URL: await test.app.http.listen({ host: '127.0.0.1', port: 0 }),
        INLAY_OPERATOR_TOKEN: test.operatorToken,
      });
      const { printed, revoked } = await tryOut(templateId, by === 'API' ? await overApi() : {});
      expect(printed).toContain(`Signed in as ${given}@example.com.`);
      expect(printed).toMatch(/Scopes granted +contacts\.read\n +Not granted +deals\.read\n/);
      expect(printed).toMatch(/Access token +expires in 3600 seconds\n +Refresh token +yes/);
      expect(printed).toMatch(/Nothing was connected\. .*revoked/);
      expect(printed).not.toMatch(/tried|the client secret/);
      expect(revoked).toEqual(['tried']);
      expect(await usable()).toEqual(before);
    },
  );

  it('has the tokens ended of a sign-in that was granted too little, too', async () => {
    signsInAs(given, 'too little for a test', 'deals.read');
    const { printed, code, revoked } = await tryOut();
    expect(printed).toMatch(/Missing: contacts\.read\. .*revoked/);
    expect([code, revoked]).toEqual([1, ['too little for a test']]);
  });

  it('leaves tokens alone whose end would take the access of a customer, and says so', async () => {
    await connectSource();
    signsInAs(given, 'shared');
    const { printed, revoked } = await tryOut();
    expect(printed).toContain('uses the same account');
    expect(revoked).toEqual([]);
  });

  it('says where tokens cannot be ended, and that a provider did not do it yet', async () => {
    const client = await makeClient(test, provider.endpoints);
    expect((await tryOut(await makeSignInTemplate(test, client.id))).printed).toContain('it has no revocation_url');
    signsInAs(given, 'later');
    const answer = provider.token;
    provider.token = (asked) => (asked.path === '/revoke' ? { status: 503 } : answer(asked));
    expect((await tryOut()).printed).toMatch(/not revoked .*\(.* 503\.\)/);
    provider.token = answer;
    expect(await revokedAfter(20 * minute)).toEqual(['later', 'later']);
  });
});
