/**
 * Tokens that were valid before: revoked, of a workspace that is deleted or being deleted, or signed with a removed
 * key.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../../scripts/disposable.mjs';
import { type Transport, TransportError } from '../../src/kernel/platform/transport.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { removeSigningKey, rotateSigningKeys } from '../../src/tenancy/tokens/signing-keys.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, describeOnBothDatabases } from '../support/databases.ts';
import {
  addTenant,
  expectSame401,
  infoPath,
  logOfTest,
  readToken,
  sealerOf,
  unknownId,
  widgetToken,
} from './support.ts';

const revokePath = '/api/v1/embedded/tokens/revoke';

async function revoke(test: TestApp, token: string): Promise<unknown> {
  const answer = await test.request('POST', revokePath, { body: { token } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const use = (test: TestApp, token: string) => test.request('GET', infoPath, { token });

/** A token that has just been used, so that the service may remember something about it. */
async function usedToken(test: TestApp, workspaceName: string): Promise<string> {
  const token = await test.scopedToken(workspaceName);
  expect((await use(test, token)).status).toBe(200);
  return token;
}

async function usedWidgetToken(test: TestApp, body: object): ReturnType<typeof widgetToken> {
  const widget = await widgetToken(test, body);
  expect((await use(test, widget.inner)).status).toBe(200);
  return widget;
}

