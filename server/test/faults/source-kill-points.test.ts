/**
 * `kill -9` at every step of setting up, changing and deleting a source: at every request of the service to a platform
 * in another process, and at every commit of a service with the bundled platform inside. Afterwards the next process
 * finishes everything, exactly once.
 *
 * As in kill-points.test.ts, one crash tests many points, with each piece of work held at its own point, and a first
 * run without a crash shows which requests a piece of work makes. A short run tries the phase in which the platform has
 * applied a request and the service does not know it, on one database; INLAY_LONG_TESTS tries every phase on both, and the
 * platform in the other process then also runs the requested syncs.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInLongRun, isLongRun } from '../../../scripts/long-run.ts';
import { useCrashingProgram } from '../support/crashing-program.ts';
import type { Crash } from '../support/crashing-service.ts';
import { createTestDatabase, describeOnOneDatabase, type TestDatabase } from '../support/databases.ts';
import {
  eventually,
  type HostedPlatform,
  letSixMinutesPass,
  operatorToken,
  startHostedPlatform,
  untilNothingIsOpen,
} from '../support/deployment.ts';
import { type Phase, type ProxiedRequest, triedPhases } from '../support/platform-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { createOwnership, type SourceWork, SourceWorkload, sourceWorkKinds } from '../support/source-workload.ts';

const patienceMs = 300_000;
/** A source is looked for, made and asserted; so are its destination and connection, whose first sync is started. */
const expectedRequests = { connect: 12, reconfigure: 1, disconnect: 1 };

describeOnOneDatabase('a service killed while it sets up sources', (kind) => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let service: Service;
  let workload: SourceWorkload;
  let workspaceOfRequest: ReturnType<typeof createOwnership>;

  const start = async (port?: number) => {
    service = await startService({
      dataDir: database.dataDir,
      ...(port ? { port } : {}),
      env: { ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}), ...platform.env },
    });
  };
  beforeAll(async () => {
    [database, platform] = await Promise.all([
      createTestDatabase(kind, { migrated: true }),
      startHostedPlatform({ runsJobs: isLongRun }),
    ]);
    workspaceOfRequest = createOwnership(platform);
    await start();
    workload = new SourceWorkload(
      (path) => platform.request('GET', path),
      () => service,
    );
    await workload.makeTemplates();
  });
  afterAll(async () => {
    await service?.stop();
    await platform?.stop();
    await database?.drop();
  });

  /** How many requests a piece of work makes of the platform, when nothing goes wrong. */
  async function rehearse(work: SourceWork): Promise<number> {
    let requests = 0;
    platform.proxy.script = async (request, phase) => {
      if (phase === 'arrived' && (await workspaceOfRequest(request)) === work.workspaceId) requests++;
    };
    expect((await work.send()).status).toBeLessThan(300);
    await untilNothingIsOpen(service, patienceMs);
    platform.proxy.script = undefined;
    return requests;
  }

  async function crashAt(phase: Phase, points: { work: SourceWork; request: number }[]): Promise<void> {
    const seen = new Map<SourceWork, number>();
    const chosen = new Map<ProxiedRequest, SourceWork>();
    const held = new Set<SourceWork>();
    let answered = 0;
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    platform.proxy.script = async (request, now) => {
      if (now === 'arrived') {
        const workspaceId = await workspaceOfRequest(request);
        const point = points.find(({ work }) => work.workspaceId === workspaceId);
        if (!point) return;
        const number = (seen.get(point.work) ?? 0) + 1;
        seen.set(point.work, number);
        if (number === point.request) chosen.set(request, point.work);
      }
      const work = chosen.get(request);
      if (!work) return;
      if (now === (phase === 'answered' ? 'applied' : phase)) {
        held.add(work);
        await released;
        return phase === 'answered' ? undefined : 'drop';
      }
      if (now === 'answered' && ++answered === points.length) process.kill(service.pid, 'SIGKILL');
    };
    const sent = points.map(({ work }) => work.send().catch(() => undefined));
    await eventually('all work is at its kill point', () => held.size === points.length, patienceMs);
    if (phase === 'answered') {
      letGo();
      await service.exited;
    } else {
      await service.kill();
      letGo();
    }
    await Promise.all(sent);
    platform.proxy.script = undefined;
  }

  it('leaves work that the next process finishes, exactly once, at the requests of 14 points', async () => {
    const points: { kind: SourceWork['kind']; request: number }[] = [];
    for (const workKind of sourceWorkKinds) {
      const work = await workload.prepare(workKind);
      await untilNothingIsOpen(service, patienceMs);
      const requests = await rehearse(work);
      expect([workKind, requests]).toEqual([workKind, expectedRequests[workKind]]);
      for (let request = 1; request <= requests; request++) points.push({ kind: workKind, request });
    }
    let killPoints = 0;
    for (const phase of triedPhases) {
      const crash: { work: SourceWork; request: number }[] = [];
      for (const point of points) crash.push({ work: await workload.prepare(point.kind), request: point.request });
      await untilNothingIsOpen(service, patienceMs);
      await crashAt(phase, crash);
      killPoints += crash.length;
      // Time passes while the service is down, so that its leases have ended when it starts again.
      await letSixMinutesPass(database);
      await start(service.port);
      await untilNothingIsOpen(service, patienceMs);
    }
    expect(points).toHaveLength(14);
    expect(killPoints).toBe(14 * triedPhases.length);
    for (const work of workload.all) await workload.expectConverged(work);
  });
});

