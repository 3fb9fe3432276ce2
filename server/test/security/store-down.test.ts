/**
 * While the database is away no token is accepted, no valid token is called invalid, and no restart is needed later.
 */

import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import { startService } from '../support/service.ts';
import { base64url, expectSame401, infoPath, openProxy, readToken } from './support.ts';

let database: TestDatabase;
let proxy: Awaited<ReturnType<typeof openProxy>>;
let test: TestApp;
let scoped: string;
/** Before each request, more time passes than the service remembers anything about a token. */
let waitedMs = 0;

beforeAll(async () => {
  database = await createTestDatabase('postgres', { migrated: true });
  proxy = await openProxy(new URL(database.url ?? ''));
  test = await startTestApp('sqlite', {
    env: { INLAY_DATABASE_URL: proxy.url },
    overrides: { runtime: { ...systemRuntime, elapsed: () => systemRuntime.elapsed() + waitedMs } },
  });
  scoped = await test.scopedToken('acme');
});
afterAll(async () => {
  proxy.set('open');
  await test.stop();
  await proxy.close();
  await database.drop();
});

const asOperator = () => {
  waitedMs += 5_000;
  return test.request('GET', '/api/v1/workspaces');
};
const asCustomer = () => {
  waitedMs += 5_000;
  return test.request('GET', infoPath, { token: scoped });
};

async function expectUnavailable(): Promise<void> {
  for (const answer of await Promise.all([asOperator(), asCustomer()])) {
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([503, 'storage_unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['www-authenticate']).toBeUndefined();
  }
}

async function expectRecovery(): Promise<void> {
  await vi.waitFor(async () => expect([(await asOperator()).status, (await asCustomer()).status]).toEqual([200, 200]), {
    timeout: 300_000,
    interval: 50,
  });
}

async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

describe('While the database is away', () => {
  it('a good token is answered 503, and accepted again without a restart', async () => {
    expect([(await asOperator()).status, (await asCustomer()).status]).toEqual([200, 200]);
    proxy.set('cut');
    await expectUnavailable();
    expect((await test.request('GET', '/health/ready', { token: null })).status).toBe(503);
    expect((await test.request('GET', '/health/live', { token: null })).status).toBe(200);
    proxy.set('open');
    await expectRecovery();
  });

  it('the same holds for a database that takes connections and says nothing', async () => {
    proxy.set('stalled');
    await expectUnavailable();
    proxy.set('open');
    await expectRecovery();
  });

  it('the same holds for a database that was closed for maintenance', async () => {
    const name = new URL(database.url ?? '').pathname.slice(1);
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
    onTestFinished(() => administer(`alter database ${name} with allow_connections true`));
    await administer(`alter database ${name} with allow_connections false`, end);
    // First while the connections are being ended, then without any connection.
    await expectUnavailable();
    await expectUnavailable();
    await administer(`alter database ${name} with allow_connections true`);
    await expectRecovery();
  });

  it('the same holds for a database that was moved away', async () => {
    const name = new URL(database.url ?? '').pathname.slice(1);
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
    onTestFinished(async () => {
      await administer(`alter database ${name}_moved rename to ${name}`);
      await expectRecovery();
    });
    await administer(`alter database ${name} with allow_connections false`, end);
    await administer(`alter database ${name} rename to ${name}_moved`);
    await administer(`alter database ${name}_moved with allow_connections true`);
    await expectUnavailable();
    await expectUnavailable();
  });

  it('what can be refused without a look-up is still refused with 401', async () => {
    proxy.set('cut');
    onTestFinished(() => proxy.set('open'));
    const { header, parts } = readToken(scoped);
    const last = test.operatorToken.slice(-1);
    const operatorTokens = [
      `${test.operatorToken.slice(0, -1)}${last === '0' ? '1' : '0'}`,
      test.operatorToken.replace(/^(inlay_op_)(.)/, (_, prefix, first) => `${prefix}${first === 'a' ? 'b' : 'a'}`),
      test.operatorToken.slice(0, -1),
      `${test.operatorToken}0`,
      'inlay_op_',
      `inlay_op_${'0'.repeat(49)}`,
    ];
    for (const token of operatorTokens) {
      expectSame401(await test.request('GET', '/api/v1/workspaces', { token }));
    }
    const kids = ['unknown', '/etc/passwd', "' or 1=1 --", 'x'.repeat(10_000), ['x'], null];
    const forged = kids.map((kid) => `${base64url({ ...header, kid })}.${parts[1]}.${parts[2]}`);
    forged.push(`${parts[0]}.${parts[1]}.${'A'.repeat(86)}`, `${base64url({ alg: 'none' })}.${parts[1]}.`, 'x');
    for (const token of forged) expectSame401(await test.request('GET', infoPath, { token }));
    await expectUnavailable();
  });

  it('connections that silently went dead are given up, not used again', async () => {
    // Only one connection in the pool, because each dead connection has to be noticed once.
    proxy.set('cut');
    proxy.set('open');
    await vi.waitFor(async () => expect((await asCustomer()).status).toBe(200), { timeout: 300_000, interval: 50 });
    const said = proxy.swallow();
    const first = asCustomer();
    await said;
    const { status, headers } = await first;
    expect([status, headers['x-inlay-error']]).toEqual([503, 'storage_unavailable']);
    expect((await asCustomer()).status).toBe(200);
  });
});

describe('The process', () => {
  it('outlives a connection that is lost in the middle of a query, and needs no restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'inlay-test-'));
    const operatorToken = randomBytes(32).toString('hex');
    const way = await openProxy(new URL(database.url ?? ''));
    const env = { INLAY_DATABASE_URL: way.url, INLAY_OPERATOR_TOKEN: operatorToken };
    await copyFile(join(test.dataDir, 'encryption.key'), join(dataDir, 'encryption.key'));
    const service = await startService({ dataDir, env });
    onTestFinished(async () => {
      await service.kill();
      await way.close();
      await rm(dataDir, { recursive: true, force: true });
    });
    const headers = { authorization: `Bearer ${operatorToken}` };
    const call = async () => (await fetch(`${service.url}/api/v1/workspaces`, { headers })).status;
    expect(await call()).toBe(200);

    const said = way.swallow();
    const underWay = call();
    await said;
    way.set('cut');
    expect(await underWay).toBe(503);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    way.set('open');
    await vi.waitFor(async () => expect(await call()).toBe(200), { timeout: 300_000, interval: 50 });
  });
});
