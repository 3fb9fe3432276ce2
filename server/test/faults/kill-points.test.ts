/**
 * `kill -9` at every request the service makes of the platform: before the platform sees it, after the platform applied
 * it but before the answer is back, and as the answer arrives. Every answer that a client got stays true, and all other
 * work is completed or absent, the same on both sides.
 *
 * One crash tests several kill points: each piece of work is held at its own point, and when all have reached it the
 * process ends. A first run without a crash shows which requests a piece of work makes. Every point is tried with a retry
 * and without. A short run tries the phase in which the platform has applied a request and the service does not know it,
 * on one database; INLAY_LONG_TESTS tries every phase on both.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, describeOnOneDatabase, type TestDatabase } from '../support/databases.ts';
import {
  call,
  eventually,
  type HostedPlatform,
  letTwoMinutesPass,
  listWorkspaces,
  requestToken,
  startHostedPlatform,
  untilNothingIsOpen,
  writeToStore,
} from '../support/deployment.ts';
import { isCreate, type Phase, type ProxiedRequest, triedPhases } from '../support/platform-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { type Work, type WorkKind, Workload } from '../support/workload.ts';

const kinds: WorkKind[] = ['create', 'rename', 'deactivate', 'activate', 'delete', 'sync'];
const expectedRequests = { create: 2, rename: 1, deactivate: 4, activate: 2, delete: 1, sync: 2 };

describeOnOneDatabase('a service killed at a request to the platform', (kind) => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let service: Service;
  let workload: Workload;

  const start = async (port?: number) => {
    service = await startService({
      dataDir: database.dataDir,
      ...(port ? { port } : {}),
      env: { ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}), ...platform.env },
    });
  };
  beforeAll(async () => {
    [database, platform] = await Promise.all([createTestDatabase(kind, { migrated: true }), startHostedPlatform()]);
    await start();
    workload = new Workload(platform, () => service);
    await workload.fillPlatform(2);
  });
  afterAll(async () => {
    await service?.stop();
    await platform?.stop();
    await database?.drop();
  });

  /** Sends each piece of work, holds it at its n-th request, and ends the process when all of them are there. */
  async function crashAt(phase: Phase, points: { work: Work; request: number }[]): Promise<void> {
    const seen = new Map<Work, number>();
    const chosen = new Map<ProxiedRequest, Work>();
    const held = new Set<Work>();
    let answered = 0;
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    platform.proxy.script = async (request, now) => {
      if (now === 'arrived') {
        const point = points.find(({ work }) => work.owns(request));
        if (!point) return;
        const number = (seen.get(point.work) ?? 0) + 1;
        seen.set(point.work, number);
        if (number === point.request) chosen.set(request, point.work);
      }
      const work = chosen.get(request);
      if (!work) return;
      // The answers are held too, and go out together: the process ends as the last of them has been handed over.
      if (now === (phase === 'answered' ? 'applied' : phase)) {
        held.add(work);
        await released;
        return phase === 'answered' ? undefined : 'drop';
      }
      if (now === 'answered' && ++answered === points.length) process.kill(service.pid, 'SIGKILL');
    };
    const sent = points.map(({ work }) => work.send().catch(() => undefined));
    await eventually('all work is at its kill point', () => held.size === points.length);
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

  it('leaves both sides consistent, with and without a retry, at the requests of 12 points', async () => {
    const points: { kind: WorkKind; request: number }[] = [];
    for (const workKind of kinds) {
      const work = await workload.prepare(workKind);
      const before = platform.proxy.arrived.length;
      expect((await work.send()).status).toBe(200);
      const requests = platform.proxy.arrived.slice(before).filter(work.owns).length;
      expect([workKind, requests]).toEqual([workKind, expectedRequests[workKind]]);
      for (let request = 1; request <= requests; request++) points.push({ kind: workKind, request });
    }

    let killPoints = 0;
    const unknownHere: string[] = [];
    for (const phase of triedPhases) {
      // Half of the points at a time, because the number of calls of the service at a time is limited.
      for (const half of [0, 1]) {
        const crash: { work: Work; request: number; retry: boolean }[] = [];
        for (const [index, { kind: workKind, request }] of points.entries()) {
          if (index % 2 !== half) continue;
          // A process runs one sync at a time, and nobody but a client repeats it: one of its two pages is retried.
          const retries = workKind === 'sync' ? [half === 0] : [false, true];
          for (const retry of retries) crash.push({ work: await workload.prepare(workKind), request, retry });
        }
        unknownHere.push(await workload.makeElsewhere(`for sync ${killPoints}`));

        await crashAt(phase, crash);
        killPoints += crash.length;
        // Time passes while the service is down, so that its leases have ended when it starts again.
        await letTwoMinutesPass(database);
        await start(service.port);
        await Promise.all(crash.filter(({ retry }) => retry).map(({ work }) => workload.retry(work)));
        await untilNothingIsOpen(service);
      }
    }
    expect(killPoints).toBe(22 * triedPhases.length);

    // Only a client repeats a sync. Everything else was finished without one.
    expect((await call(service, 'POST', '/api/v1/workspaces/sync')).status).toBe(200);
    await workload.expectBothSidesAgree();
    const here = new Set((await listWorkspaces(service)).map(({ id }) => id));
    expect(unknownHere.filter((id) => !here.has(id))).toEqual([]);

    await workload.expectEveryNameToWork();
    await untilNothingIsOpen(service);
  });

  it('waits for a create that outlived it, and sends no second one', async () => {
    const name = 'applied late';
    const search = new URLSearchParams({ name }).toString();
    let [held, searches] = [false, 0];
    let apply = () => {};
    const late = new Promise<void>((resolve) => {
      apply = resolve;
    });
    platform.proxy.script = async (request, phase) => {
      if (isCreate(request) && phase === 'arrived' && !held) {
        held = true;
        await late;
      }
      // The reconciler and the client that retries have looked and found nothing. Now the first create takes effect.
      if (request.path.includes(`${search}&`) && phase === 'answered' && held && ++searches === 2) apply();
    };
    const lost = requestToken(service, name).catch(() => undefined);
    await eventually('the create is under way', () => held);
    await service.kill();
    await lost;
    // The lease has run out, the settle window has not, however slow this machine is.
    const later = 'no_post_before = no_post_before + 20000';
    await writeToStore(database, `update name_claims set lease_until = 0, ${later} where state = 'creating'`);
    await start(service.port);
    expect((await requestToken(service, name)).status).toBe(200);
    expect(searches).toBeGreaterThan(2);
    expect([platform.proxy.createsSent(name), platform.proxy.createsApplied(name)]).toEqual([1, 1]);
    platform.proxy.script = undefined;
  });
});
