/** `kill -9` at any time: what was acknowledged is there afterwards, and what was not is either absent or completed. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongRun } from '../../scripts/long-run.ts';
import { createTestDatabase, describeOnOneDatabase, type TestDatabase } from './support/databases.ts';
import { type Service, startService } from './support/service.ts';

/** Each round starts the service once more. */
const rounds = isLongRun ? 4 : 2;
const operatorToken = 'an-operator-token-for-the-crash-tests-001';

describeOnOneDatabase('a service that is killed', (kind) => {
  let database: TestDatabase;
  let service: Service;
  const start = async (port?: number) => {
    service = await startService({
      dataDir: database.dataDir,
      ...(port ? { port } : {}),
      env: {
        ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}),
        INLAY_OPERATOR_TOKEN: operatorToken,
        LOG_LEVEL: 'warn',
      },
    });
  };
  beforeAll(async () => {
    database = await createTestDatabase(kind, { migrated: true });
    await start();
  });
  afterAll(async () => {
    await service?.stop();
    await database?.drop();
  });

  const call = async (method: string, path: string, body?: unknown, token = operatorToken) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
    return { status: response.status, body: (await response.json()) as any };
  };
  const crash = async () => {
    const { port } = service;
    await service.kill();
    await start(port);
  };

  /** Ids by name; fails if a name is there twice. */
  async function allWorkspaces(): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    let next: string | null = '/api/v1/workspaces?limit=100';
    while (next) {
      const page: { data: { id: string; name: string }[]; next: string | null } = (await call('GET', next)).body;
      for (const { id, name } of page.data) {
        expect(ids.has(name)).toBe(false);
        ids.set(name, id);
      }
      next = page.next?.slice(page.next.indexOf('/api/')) ?? null;
    }
    return ids;
  }

  it('loses nothing that it acknowledged, and doubles nothing', async () => {
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < rounds; round++) {
      let stop = false;
      const workers = Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; !stop && i < 200; i++) {
          const name = `round-${round}-worker-${worker}-${i}`;
          try {
            const answer = await call('POST', '/api/v1/embedded/scoped-token', { workspace_name: name });
            if (answer.status === 200) acknowledged.set(name, answer.body.token);
          } catch {
            return; // The connection broke: not acknowledged.
          }
        }
      });
      // Killed after a different amount of work each time, not after a time.
      const goal = acknowledged.size + 5 + round * (isLongRun ? 7 : 15);
      while (acknowledged.size < goal) await delay(2);
      await crash();
      stop = true;
      await Promise.all(workers);
    }

    const known = await allWorkspaces();
    for (const [name, token] of acknowledged) {
      const info = await call('GET', '/api/v1/embedded/scoped-token/info', undefined, token);
      expect(info.status).toBe(200);
      expect(info.body['workspace ID']).toBe(known.get(name));
    }
    // The platform holds nothing that is not found again, and no name twice.
    const sync = (await call('POST', '/api/v1/workspaces/sync')).body;
    const stats = (await call('GET', '/api/v1/workspaces/stats')).body;
    expect(sync.total_count).toBe(stats.total_count);
    expect((await allWorkspaces()).size).toBe(stats.total_count);
  });

  it('keeps revocations and deletions that it acknowledged', async () => {
    const issue = async (name: string) =>
      (await call('POST', '/api/v1/embedded/scoped-token', { workspace_name: name })).body.token as string;
    const revoked = await issue('revoked');
    const deleted = await issue('deleted');
    const { sub } = JSON.parse(Buffer.from(deleted.split('.')[1] ?? '', 'base64url').toString());
    expect((await call('POST', '/api/v1/embedded/tokens/revoke', { token: revoked })).body).toEqual({ revoked: true });
    expect((await call('DELETE', `/api/v1/workspaces/${sub}`)).status).toBe(200);
    await crash();
    for (const token of [revoked, deleted]) {
      expect((await call('GET', '/api/v1/embedded/scoped-token/info', undefined, token)).status).toBe(401);
    }
    expect((await call('GET', `/api/v1/workspaces/${sub}`)).status).toBe(404);
  });
});
