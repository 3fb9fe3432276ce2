/** Who keeps tokens where the platform is a process of its own, what happens to those of earlier versions, and what doctor says. */
import { sql } from 'kysely';
import { afterEach, expect, it, vi } from 'vitest';
import { freePort } from '../../../scripts/disposable.mjs';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { examine } from '../../src/edge/deployment/doctor.ts';
import { migrate } from '../../src/kernel/db/migrations.ts';
import type { SourceRow } from '../../src/kernel/db/tables.ts';
import type { PlatformAnswer, Transport } from '../../src/kernel/platform/transport.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { makeConnectionTemplate } from '../support/pipelines.ts';
import { application, type PlatformAlone, startPlatformAlone } from '../support/platform-alone.ts';
import { type RotatingProvider, startRotatingProvider } from '../support/rotating-provider.ts';
import { startSigningIn } from '../support/signing-in.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Options {
  /** Answers in place of the platform. */
  answer?: (path: string) => PlatformAnswer | undefined;
  platform?: Parameters<typeof startPlatformAlone>[1];
  own?: object;
  /** Whether the platform knows where the service is. */
  isTold?: boolean;
}

interface Started {
  test: TestApp;
  platform: PlatformAlone;
  rotating: RotatingProvider;
  serviceUrl: string;
  customer: Awaited<ReturnType<typeof startSigningIn>>;
  listen(): Promise<void>;
  credential(): Promise<Record<string, unknown>>;
  onPlatform(path: string, body?: object): Promise<PlatformAnswer & { body: ReturnType<typeof JSON.parse> }>;
  setUp(): Promise<void>;
  tried(): Promise<SourceRow>;
}

const answering =
  (answer: NonNullable<Options['answer']>) =>
  (transport: Transport): Transport => ({
    ...transport,
    send: async (request) => answer(request.path) ?? (await transport.send(request)),
  });

async function start({ answer = () => undefined, platform: how, own, isTold = true }: Options = {}): Promise<Started> {
  const rotating = await startRotatingProvider({ tokenSeconds: 3_600 });
  open.push(rotating.close);
  const port = await freePort();
  const serviceUrl = `http://127.0.0.1:${port}`;
  const platform = await startPlatformAlone(isTold ? serviceUrl : undefined, how);
  open.push(platform.stop);
  const test = await startTestApp('sqlite', {
    env: platform.env,
    overrides: { wrapTransport: answering((path) => answer(path)) },
  });
  open.push(test.stop);
  const listen = async () => void (await test.app.http.listen({ host: '127.0.0.1', port }));
  await listen();
  await makeConnectionTemplate(test);
  const customer = await startSigningIn(test, { ...rotating, ...(own && { own }) });
  const base = String(platform.env.INLAY_PLATFORM_URL);
  const onPlatform: Started['onPlatform'] = async (path, body) => {
    const post = async (where: string, what: object, token?: string) =>
      await fetch(`${base}${where}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(what),
      });
    const credentials = { client_id: application.clientId, client_secret: application.clientSecret };
    const { access_token } = (await (await post('/applications/token', credentials)).json()) as Record<string, string>;
    const reply = body
      ? await post(path, body, access_token)
      : await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${access_token}` } });
    const text = await reply.text();
    return { status: reply.status, headers: {}, text, body: JSON.parse(text) };
  };
  /** The source after the worker has retried, whatever the outcome. */
  const tried = async () => {
    const { db } = test.app.store;
    const source = async () => await db.selectFrom('sources').selectAll().executeTakeFirstOrThrow();
    const isFree = async () => (await source()).lease_until <= (await test.app.store.now());
    await vi.waitUntil(isFree, quickly);
    await db.updateTable('sources').set({ due_at: 0, no_post_before: 0 }).where('due_at', 'is not', null).execute();
    await test.app.workers.setUps.pass();
    await vi.waitUntil(isFree, quickly);
    return await source();
  };
  return {
    ...{ test, platform, rotating, serviceUrl, customer, listen, onPlatform },
    credential: async () => await test.app.store.db.selectFrom('credentials').selectAll().executeTakeFirstOrThrow(),
    async setUp() {
      await vi.waitUntil(async () => (await tried()).due_at === null, quickly);
    },
    tried,
  };
}

const quickly = { timeout: 120_000, interval: 50 };

async function sync({ onPlatform }: Started) {
  const [{ connectionId }] = (await onPlatform('/connections')).body.data;
  const { jobId } = (await onPlatform('/jobs', { connectionId, jobType: 'sync' })).body;
  const job = async () => (await onPlatform(`/jobs/${jobId}`)).body;
  await vi.waitUntil(async () => ['succeeded', 'failed'].includes((await job()).status), quickly);
  return await job();
}

const hosted: NonNullable<Options['answer']> = (path) =>
  path.startsWith('/credentials') ? { status: 404, headers: {}, text: '{}' } : undefined;

