/** The local store goes away, is locked or is full: the service says so, stays up, and continues when it is back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInLongRun, isLongRun } from '../../../scripts/long-run.ts';
import { startPostgres } from '../../../scripts/postgres.mjs';
import {
  call,
  type HostedPlatform,
  letTwoMinutesPass,
  listWorkspaces,
  pauseOfClient,
  type Reply,
  requestToken,
  startHostedPlatform,
  untilNothingIsOpen,
  workspaceOf,
} from '../support/deployment.ts';
import { isCreate } from '../support/platform-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { makeSmallDisk, type SmallDisk } from '../support/small-disk.ts';

/** A short run has fewer clients and ends their sessions less often: each time is like the one before. */
const clients = isLongRun ? 8 : 4;
const terminations = isLongRun ? 10 : 4;
const servedBetween = isLongRun ? 50 : 24;

const storageUnavailable = [503, 'storage_unavailable'];
const pair = ({ status, code }: Reply) => [status, code];

let platform: HostedPlatform;
beforeAll(async () => {
  platform = await startHostedPlatform();
});
afterAll(() => platform?.stop());

/** An organization per test: they share the platform. */
function environment(organization: number): Record<string, string> {
  return { ...platform.env, INLAY_ORGANIZATION_ID: `6d7f3c2e-3a5b-4c8e-9f10-00000000000${organization}` };
}

const isRunning = async (service: Service) => (await fetch(`${service.url}/health/live`)).status === 200;

describe('a PostgreSQL that goes away [postgres]', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let dataDir: string;
  let service: Service;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'inlay-test-'));
    // A separate cluster, because other tests would fail if theirs were restarted.
    postgres = await startPostgres();
    service = await startService({ dataDir, env: { ...environment(1), INLAY_DATABASE_URL: postgres.url } });
  });
  afterAll(async () => {
    await service?.stop();
    await postgres?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('costs some requests a 503, and nothing that was acknowledged', async () => {
    const known = workspaceOf((await requestToken(service, 'known')).body.token);
    /** By id, the names that a workspace may have: a rename that was refused may have been recorded before. */
    const acknowledged = new Map<string, string[]>();
    const asked: string[] = [];
    const others: unknown[] = [];
    let [stop, served, refused] = [false, 0, 0];
    let wanted = { count: 0, isReached: () => {} };
    /** Not by asking now and then: the load would take the CPU time meanwhile. */
    const untilServed = (more: number) =>
      new Promise<void>((isReached) => {
        wanted = { count: served + more, isReached };
      });

    const count = (reply: Reply): boolean => {
      if (reply.status === 200) {
        served++;
        if (served === wanted.count) wanted.isReached();
      } else if (JSON.stringify(pair(reply)) === JSON.stringify(storageUnavailable)) refused++;
      else others.push(pair(reply));
      return reply.status === 200;
    };
    const load = Array.from({ length: clients }, async (_, worker) => {
      for (let i = 0; !stop; i++) {
        const name = `load ${worker} ${i}`;
        asked.push(name);
        const created = await requestToken(service, name);
        if (count(created)) {
          const id = workspaceOf(created.body.token);
          acknowledged.set(id, [name, `${name} renamed`]);
          const renamed = await call(service, 'PUT', `/api/v1/workspaces/${id}`, { name: `${name} renamed` });
          if (count(renamed)) acknowledged.set(id, [`${name} renamed`]);
        }
        const again = await requestToken(service, 'known');
        if (count(again)) expect(workspaceOf(again.body.token)).toBe(known);
        const isServed = count(await call(service, 'GET', '/api/v1/workspaces?limit=5'));
        if (!isServed) await pauseOfClient();
      }
    });

    await untilServed(servedBetween);
    for (let round = 0; round < 2; round++) {
      await postgres.restart();
      await untilServed(servedBetween);
    }
    const administrator = new pg.Client({ connectionString: postgres.url, application_name: 'the test' });
    await administrator.connect();
    for (let round = 0; round < terminations; round++) {
      await administrator.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlay'",
      );
      await untilServed(20);
    }
    await administrator.end();
    stop = true;
    await Promise.all(load);

    expect(others).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    expect(await isRunning(service)).toBe(true);

    await letTwoMinutesPass({ url: postgres.url, dataDir });
    await untilNothingIsOpen(service);
    const here = await listWorkspaces(service);
    const names = new Map(here.map(({ id, name }) => [id, name]));
    for (const [id, possible] of acknowledged) expect(possible).toContain(names.get(id));
    expect(new Set(names.values()).size).toBe(here.length);
    for (const name of asked) {
      // One create whose answer could not be recorded is found again, not repeated.
      expect([name, platform.proxy.createsApplied(name)]).toEqual([
        name,
        Math.min(1, platform.proxy.createsSent(name)),
      ]);
    }
    const sync = await call(service, 'POST', '/api/v1/workspaces/sync');
    expect(sync.body).toMatchObject({ total_count: here.length, created_count: 0 });
  });
});

