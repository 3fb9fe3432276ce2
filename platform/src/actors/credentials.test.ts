import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { credentialKeeper } from '../../test/credential-keeper.ts';
import { type StartOptions, startPlatform } from '../../test/start-platform.ts';
import { startSteered, until } from '../../test/steered.ts';
import { RunDelayed, RunFailure } from '../runner/runner.ts';
import { systemRuntime } from '../runtime.ts';
import { filled, withOpenFields } from './actor-credential.ts';
import type { ActorsContext } from './context.ts';
import { CredentialInUse, inTurn } from './credential-turns.ts';
import { withSignIn } from './sign-ins.ts';

const clock = { time: Date.UTC(2030, 0, 1) };
const fields = { access_token: ['password'] };

async function start(options: Parameters<typeof credentialKeeper>[0] = { clock }, more: StartOptions = {}) {
  const keeper = credentialKeeper(options);
  const steered = await startSteered({ credentials: keeper, clock: options.clock, ...more });
  const { call, file, sourceDefinitionId: definitionId } = steered;
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
  const folder = join(dirname(file), 'signed-in');
  mkdirSync(folder);
  writeFileSync(join(folder, 'catalog.json'), '{"streams":[]}');
  const credential = { id: randomUUID(), fields };
  const create = (more: object = {}, kind = 'source') =>
    call('POST', `/${kind}s`, { name: 's', workspaceId, definitionId, configuration: { folder }, credential, ...more });
  const check = async (more: object = {}) => {
    const body = { workspaceId, definitionId, configuration: { folder }, credential, ...more };
    const started = await call('POST', '/sources/check_connection', body);
    if (started.status !== 200) return started.body;
    let shown = started.body;
    await until(async () => {
      shown = (await call('GET', `/sources/check_connection/${started.body.checkId}`)).body;
      return !['pending', 'running'].includes(shown.status);
    });
    return shown;
  };
  /** What the connector was given the last time. */
  const given = () => JSON.parse(readFileSync(join(folder, 'given-config'), 'utf8'));
  return { ...steered, keeper, workspaceId, folder, credential, create, check, given };
}