it('The service keeps and refreshes tokens; checks, discovery and syncs get them over the channel, also in the middle', async () => {
  const started = await start();
  const { customer, rotating, credential, setUp, onPlatform, platform } = started;
  const credential_id = await customer.signIn();
  expect(await customer.check(credential_id)).toMatchObject({ status: 'succeeded' });
  await customer.ask('POST', '/sources', { source_template_id: customer.source_template_id, credential_id });
  await setUp();
  expect(await credential()).toMatchObject({ owner: 'service', generation: 1 });
  const { data } = (await onPlatform('/sources')).body;
  expect(data).toMatchObject([{ credential: { id: credential_id } }]);
  expect(JSON.stringify(data)).not.toMatch(/access-|refresh-/);
  // The token has an hour to live when the API refuses it: the connector asks for another one while it runs.
  rotating.endTokens();
  expect(await sync(started)).toMatchObject({ status: 'succeeded', failedAttempts: 0, rowsSynced: 1 });
  expect(await credential()).toMatchObject({ owner: 'service', generation: 2, state: 'connected' });
  expect(platform.channel.outage()).toBeUndefined();
});

it("Tokens of the operator's own reach such a platform as well", async () => {
  const started = await start({ own: { grant: 'client_credentials' } });
  await started.customer.ask('POST', '/sources', { source_template_id: started.customer.source_template_id });
  await started.setUp();
  expect(await sync(started)).toMatchObject({ status: 'succeeded', rowsSynced: 1 });
});

itInLongRun(
  'A customer who signs in while the platform is away keeps everything; nothing is handed over on a guess',
  async () => {
    let failing: PlatformAnswer | undefined;
    const started = await start({ answer: (path) => (path.startsWith('/credentials') ? failing : undefined) });
    failing = { status: 503, headers: {}, text: '' };
    const { customer, credential, setUp, tried, onPlatform } = started;
    const credential_id = await customer.signIn();
    await customer.ask('POST', '/sources', { source_template_id: customer.source_template_id, credential_id });
    for (const status of [503, 500, 429, 401]) {
      failing = { status, headers: {}, text: '' };
      expect(await tried()).toMatchObject({ failure: null, last_error: expect.stringContaining(String(status)) });
      expect(await credential(), String(status)).toMatchObject({ owner: 'service' });
      expect((await onPlatform('/sources')).body.data).toEqual([]);
    }
    // An earlier version of the platform, which cannot ask, is waited for as well.
    failing = { status: 200, headers: {}, text: '{"areResolved":false}' };
    expect(await tried()).toMatchObject({ failure: null, last_error: expect.stringContaining('update it') });
    expect((await onPlatform('/sources')).body.data).toEqual([]);
    failing = undefined;
    await setUp();
    expect((await onPlatform('/sources')).body.data).toMatchObject([{ credential: { id: credential_id } }]);
    expect(await credential()).toMatchObject({ owner: 'service', state: 'connected' });
  },
);

/** As an earlier version left it: it took such a platform for a hosted one. */
async function startHandedOver() {
  let answer: NonNullable<Options['answer']> = hosted;
  const started = await start({ answer: (path) => answer(path) });
  const { customer, credential, setUp, test } = started;
  const credential_id = await customer.signIn();
  const { source_template_id } = customer;
  const { id: sourceId } = await customer.ask('POST', '/sources', { source_template_id, credential_id });
  await setUp();
  expect(await credential()).toMatchObject({ owner: 'platform', sealed_tokens: '' });
  answer = () => undefined;
  return { ...started, sourceId, update: () => test.app.store.db.updateTable('credentials') };
}

itInLongRun(
  'Tokens that an earlier version gave away end, and the customer is asked once; a new sign-in stays with the service',
  async () => {
    const started = await startHandedOver();
    const { customer, credential, setUp, test, onPlatform, sourceId, update, rotating } = started;
    // A platform that still has a token which works is left alone.
    await test.app.workers.refreshWorker.pass();
    expect(await credential()).toMatchObject({ state: 'connected' });
    await update().set({ access_expires_at: 1 }).execute();
    await sql`delete from migrations where name = '0049-ends-of-handed-over-tokens'`.execute(test.app.store.db);
    await migrate(test.app.store);
    await test.app.workers.refreshWorker.pass();
    await test.app.workers.refreshWorker.pass();
    expect(await credential()).toMatchObject({ state: 'needs_attention', reason: 'expired' });
    await test.app.workers.sequencer.pass();
    const { data: events } = (await test.request('GET', '/api/v1/events?limit=100')).body;
    expect(events.filter(({ type }: { type: string }) => type === 'source.needs_attention')).toHaveLength(1);

    await customer.signIn({ source_id: sourceId });
    await setUp();
    expect(await credential()).toMatchObject({ owner: 'service', state: 'connected' });
    expect((await onPlatform('/sources')).body.data).toMatchObject([{ credential: { id: (await credential()).id } }]);
    rotating.endTokens();
    expect(await sync(started)).toMatchObject({ status: 'succeeded', rowsSynced: 1 });
  },
);