describeInLongRun('a SQLite file that another process has locked [sqlite]', () => {
  let dataDir: string;
  let service: Service;
  let other: SqliteConnection;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'inlay-test-'));
    service = await startService({ dataDir, env: environment(2) });
    other = new SqliteConnection(join(dataDir, 'inlay.db'));
  });
  afterAll(async () => {
    other?.close();
    await service?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('makes the service refuse writes, while everything else continues', async () => {
    const { token } = (await requestToken(service, 'locked out')).body;
    const path = `/api/v1/workspaces/${workspaceOf(token)}`;

    other.exec('begin immediate');
    expect(pair(await requestToken(service, 'new while locked'))).toEqual(storageUnavailable);
    expect(platform.proxy.createsSent('new while locked')).toBe(0);
    expect(pair(await call(service, 'PUT', path, { name: 'renamed' }))).toEqual(storageUnavailable);
    expect(pair(await call(service, 'PUT', path, { status: 'inactive' }))).toEqual(storageUnavailable);
    expect(pair(await call(service, 'DELETE', path))).toEqual(storageUnavailable);
    expect(pair(await call(service, 'POST', '/api/v1/embedded/tokens/revoke', { token }))).toEqual(storageUnavailable);
    expect((await requestToken(service, 'locked out')).status).toBe(200);
    expect((await call(service, 'GET', path)).body).toMatchObject({ name: 'locked out', status: 'active' });
    expect(await listWorkspaces(service)).toHaveLength(1);
    expect(await isRunning(service)).toBe(true);

    other.exec('rollback');
    expect((await requestToken(service, 'new while locked')).status).toBe(200);
    expect((await call(service, 'PUT', path, { name: 'renamed' })).body).toMatchObject({ name: 'renamed' });
    expect((await call(service, 'DELETE', path)).status).toBe(200);
  });

  it('finds a workspace again that was created while it could not be recorded', async () => {
    const name = 'made while locked';
    platform.proxy.script = (request, phase) => {
      if (isCreate(request) && phase === 'applied') other.exec('begin immediate');
    };
    expect(pair(await requestToken(service, name))).toEqual(storageUnavailable);
    platform.proxy.script = undefined;
    other.exec('rollback');
    await letTwoMinutesPass({ dataDir });
    expect((await requestToken(service, name)).status).toBe(200);
    expect(platform.proxy.createsSent(name)).toBe(1);
    await untilNothingIsOpen(service);
  });
});

describe('a disk that is full [sqlite]', () => {
  let disk: SmallDisk;
  let service: Service;
  beforeAll(async () => {
    disk = makeSmallDisk(8);
    service = await startService({ dataDir: disk.dataDir, env: environment(3) });
  });
  afterAll(async () => {
    await service?.stop();
    disk?.remove();
  });

  it('creates nothing that is not on disk, stays up, and continues when there is room again', async () => {
    expect((await requestToken(service, 'before')).status).toBe(200);
    disk.fill(service);

    // The write-ahead log may have room left for a few; then none.
    const asked: string[] = [];
    let refusedInARow = 0;
    while (refusedInARow < 10) {
      expect(asked.length).toBeLessThan(1_000);
      const name = `full ${asked.length}`;
      asked.push(name);
      const reply = await requestToken(service, name);
      if (reply.status === 200) refusedInARow = 0;
      else {
        expect(pair(reply)).toEqual(storageUnavailable);
        refusedInARow++;
      }
    }
    const file = new SqliteConnection(join(disk.dataDir, 'inlay.db'), { readOnly: true });
    const claimed = new Set(
      file
        .prepare('select name from name_claims')
        .all()
        .map(({ name }) => name),
    );
    file.close();
    for (const name of asked.filter((name) => platform.proxy.createsSent(name) > 0)) expect(claimed).toContain(name);
    for (const name of asked.slice(-9)) expect([name, platform.proxy.createsSent(name)]).toEqual([name, 0]);

    expect((await requestToken(service, 'before')).status).toBe(200);
    expect((await call(service, 'GET', '/api/v1/workspaces')).status).toBe(200);
    expect(await isRunning(service)).toBe(true);

    disk.free(service);
    await letTwoMinutesPass({ dataDir: disk.dataDir });
    for (const name of asked) {
      expect([name, (await requestToken(service, name)).status]).toEqual([name, 200]);
      expect([name, platform.proxy.createsApplied(name)]).toEqual([name, 1]);
    }
    await untilNothingIsOpen(service);
    const here = await listWorkspaces(service);
    expect(here.map(({ name }) => name).sort()).toEqual(['before', ...asked].sort());
    const sync = await call(service, 'POST', '/api/v1/workspaces/sync');
    expect(sync.body).toMatchObject({ total_count: here.length, created_count: 0 });
  });
});