describeOnBothDatabases('Revocation', (kind) => {
  let test: TestApp;
  let platformRefusesDeletes = false;
  const wrapTransport = (transport: Transport): Transport => ({
    send: async (request) => {
      if (platformRefusesDeletes && request.method === 'DELETE') {
        throw new TransportError('the platform is away', { sent: false, timedOut: false });
      }
      return await transport.send(request);
    },
    close: () => transport.close(),
  });

  beforeAll(async () => {
    test = await startTestApp(kind, { overrides: { wrapTransport } });
  });
  afterAll(() => test.stop());

  it('ends one scoped token and leaves the others of the workspace alone', async () => {
    const [first, second] = [await usedToken(test, 'one'), await usedToken(test, 'one')];
    expect(await revoke(test, first)).toEqual({ revoked: true });
    expectSame401(await use(test, first));
    expect((await use(test, second)).status).toBe(200);
    expect(await revoke(test, first), 'twice').toEqual({ revoked: true });
    expectSame401(await use(test, first));
  });

  it('ends a widget token, given whole or as the token inside it', async () => {
    const [whole, inner] = [await usedWidgetToken(test, {}), await usedWidgetToken(test, {})];
    expect(await revoke(test, whole.whole)).toEqual({ revoked: true });
    expect(await revoke(test, inner.inner)).toEqual({ revoked: true });
    for (const { inner: token } of [whole, inner]) expectSame401(await use(test, token));
    expect(await revoke(test, whole.whole), 'twice').toEqual({ revoked: true });
  });

  it('says false to what is not a token of the organization, and touches nothing', async () => {
    const token = await test.scopedToken('mine');
    const other = await addTenant(test, 'other');
    const answer = await other.request('POST', revokePath, { body: { token } });
    expect([answer.status, answer.text]).toEqual([200, '{"revoked":false}']);
    expect((await use(test, token)).status).toBe(200);
    const [header, claims, signature] = readToken(token).parts;
    const unknown = [
      'x',
      '',
      '..',
      test.operatorToken,
      `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      Buffer.from('{"token":5}').toString('base64'),
      Buffer.from('null').toString('base64'),
      Buffer.from(JSON.stringify({ token: 'x' })).toString('base64'),
      'a\0b',
      '\ud800',
    ];
    for (const text of unknown) expect(await revoke(test, text), text).toEqual({ revoked: false });
  });

  it('of a workspace ends every token issued so far and none that is issued later', async () => {
    const id = await test.workspaceId('all');
    const scoped = await usedToken(test, 'all');
    const widget = await usedWidgetToken(test, { workspace_name: 'all' });
    const elsewhere = await usedToken(test, 'elsewhere');
    const answer = await test.request('POST', `/api/v1/workspaces/${id}/tokens/revoke`);
    expect([answer.status, answer.text]).toEqual([200, '{"revoked":true}']);
    for (const token of [scoped, widget.inner]) expectSame401(await use(test, token));
    expect((await use(test, await test.scopedToken('all'))).status).toBe(200);
    expect((await use(test, elsewhere)).status).toBe(200);
    expect((await test.request('POST', `/api/v1/workspaces/${unknownId}/tokens/revoke`)).status).toBe(404);
  });

  it('comes with deletion, and a new workspace of the same name does not bring the tokens back', async () => {
    const [id, token] = [await test.workspaceId('gone'), await usedToken(test, 'gone')];
    expect((await test.request('DELETE', `/api/v1/workspaces/${id}`)).status).toBe(200);
    expectSame401(await use(test, token));
    expect((await use(test, await test.scopedToken('gone'))).status).toBe(200);
    expectSame401(await use(test, token));
  });

  it('comes with the request to delete, even while the platform is unavailable', async () => {
    const [id, token] = [await test.workspaceId('going'), await usedToken(test, 'going')];
    const widget = await usedWidgetToken(test, { workspace_name: 'going' });
    platformRefusesDeletes = true;
    onTestFinished(() => {
      platformRefusesDeletes = false;
    });
    const answer = await test.request('DELETE', `/api/v1/workspaces/${id}`);
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'deletion_recorded']);
    for (const one of [token, widget.inner]) expectSame401(await use(test, one));
    const fresh = await test.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: 'going' } });
    expect(fresh.status).toBe(409);
  });

  it('of an operator token holds from the next request on, also for the token that asks', async () => {
    const mine = await test.app.operatorTokens.create(test.organizationId, { name: 'short-lived' });
    const { token } = mine;
    expect((await test.request('DELETE', `/api/v1/operator-tokens/${mine.id}`, { token })).status).toBe(200);
    expectSame401(await test.request('GET', '/api/v1/workspaces', { token }));
    await test.restart();
    expectSame401(await test.request('GET', '/api/v1/workspaces', { token }));
  });

  it('survives a restart', async () => {
    const token = await test.scopedToken('one');
    await revoke(test, token);
    await test.restart();
    expectSame401(await use(test, token));
  });
});

describe('An operator token that has just been used', () => {
  it('ends when its time is over', async () => {
    let waitedMs = 0;
    const startedAt = systemRuntime.now();
    const runtime = { ...systemRuntime, now: () => startedAt + waitedMs, elapsed: () => waitedMs };
    const test = await startTestApp('sqlite', { overrides: { runtime } });
    onTestFinished(() => test.stop());
    const expiresAt = startedAt + 60_000;
    const { token } = await test.app.operatorTokens.create(test.organizationId, { name: 'brief', expiresAt });
    const list = () => test.request('GET', '/api/v1/workspaces', { token });
    waitedMs = 59_000;
    expect((await list()).status).toBe(200);
    waitedMs = 60_000;
    expectSame401(await list());
  });
});

describeOnBothDatabases('A signing key', (kind) => {
  it('continues verifying when it is retired, stops when it is removed, and never shows its private half', async () => {
    const test = await startTestApp(kind);
    onTestFinished(() => test.stop());
    const jwks = async () => (await test.request('GET', '/.well-known/jwks.json', { token: null })).body.keys;
    const kidOf = (token: string) => String(readToken(token).header.kid);
    const old = await test.scopedToken('acme');
    const oldWidget = await widgetToken(test, {});

    const kid = await rotateSigningKeys({ store: test.app.store, sealer: sealerOf(test), ...logOfTest });
    // As if it had been published a while ago; a new key signs only then.
    await test.app.store.db
      .updateTable('signing_keys')
      .set((row) => ({ created_at: row('created_at', '-', 60_000) }))
      .execute();
    await test.restart();
    const fresh = await test.scopedToken('acme');
    expect(kidOf(fresh)).toBe(kid);
    for (const token of [old, oldWidget.inner, fresh]) expect((await use(test, token)).status).toBe(200);
    expect((await jwks()).map((key: { kid: string }) => key.kid).sort()).toEqual([kid, kidOf(old)].sort());
    for (const key of await jwks()) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    }

    expect(
      await removeSigningKey({ store: test.app.store, ...logOfTest }, kid),
      'the key that signs cannot be removed',
    ).toBe(false);
    expect(await removeSigningKey({ store: test.app.store, ...logOfTest }, kidOf(old))).toBe(true);
    await test.restart();
    for (const token of [old, oldWidget.inner]) expectSame401(await use(test, token));
    expect((await test.request('GET', `/widget${oldWidget.url.search}`)).status).toBe(403);
    expect((await use(test, fresh)).status).toBe(200);
    expect((await jwks()).map((key: { kid: string }) => key.kid)).toEqual([kid]);
  });
});

describe('Two replicas on one PostgreSQL', () => {
  it('refuse within five seconds what the other revoked, and soon what a removed key signed', async () => {
    const database = await createTestDatabase('postgres', { migrated: true });
    const env = {
      INLAY_DATABASE_URL: database.url ?? '',
      INLAY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      INLAY_OPERATOR_TOKEN: randomBytes(32).toString('hex'),
    };
    let waitedMs = 0;
    const fiveSecondsPass = () => {
      waitedMs += 5_000;
    };
    const overrides = { runtime: { ...systemRuntime, elapsed: () => systemRuntime.elapsed() + waitedMs } };
    const one = await startTestApp('sqlite', { env, overrides });
    const two = await startTestApp('sqlite', {
      overrides,
      env: { ...env, PORT: String(await freePort()), INLAY_PUBLIC_URL: 'http://localhost:8080' },
    });
    onTestFinished(async () => {
      await two.stop();
      await one.stop();
      await database.drop();
    });
    const token = await one.scopedToken('acme');
    const id = (await use(two, token)).body['workspace ID'];
    expect(await revoke(one, token)).toEqual({ revoked: true });
    fiveSecondsPass();
    expectSame401(await use(two, token));

    const other = await one.scopedToken('acme');
    expect((await use(two, other)).status).toBe(200);
    await one.request('POST', `/api/v1/workspaces/${id}/tokens/revoke`);
    fiveSecondsPass();
    expectSame401(await use(two, other));

    const operator = await two.app.operatorTokens.create(one.organizationId, { name: 'shared' });
    expect((await one.request('GET', '/api/v1/workspaces', { token: operator.token })).status).toBe(200);
    await two.request('DELETE', `/api/v1/operator-tokens/${operator.id}`);
    fiveSecondsPass();
    expectSame401(await one.request('GET', '/api/v1/workspaces', { token: operator.token }));

    const last = await one.scopedToken('acme');
    await rotateSigningKeys({ store: one.app.store, sealer: sealerOf(one, env), ...logOfTest });
    await two.app.listen();
    expect(await removeSigningKey({ store: one.app.store, ...logOfTest }, String(readToken(last).header.kid))).toBe(
      true,
    );
    await vi.waitFor(async () => expectSame401(await use(two, last)), { timeout: 300_000, interval: 100 });

    const live = await one.scopedToken('doomed');
    const doomed = (await use(two, live)).body['workspace ID'];
    await one.request('DELETE', `/api/v1/workspaces/${doomed}`);
    fiveSecondsPass();
    expectSame401(await use(two, live));
  });
});