describe('a source with a credential', () => {
  test('stores where its values go and none of them; what a customer enters there is dropped', async () => {
    const { create, call, credential, workspaceId, keeper, folder, platform } = await start();
    const made = await create({ configuration: { folder, password: `{"credential":"${randomUUID()}"}` } });
    expect(made.status).toBe(200);
    expect(made.body.credential).toEqual(credential);
    expect(made.body.configuration).not.toHaveProperty('password');
    expect(keeper.asked).toEqual([]);
    const path = `/sources/${made.body.sourceId}`;

    expect((await call('GET', `/streams?sourceId=${made.body.sourceId}`)).status).toBe(200);
    expect(keeper.asked).toEqual([{ ref: { workspaceId, credentialId: credential.id }, forMs: 600_000 }]);
    const renamed = (await call('PATCH', path, { configuration: { password: 'entered' } })).body;
    expect(renamed.configuration).not.toHaveProperty('password');
    const without = await call('PATCH', path, { credential: null, configuration: { password: 'entered' } });
    expect(without.body).not.toHaveProperty('credential');
    expect(without.body.configuration.password).toBe('**********');
    const again = await call('PUT', path, { name: 's', configuration: without.body.configuration, credential });
    expect(again.body.configuration).not.toHaveProperty('password');
    const rows = await platform.store.db.selectFrom('connectors').selectAll().execute();
    for (const token of keeper.tokens) expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('needs every other field, is a source, and needs a platform that can get credentials', async () => {
    const { create, destinationDefinitionId: definitionId } = await start();
    const lacking = await create({ configuration: {} });
    expect(lacking.status).toBe(422);
    expect(lacking.body.data.message).toMatch(/^configuration .*'folder'$/);
    expect((await create({ definitionId, configuration: { file: '/x' } }, 'destination')).body.data.message).toMatch(
      /^Only sources /,
    );
    const { call } = await startPlatform();
    const { workspaceId } = (await call('POST', '/workspaces', { name: 'w' })).body;
    const configuration = { sourceType: 'sample-data', count: 1 };
    const credential = { id: randomUUID(), fields };
    const refused = await call('POST', '/sources', { name: 's', workspaceId, configuration, credential });
    expect(refused.body.data.message).toMatch(/INLAY_SERVICE_URL/);
  });

  test('is checked with the token of its workspace, which no message shows', async () => {
    const { check, keeper, folder, given, credential, workspaceId, create } = await start();
    expect((await check()).status).toBe('succeeded');
    expect(given()).toEqual({ folder, password: keeper.tokens[0] });
    expect(keeper.asked).toEqual([{ ref: { workspaceId, credentialId: credential.id } }]);
    const { sourceId } = (await create()).body;
    expect((await check({ sourceId, definitionId: undefined, credential: undefined })).status).toBe('succeeded');
    expect(keeper.asked).toHaveLength(2);
    writeFileSync(join(folder, 'no-catalog'), '');
    const failed = await check();
    expect(failed).toMatchObject({ status: 'failed', message: 'The folder has no catalog. Is ********** right?' });
  });

  test('fails in words for the person who can fix it when its credential gives no access', async () => {
    const { check, keeper, create, call } = await start();
    keeper.trouble = 'customer';
    expect(await check()).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Sign in again'),
      fields: ['password'],
    });
    keeper.trouble = 'operator';
    expect((await check()).message).toMatch(/rejected the OAuth client/);
    keeper.trouble = 'unavailable';
    expect((await check()).message).toMatch(/^The provider is unavailable/);
    const { sourceId } = (await create()).body;
    const streams = await call('GET', `/streams?sourceId=${sourceId}`);
    expect(streams.body.data).toMatchObject({ failureType: 'transient_error' });
  });

  test('whose keeper cannot be reached blames nobody who configured it, and delays runs that need a token', async () => {
    // Patience ends a hundred times as soon.
    const runtime = { ...systemRuntime, now: () => clock.time, elapsed: () => performance.now() * 100 };
    const { check, keeper, create, call, workspaceId, credential } = await start({ clock }, { runtime });
    keeper.trouble = 'unreachable';
    expect(await check()).toMatchObject({ status: 'failed', message: 'Nobody is there.', origin: 'platform' });
    expect(keeper.asked.length).toBeGreaterThan(1);
    const { sourceId } = (await create()).body;
    const streams = await call('GET', `/streams?sourceId=${sourceId}`);
    expect([streams.status, streams.body.data]).toEqual([503, { message: 'Nobody is there.' }]);
    expect((await call('GET', '/credentials')).body).toEqual({ areResolved: true, outage: 'Nobody is there.' });

    // During a run, a connector with a valid token continues with it, and one that needs a new token is delayed.
    keeper.trouble = undefined;
    let elapsed = 0;
    const sleep = async (ms: number) => {
      elapsed += ms;
    };
    const ctx = {
      credentials: keeper,
      runtime: { ...runtime, elapsed: () => elapsed, sleep },
    } as unknown as ActorsContext;
    const options = { workspaceId, credential, configuration: {}, secretsOf: () => [] };
    const failed = new RunFailure({ origin: 'source', type: 'transient_error', message: 'no token' });
    const run = withSignIn(ctx, options, async ({ signIn }) => {
      keeper.trouble = 'unreachable';
      await expect(signIn?.fresh({})).rejects.toThrow(RunDelayed);
      expect([elapsed, signIn?.delay]).toEqual([0, undefined]);
      await expect(signIn?.fresh({ notGeneration: 1 })).rejects.toThrow(RunDelayed);
      expect(elapsed).toBeGreaterThanOrEqual(60_000);
      throw failed;
    });
    await expect(run).rejects.toThrow(RunDelayed);
    keeper.trouble = undefined;
    await expect(withSignIn(ctx, options, () => Promise.reject(failed))).rejects.toBe(failed);
  });

  test('whose connector refreshes its own tokens gets the refresh token, and hands new ones back', async () => {
    const { create, call, keeper, folder, given, credential, check } = await start();
    const wide = { access_token: ['password'], refresh_token: ['more', 'refresh'], client_secret: ['more', 'secret'] };
    const own = { ...credential, fields: wide, hand_over: 'refresh_token' };
    writeFileSync(
      join(folder, 'renews.json'),
      JSON.stringify({ password: 'new', more: { refresh: 'newer', other: 1 } }),
    );
    const { sourceId } = (await create({ credential: own })).body;
    expect((await call('GET', `/streams?sourceId=${sourceId}`)).status).toBe(200);
    expect(keeper.asked[0]).toMatchObject({ handsOver: true });
    expect(given()).toMatchObject({ more: { refresh: 'refresh-1', secret: 'the-client-secret' } });
    expect(keeper.handedBack).toEqual([{ generation: 1, accessToken: 'new', refreshToken: 'newer' }]);
    await check({ credential: own });
    expect(keeper.handedBack[1]).toEqual({ generation: 2, accessToken: 'new', refreshToken: 'newer' });
    // An access token is all that others get.
    await check({ credential: { ...own, hand_over: 'access_token' } });
    expect(given()).toMatchObject({ more: { refresh: 'set-by-the-sign-in', secret: 'set-by-the-sign-in' } });
    expect(keeper.handedBack).toHaveLength(2);
  });

  test('whose connector refreshes its own tokens runs one process at a time, whatever the process does', async () => {
    const { create, call, folder, credential, check, platform, workspaceId } = await start();
    const own = { ...credential, hand_over: 'refresh_token' };
    const { sourceId } = (await create({ credential: own })).body;
    const ref = { workspaceId, credentialId: credential.id };
    await inTurn(platform, ref, {}, async () => {
      await expect(inTurn(platform, ref, { patienceMs: 0 }, async () => {})).rejects.toThrow(CredentialInUse);
    });
    // Long enough that two processes would meet.
    writeFileSync(join(folder, 'lingers'), '500');
    await Promise.all([
      ...[1, 2, 3].map(() => check({ credential: own })),
      call('GET', `/streams?sourceId=${sourceId}`),
      call('GET', `/streams?sourceId=${sourceId}&ignoreCache=true`),
    ]);
    const log = readFileSync(join(folder, 'processes'), 'utf8').trim().split('\n');
    expect(log.length).toBeGreaterThanOrEqual(8);
    for (const [index, line] of log.entries()) expect(line).toBe(index % 2 === 0 ? 'begin' : 'end');
  });

  test('of a platform that was killed does not wait for the killed process', async () => {
    const { platform, workspaceId, credential } = await start();
    const ref = { workspaceId, credentialId: credential.id };
    const gone = { workspace_id: workspaceId, credential_id: credential.id, expires_at: clock.time + 30_000 };
    await platform.store.db
      .insertInto('credential_turns')
      .values({ ...gone, holder: 'another-1-x' })
      .execute();
    await expect(inTurn(platform, ref, { patienceMs: 0 }, async () => {})).rejects.toThrow(CredentialInUse);
    clock.time += 30_000;
    expect(await inTurn(platform, ref, { patienceMs: 0 }, async () => 'went on')).toBe('went on');
    expect(await platform.store.db.selectFrom('credential_turns').selectAll().execute()).toEqual([]);
  });
});

test('the fields of a credential are open in every branch of a specification, and no other rule is', () => {
  const specification = {
    type: 'object',
    required: ['credentials'],
    properties: {
      credentials: {
        oneOf: [
          { required: ['token'], properties: { token: { type: 'string', pattern: '^x' }, kind: { const: 'a' } } },
          { properties: { key: { type: 'string', minLength: 50 } } },
        ],
      },
    },
  };
  const credential = { id: 'i', fields: { access_token: ['credentials', 'token'] } };
  expect(withOpenFields(specification, credential)).toMatchObject({
    properties: {
      credentials: {
        oneOf: [{ properties: { token: {}, kind: { const: 'a' } } }, { properties: { key: { minLength: 50 } } }],
      },
    },
  });
  expect(
    filled({ credentials: { kind: 'a' } }, { fields: { access_token: ['__proto__', 'x'] } }, { access_token: 't' }),
  ).toEqual(JSON.parse('{"credentials":{"kind":"a"},"__proto__":{"x":"t"}}'));
});
