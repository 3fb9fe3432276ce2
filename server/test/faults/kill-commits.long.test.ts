/**
 * `kill -9` at every commit: before the database has it, and right after. A committed change is completed, an
 * uncommitted one is absent, the same on both sides, whether the client asks again or not.
 *
 * The test finds out how many commits a piece of work makes: it kills the process at the first commit, then at the
 * second and so on, until the work is done before the process is killed. Clients ask again after every second crash. Every
 * kind of work runs on both databases, each commit before and after, once with a retry and once without.
 */
import { expect, it } from 'vitest';
import { useCrashingProgram } from '../support/crashing-program.ts';
import type { Crash } from '../support/crashing-service.ts';
import { createTestDatabase, describeOnBothDatabases, type TestDatabaseKind } from '../support/databases.ts';
import {
  call,
  letTwoMinutesPass,
  listWorkspaces,
  startHostedPlatform,
  untilNothingIsOpen,
} from '../support/deployment.ts';
import { type Service, startService } from '../support/service.ts';
import { type WorkKind, Workload } from '../support/workload.ts';

const every: WorkKind[] = ['create', 'rename', 'delete', 'deactivate', 'sync'];
const edges = ['before', 'after'] as const;
/**
 * The lease and the work before and after it; a deactivation also remembers its connections and renews its lease for
 * each.
 */
const expectedCommits: Partial<Record<WorkKind, number>> = { create: 3, rename: 3, deactivate: 6, delete: 3, sync: 2 };

const program = useCrashingProgram();

/** Positions have no gap, whatever was killed between a change and its position, and each workspace came once and went once. */
async function expectLogToTellEverythingOnce(service: Service): Promise<void> {
  const events: { position: number; type: string; workspace_id: string | null }[] = [];
  for (let after = 0; ; ) {
    const { body } = await call(service, 'GET', `/api/v1/events?after=${after}&limit=500`);
    events.push(...body.data);
    if (body.data.length === 0) break;
    after = body.next;
  }
  expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
  const count = (id: string, ...types: string[]) =>
    events.filter(({ type, workspace_id }) => workspace_id === id && types.includes(type)).length;
  for (const { id } of await listWorkspaces(service)) {
    expect([id, count(id, 'workspace.created', 'workspace.adopted'), count(id, 'workspace.deleted')]).toEqual([
      id,
      1,
      0,
    ]);
  }
  const gone = events.flatMap(({ type, workspace_id }) => (type === 'workspace.deleted' ? (workspace_id ?? '') : []));
  expect(new Set(gone).size).toBe(gone.length);
}

/** Kills at every commit of these kinds of work, one after the other. */
async function killAtEveryCommit(kind: TestDatabaseKind, workKinds: WorkKind[]): Promise<void> {
  const [database, platform] = await Promise.all([createTestDatabase(kind, { migrated: true }), startHostedPlatform()]);
  let service: Service | undefined;
  const running = () => service as Service;
  const start = async (port?: number) => {
    service = await startService({
      program,
      dataDir: database.dataDir,
      ...(port ? { port } : {}),
      env: { ...platform.env, ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}) },
    });
  };
  const workload = new Workload(platform, running);
  const unknownHere: string[] = [];

  /** Whether there were that many commits. */
  async function killAt(workKind: WorkKind, crash: Crash, clientRetries: boolean): Promise<boolean> {
    if (workKind === 'sync') unknownHere.push(await workload.makeElsewhere(`for sync ${workload.all.length}`));
    const work = await workload.prepare(workKind);
    // So that the next commit is one of the work, and not one that gives positions to entries of before.
    await untilNothingIsOpen(running());
    await running().tell(crash);
    const reply = await work.send().catch(() => undefined);
    if (reply) {
      expect([work.name, reply.status]).toEqual([work.name, 200]);
      // Background work keeps committing: the process may be killed after its response.
      if (await running().tell({ ...crash, at: 0 })) return false;
    }
    expect((await running().exited).signal).toBe('SIGKILL');
    // Time passes while the service is down, so that its leases have ended when it starts again.
    await letTwoMinutesPass(database);
    await start(running().port);
    if (clientRetries) await workload.retry(work);
    else work.isLost = crash.at === 1 && crash.edge === 'before';
    await untilNothingIsOpen(running());
    return true;
  }

  try {
    await start();
    // For a sync of several pages, of which two are recorded together.
    if (workKinds.includes('sync')) await workload.fillPlatform(3);
    for (const workKind of workKinds) {
      // A pass kills at every commit, in turn before and after, and in turn with a retry and without: the four passes
      // together are every combination.
      for (const pass of [0, 1, 2, 3]) {
        let commits = 0;
        const edge = () => edges[(commits + pass) % 2] as Crash['edge'];
        const isRetried = () => (Math.floor(commits / 2) + Math.floor(pass / 2)) % 2 === 1;
        while (await killAt(workKind, { at: commits + 1, edge: edge() }, isRetried())) commits += 1;
        // The work in the background may commit something in between. Then the process is killed there too.
        expect(commits, workKind).toBeGreaterThanOrEqual(expectedCommits[workKind] ?? 1);
      }
    }
    // Only a client repeats a sync. Everything else was finished without one.
    expect((await call(running(), 'POST', '/api/v1/workspaces/sync')).status).toBe(200);
    await workload.expectBothSidesAgree();
    const here = await Promise.all(unknownHere.map((id) => call(running(), 'GET', `/api/v1/workspaces/${id}`)));
    expect(here.filter(({ status }) => status !== 200)).toEqual([]);
    await workload.expectEveryNameToWork();
    await untilNothingIsOpen(running());
    await expectLogToTellEverythingOnce(running());
  } finally {
    await service?.kill();
    await platform.stop();
    await database.drop();
  }
}

describeOnBothDatabases('a service killed at a commit', (kind) => {
  it('leaves both sides consistent, with and without a retry, before and after each', async () => {
    await killAtEveryCommit(kind, every);
  });
});