describeInLongRun(
  'a service with its bundled platform, killed at commits of either while it sets up sources [sqlite]',
  () => {
    const program = useCrashingProgram();
    let database: TestDatabase;
    let service: Service;

    beforeAll(async () => {
      database = await createTestDatabase('sqlite', { migrated: true });
      await start();
    });
    afterAll(async () => {
      await service?.kill();
      await database?.drop();
    });

    const start = async (port?: number) => {
      const env = { INLAY_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'warn' };
      service = await startService({ program, dataDir: database.dataDir, ...(port ? { port } : {}), env });
    };

    /** Whether the service still runs to be disarmed; the bundled platform keeps committing in the background. */
    const disarm = () => service.tell({ at: 0, edge: 'before' } satisfies Crash);

    async function askPlatform(path: string) {
      const base = `${service.url}/platform/v1`;
      const file = await readFile(join(database.dataDir, 'platform-credentials.json'), 'utf8');
      const { clientId, clientSecret } = JSON.parse(file);
      const token = await fetch(`${base}/applications/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
      });
      const { access_token } = (await token.json()) as { access_token: string };
      const response = await fetch(base + path, { headers: { authorization: `Bearer ${access_token}` } });
      return { status: response.status, body: await response.json() };
    }

    it('leaves work that the next process finishes, exactly once', async () => {
      const workload = new SourceWorkload(askPlatform, () => service);
      await workload.makeTemplates();
      let killed = 0;
      for (const workKind of sourceWorkKinds) {
        for (let at = 1; ; at++) {
          const work = await workload.prepare(workKind);
          await untilNothingIsOpen(service, patienceMs);
          // All commits count, so right after one is also right before the next.
          await service.tell({ at, edge: 'after', withPlatform: true } satisfies Crash);
          const died = service.exited.then(() => false);
          const isDone = () => untilNothingIsOpen(service, patienceMs).then(disarm);
          const isAlive = await work.send().then(
            () => Promise.race([died, isDone().catch(() => died)]),
            () => died,
          );
          if (isAlive) break;
          expect((await service.exited).signal).toBe('SIGKILL');
          killed++;
          await letSixMinutesPass(database);
          await start(service.port);
          await untilNothingIsOpen(service, patienceMs);
          // A client without an answer asks again. It does not repeat a create, because that would make another source.
          if (workKind !== 'connect') await work.send();
          await untilNothingIsOpen(service, patienceMs);
          await workload.expectConverged(work);
        }
      }
      expect(killed).toBeGreaterThan(3);
    });
  },
);
