/** Several processes on one PostgreSQL and one platform, all asked for the same things at once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPgbouncer } from '../../scripts/pgbouncer.mjs';
import { createTestDatabase, type TestDatabase } from './support/databases.ts';
import { eventually, untilNothingIsOpen } from './support/deployment.ts';
import { type Service, startService } from './support/service.ts';

const operatorToken = 'an-operator-token-for-the-race-tests-0001';
const organizationId = '6d7f3c2e-3a5b-4c8e-9f10-2b3c4d5e6f70';

interface Call {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  body: any;
}

async function call(service: Service, method: string, path: string, body?: unknown): Promise<Call> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
}

function workspaceOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
}

// A pooler makes everything harder that can go wrong without one.
const ways = ['straight', 'through a transaction pooler'];

describe.each(ways)('four replicas on one PostgreSQL, %s [postgres]', (way) => {
  let database: TestDatabase;
  let pooler: Awaited<ReturnType<typeof startPgbouncer>> | undefined;
  let platform: Service;
  let replicas: Service[];

  beforeAll(async () => {
    database = await createTestDatabase('postgres', { migrated: true });
    let databaseUrl = database.url as string;
    if (way !== 'straight') {
      pooler = await startPgbouncer(databaseUrl);
      databaseUrl = pooler.url;
    }
    platform = await startService({ command: 'platform', dataDir: database.dataDir });
    const credentials = JSON.parse(await readFile(join(database.dataDir, 'platform-credentials.json'), 'utf8'));
    const env = {
      INLAY_DATABASE_URL: databaseUrl,
      INLAY_PLATFORM_URL: `${platform.url}/platform/v1`,
      INLAY_PLATFORM_CLIENT_ID: credentials.clientId,
      INLAY_PLATFORM_CLIENT_SECRET: credentials.clientSecret,
      INLAY_PLATFORM_SETTLE_SECONDS: '1',
      INLAY_OPERATOR_TOKEN: operatorToken,
      INLAY_PUBLIC_URL: 'https://inlay.example',
      INLAY_ORGANIZATION_ID: organizationId,
      INLAY_ENCRYPTION_KEY: 'b2Zm2nT8kVwQ4yJr6sXc1uLe9pHg3aDf5iKo7mNt0vE=',
      LOG_LEVEL: 'warn',
    };
    // All at once: they race for the migrations, the organization, the operator token and the signing key as well.
    replicas = await Promise.all(Array.from({ length: 4 }, () => startService({ dataDir: database.dataDir, env })));
  });
  afterAll(async () => {
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
    await platform?.stop();
    await pooler?.stop();
    await database?.drop();
  });

  const everywhere = (times: number, work: (replica: Service, index: number) => Promise<Call>) =>
    Promise.all(Array.from({ length: times }, (_, index) => work(replicas[index % replicas.length] as Service, index)));

  it('make one workspace for one new name', async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await everywhere(60, (replica) =>
        call(replica, 'POST', '/api/v1/embedded/scoped-token', { workspace_name: `race-${round}` }),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set(answers.map(({ body }) => workspaceOf(body.token))).size).toBe(1);
    }
    const sync = await call(replicas[0] as Service, 'POST', '/api/v1/workspaces/sync');
    expect(sync.body).toMatchObject({ total_count: 5, created_count: 0 });
  });

  it('accept each other’s tokens, and refuse what one of them revoked', async () => {
    const [one, two] = replicas as [Service, Service];
    const { body } = await call(one, 'POST', '/api/v1/embedded/scoped-token', { workspace_name: 'shared' });
    const info = () =>
      fetch(`${two.url}/api/v1/embedded/scoped-token/info`, { headers: { authorization: `Bearer ${body.token}` } });
    expect((await info()).status).toBe(200);
    expect((await call(one, 'POST', '/api/v1/embedded/tokens/revoke', { token: body.token })).status).toBe(200);
    await eventually('the other replica refuses it, too', async () => (await info()).status === 401);
  });

  it('let one of many renames to one name win', async () => {
    const ids = (
      await everywhere(8, (replica, i) =>
        call(replica, 'POST', '/api/v1/embedded/scoped-token', { workspace_name: `renamed-${i}` }),
      )
    ).map(({ body }) => workspaceOf(body.token));
    const answers = await everywhere(8, (replica, i) =>
      call(replica, 'PUT', `/api/v1/workspaces/${ids[i]}`, { name: 'the-one' }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
  });

  it('join concurrent deletions of one workspace', async () => {
    const { body } = await call(replicas[0] as Service, 'POST', '/api/v1/embedded/scoped-token', {
      workspace_name: 'deleted-by-all',
    });
    const id = workspaceOf(body.token);
    const answers = await everywhere(4, (replica) => call(replica, 'DELETE', `/api/v1/workspaces/${id}`));
    const deleted = answers.filter(({ status }) => status === 200);
    expect(deleted.length).toBeGreaterThan(0);
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect(new Set(deleted.map(({ body: { deleted_at } }) => deleted_at)).size).toBe(1);
  });

  it('leave nothing open behind', async () => {
    await untilNothingIsOpen(replicas[0] as Service);
  });
});