itInLongRun(
  'A connector that an earlier version gave the refresh token to continues automatically, and the customer is not asked',
  async () => {
    const { update, test, credential } = await startHandedOver();
    const { db } = test.app.store;
    const { oauth } = await db.selectFrom('source_templates').select('oauth').executeTakeFirstOrThrow();
    const handsOver = JSON.stringify({ ...JSON.parse(oauth ?? ''), hand_over: 'refresh_token' });
    await db.updateTable('source_templates').set({ oauth: handsOver }).execute();
    await update().set({ access_expires_at: 1, refresh_due_at: 1 }).execute();
    await test.app.workers.refreshWorker.pass();
    expect(await credential()).toMatchObject({ owner: 'platform', state: 'connected', refresh_due_at: null });
  },
);

itInLongRun(
  'Tokens that an earlier version meant to give away, and still has, are refreshed by the service again',
  async () => {
    const { customer, credential, test, rotating } = await start();
    await customer.signIn();
    await test.app.store.db
      .updateTable('credentials')
      .set({ owner: 'platform', access_expires_at: 1, refresh_due_at: 1 })
      .execute();
    await test.app.workers.refreshWorker.pass();
    expect(await credential()).toMatchObject({ owner: 'service', generation: 2, state: 'connected' });
    expect(rotating.reused).toEqual([]);
  },
);

it('A hosted platform still gets the tokens once, and the service does not refresh them any more', async () => {
  const { customer, credential, test, setUp, rotating } = await start({ answer: hosted });
  const credential_id = await customer.signIn();
  expect(await credential()).toMatchObject({ owner: 'service' });
  await customer.ask('POST', '/sources', { source_template_id: customer.source_template_id, credential_id });
  await setUp();
  expect(await credential()).toMatchObject({ owner: 'platform', sealed_tokens: '', refresh_due_at: null });
  await test.app.store.db.updateTable('credentials').set({ access_expires_at: 1, refresh_due_at: 1 }).execute();
  await test.app.workers.refreshWorker.pass();
  expect(await credential()).toMatchObject({ state: 'connected', refresh_due_at: null });
  expect(rotating.issued()).toBe(1);
  const at = `/api/v1/integrations/templates/sources/${customer.source_template_id}`;
  const { oauth } = (await test.request('GET', at)).body;
  const own = { oauth: { ...oauth, grant: 'client_credentials' } };
  const refused = await test.request('PATCH', at, { body: own });
  expect([refused.status, refused.body.detail[0].msg]).toEqual([422, expect.stringContaining('hosted platform')]);
});

it('doctor says from both sides whether the platform gets tokens, and what to do', async () => {
  const told = async (env: Record<string, string>) =>
    (await examine(env)).filter(({ what }) => /^(Customer sign-in|Service):/.test(what));
  const good = await start();
  expect(await told(good.test.env)).toEqual([
    { state: 'ok', what: expect.stringMatching(/^Customer sign-in: .*this service$/) },
  ]);
  const ofPlatform = { ...good.platform.env, INLAY_PLATFORM_URL: '', INLAY_DATA_DIR: good.test.dataDir };
  expect(await told({ ...ofPlatform, INLAY_SERVICE_URL: good.serviceUrl })).toEqual([
    { state: 'ok', what: expect.stringMatching(`^Service: ${good.serviceUrl} responds`) },
  ]);
  const otherSecret = { INLAY_PLATFORM_CLIENT_SECRET: 'another-secret-that-nobody-has-been-told' };
  const [refused] = await told({ ...ofPlatform, ...otherSecret, INLAY_SERVICE_URL: good.serviceUrl });
  expect([refused?.state, refused?.what]).toEqual([
    'fail',
    expect.stringContaining("rejected the platform's credentials"),
  ]);
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const [unreached] = await told({ ...ofPlatform, INLAY_SERVICE_URL: nobody });
  expect(unreached?.what).toContain(`the service at ${nobody}`);
  const [elsewhere] = await told({ ...ofPlatform, INLAY_SERVICE_URL: `${good.serviceUrl}/elsewhere` });
  expect(elsewhere?.what).toContain('No Inlay service');

  const untold = await start({ isTold: false });
  const missing = async () => (await told(untold.test.env)).map(({ state, what }) => [state, what]);
  expect(await missing()).toEqual([['warn', expect.stringContaining('INLAY_SERVICE_URL is not set')]]);
  await untold.customer.signIn();
  expect(await missing()).toEqual([['fail', expect.stringContaining('INLAY_SERVICE_URL is not set')]]);
  await good.customer.signIn();
  await good.test.app.http.close();
  const [away] = await told(good.test.env);
  expect([away?.state, away?.what]).toEqual(['fail', expect.stringContaining(good.serviceUrl)]);
});
