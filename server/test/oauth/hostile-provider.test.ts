/** A provider that answers a sign-in with odd values. The sign-in always ends, and the reason is recorded. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { widgetToken } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';
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

const path = '/api/v1/embedded/oauth/flows';
const tokens = { access_token: 'the access token', refresh_token: 'the refresh token', expires_in: 3600 };

describeOnOneDatabase('A sign-in with a hostile provider', (kind) => {
  let test: TestApp;
  let provider: TestProvider;
  let widget: Awaited<ReturnType<typeof widgetToken>>;
  let templateId: string;

  beforeAll(async () => {
    provider = await startProvider();
    test = await startTestApp(kind, { env: { INLAY_ALLOW_PRIVATE_NETWORKS: 'true' } });
    const taken = { shop: { from: 'token', path: ['shop'] }, region: { from: 'redirect', path: ['region'] } };
    const client = await makeClient(test, { ...provider.endpoints, taken } as TestProvider['endpoints']);
    templateId = await makeSignInTemplate(test, client.id);
    widget = await widgetToken(test, { workspace_name: 'acme', allowed_origin: 'https://app.example' });
  });
  beforeEach(() => {
    provider.token = () => ({ body: tokens });
    provider.account = () => ({ body: { id: 7, email: 'ada@example.com' } });
  });
  afterAll(async () => {
    await test?.stop();
    provider?.close();
  });

  const ask = (method: string, address: string, body?: object) =>
    test.request(method, address, { token: widget.inner, ...(body && { body }) });

  /** Signs in; `params` are added to what the provider sends back with the browser. */
  async function signIn(params: Record<string, string> = {}, id = templateId) {
    const flow = (await ask('POST', path, { source_template_id: id })).body;
    const visitor = visitorOf(test);
    const page = await visitor.get(flow.start_url);
    const gone = nextIn(await visitor.post(flow.start_url, { proof: proofIn(page) })).searchParams;
    const query = new URLSearchParams({ code: 'the code', state: gone.get('state') ?? '', ...params });
    const back = await visitor.get(`${gone.get('redirect_uri')}?${query}`, fromElsewhere);
    expect(back.status, back.text).toBe(303);
    return { ...(await ask('GET', `${path}/${flow.id}`)).body, said: await saidOf(flow.id) };
  }
  async function saidOf(id: string): Promise<string | null> {
    const row = await test.app.store.db
      .selectFrom('oauth_flows')
      .select('failure_detail')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return row.failure_detail;
  }
  async function listed() {
    const answer = await test.request('GET', '/api/v1/integrations/credentials');
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  }

  it.each<[string, unknown]>([
    ['1e16', 1e16],
    ['2^53 - 1', 2 ** 53 - 1],
    ['a text', '3600'],
    ['a negative number', -1],
    ['a fraction', 0.5],
    ['an object', {}],
  ])(
    'is connected where the token ends in %s seconds, and the operator can list credentials',
    async (_name, expires_in) => {
      provider.token = () => ({ body: { ...tokens, expires_in } });
      const ended = await signIn();
      expect(ended).toMatchObject({ state: 'connected', failure: null });
      const shown = (await listed()).find(({ id }: { id: string }) => id === ended.credential_id);
      if (shown.access_token_expires_at !== null) expect(shown.access_token_expires_at).toMatch(/^20\d\d-/);
    },
  );

  it.each<[string, string]>([
    ['U+0000', 'a\u0000b'],
    ['half a pair', 'a\udc00b'],
    ['control characters', 'a\r\n\u001b\u0085\u202eb'],
    ['a hundred thousand characters', 'x'.repeat(100_000)],
  ])('is connected with %s in whatever the provider says beside the tokens', async (_name, odd) => {
    provider.token = () => ({ body: { ...tokens, scope: ['contacts.read', odd], shop: odd, team: { name: odd } } });
    provider.account = () => ({ body: { id: odd, email: odd } });
    const ended = await signIn({ region: odd.slice(0, 2_000) });
    expect(ended).toMatchObject({ state: 'connected', failure: null });
    expect(ended.account).toMatch(/^[^\p{Cc}\p{Cs}\u202e]{1,255}$/u);
    const shown = (await listed()).find(({ id }: { id: string }) => id === ended.credential_id);
    expect(shown.scopes).toContain('contacts.read');
    expect(JSON.stringify(shown).length).toBeLessThan(5_000);
  });

  it.each<[string, string]>([
    ['U+0000', 'a\u0000b'],
    ['half a pair', 'a\ud800b'],
    ['a megabyte', 'x'.repeat(900_000)],
  ])('ends as refused, with its words, where the token endpoint refuses with %s', async (_name, odd) => {
    provider.token = () => ({ status: 400, body: { error: 'invalid_grant', error_description: odd } });
    const ended = await signIn();
    expect(ended).toMatchObject({ state: 'failed', failure: 'refused' });
    expect(ended.said).toMatch(/^invalid_grant: [^\p{Cc}\p{Cs}]+$/u);
    expect(ended.said.length).toBeLessThanOrEqual(500);
  });

  it.each<[string, Record<string, string>]>([
    ['U+0000', { error: 'server_error', error_description: 'a\u0000b' }],
    ['U+0000 in the code of the error', { error: 'a\u0000b' }],
    ['four thousand characters', { error: 'x'.repeat(2_000), error_description: 'y'.repeat(2_000) }],
  ])('ends as refused where the provider sends the browser back with %s', async (_name, params) => {
    const ended = await signIn(params);
    expect(ended).toMatchObject({ state: 'failed', failure: 'refused' });
    expect(ended.said).toMatch(/^[^\p{Cc}\p{Cs}]{1,500}$/u);
  });

  it.each<[string, object]>([
    ['U+0000 in the access token', { ...tokens, access_token: 'a\u0000b' }],
    ['a line break in the access token', { ...tokens, access_token: 'a\r\nb: c' }],
    ['an access token of a megabyte', { ...tokens, access_token: 'x'.repeat(900_000) }],
    ['U+0000 in the refresh token', { ...tokens, refresh_token: 'a\u0000b' }],
    ['a refresh token that is an object', { ...tokens, refresh_token: {} }],
    ['a token that needs a key', { ...tokens, token_type: 'mac' }],
    ['no token', { ok: true }],
  ])('ends as refused, and says why, with %s', async (_name, body) => {
    provider.token = () => ({ body });
    const ended = await signIn();
    expect(ended).toMatchObject({ state: 'failed', failure: 'refused', credential_id: null });
    expect(ended.said).toMatch(/token/);
    expect(ended.said).not.toContain('b: c');
  });

  it.each<[string, unknown, string[]]>([
    ['an empty text', '', ['contacts.read']],
    ['an empty list', [], ['contacts.read']],
    ['another scope', 'deals.read', ['contacts.read']],
  ])('was granted too little where the scope is %s', async (_name, scope, missing) => {
    provider.token = () => ({ body: { ...tokens, scope } });
    expect(await signIn()).toMatchObject({ state: 'failed', failure: 'scopes_missing', missing_scopes: missing });
  });

  it.each<[string, object]>([
    ['500', { status: 500, body: '' }],
    ['503 with tokens', { status: 503, body: tokens }],
    ['the page of a proxy', { status: 403, body: '<html>' }],
  ])('ends as unreachable where the provider answers with %s', async (_name, answer) => {
    provider.token = () => answer;
    expect(await signIn()).toMatchObject({ state: 'failed', failure: 'unreachable' });
  });

  it('needs no issuer to ask for openid', async () => {
    const client = await makeClient(test, { ...provider.endpoints, scopes: ['openid'] });
    const id = await makeSignInTemplate(test, client.id);
    provider.token = () => ({ body: { ...tokens, id_token: 'x.y.z' } });
    expect(await signIn({}, id)).toMatchObject({ state: 'connected' });
  });

  it('ends as failed where the service cannot read what the template requires', async () => {
    const { db } = test.app.store;
    const { oauth } = await db
      .selectFrom('source_templates')
      .select('oauth')
      .where('id', '=', templateId)
      .executeTakeFirstOrThrow();
    const put = (text: string | null) =>
      db.updateTable('source_templates').set({ oauth: text }).where('id', '=', templateId).execute();
    provider.token = async () => {
      await put('{');
      return { body: tokens };
    };
    const ended = await signIn().finally(() => put(oauth));
    expect(ended).toMatchObject({ state: 'failed', failure: 'not_possible' });
    expect(ended.said).not.toBeNull();
  });

  it('ends as failed where the tokens cannot be stored', async () => {
    const { db } = test.app.store;
    const rename = (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db);
    provider.account = async () => {
      await rename('credentials', 'credentials_elsewhere');
      return { body: { id: 7, email: 'ada@example.com' } };
    };
    const ended = await signIn().finally(() => rename('credentials_elsewhere', 'credentials'));
    expect(ended).toMatchObject({ state: 'failed', failure: 'not_possible' });
    expect(ended.said).not.toBeNull();
  });
});
