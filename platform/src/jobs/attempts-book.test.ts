import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { type Claims, startClaims, succeeded } from '../../test/claims.ts';
import { testOnStores } from '../../test/start-platform.ts';
import {
  claimAttempt,
  makeRoom,
  noteUnplaceable,
  putBackAbandoned,
  queueDueJobs,
  renewAttempts,
} from './attempts-book.ts';

const shown = async ({ call }: Claims, jobId: number) => (await call('GET', `/jobs/${jobId}`)).body;

describe('a claim', () => {
  testOnStores('gives an attempt once, with an epoch greater than any before, also in a restored store', async () => {
    const claims = await startClaims();
    const connectionId = await claims.connect(await claims.workspace());
    const { db } = claims.platform.store;
    const before = await claims.platform.store.now();
    await claims.sync(connectionId);
    const first = await claims.claim('one');
    expect(first).toMatchObject({ attempt: 1, connectionId, kind: 'sync' });
    expect(first.epoch).toBeGreaterThanOrEqual(before);
    expect(await claimAttempt(claims.ctx, { owner: 'two', slots: 1 })).toBeUndefined();

    // A destination may have seen what the backup doesn't know.
    await (await claims.desk(first, 'one')).finish(succeeded);
    await db.updateTable('connections').set({ epoch: 5 }).execute();
    await claims.sync(connectionId);
    const restored = await claims.claim('one');
    expect(restored.epoch).toBeGreaterThanOrEqual(first.epoch);
    await (await claims.desk(restored, 'one')).finish(succeeded);

    const ahead = restored.epoch + 1_000_000_000;
    await db.updateTable('connections').set({ epoch: ahead }).execute();
    await claims.sync(connectionId);
    expect((await claims.claim('one')).epoch).toBe(ahead + 1);
  });

  testOnStores('that races with others exceeds no limit, and takes no connection twice', async () => {
    const claims = await startClaims({ maxConcurrentSyncsPerWorkspace: 3 });
    const contexts = [claims.ctx, await claims.another()];
    const connections: string[] = [];
    for (const size of [5, 2]) {
      const workspaceId = await claims.workspace();
      for (let each = 0; each < size; each++) connections.push(await claims.connect(workspaceId));
    }
    const { db } = claims.platform.store;
    const held = () =>
      db.selectFrom('jobs').selectAll().where('status', '=', 'running').where('owner', 'is not', null).execute();
    const most = (keys: readonly (string | null)[]) =>
      Math.max(0, ...keys.map((key) => keys.filter((other) => other === key).length));
    const round = fc.record({
      synced: fc.subarray(connections),
      claims: fc.array(fc.tuple(fc.nat(1), fc.nat(3)), { minLength: 2, maxLength: 8 }),
      ended: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 5 }), async (rounds) => {
        for (const { synced, claims: racing, ended } of rounds) {
          for (const connectionId of synced) await claims.call('POST', '/jobs', { connectionId, jobType: 'sync' });
          await Promise.all(
            racing.map(([context, owner]) =>
              claimAttempt(contexts[context] ?? claims.ctx, { owner: `owner-${owner}`, slots: 2 }),
            ),
          );
          const running = await held();
          expect(most(running.map(({ workspace_id }) => workspace_id))).toBeLessThanOrEqual(3);
          expect(most(running.map(({ owner }) => owner))).toBeLessThanOrEqual(2);
          expect(most(running.map(({ connection_id }) => connection_id))).toBeLessThanOrEqual(1);
          for (const job of running.slice(0, ended)) {
            const ref = { jobId: job.job_id, attempt: job.attempts, epoch: job.epoch };
            await (await claims.desk(ref, job.owner ?? '')).finish(succeeded);
          }
        }
      }),
      { numRuns: isLongRun ? 50 : 4 },
    );
  });

  testOnStores('follows the turns of workspaces, and keeps slots for those without any', async () => {
    const claims = await startClaims();
    const [greedy, modest] = [await claims.workspace(), await claims.workspace()];
    for (let each = 0; each < 4; each++) await claims.sync(await claims.connect(greedy));
    const whose = async () => (await claimAttempt(claims.ctx, { owner: 'one', slots: 4 }))?.workspaceId;
    expect([await whose(), await whose(), await whose()]).toEqual([greedy, greedy, undefined]);
    await claims.sync(await claims.connect(modest));
    expect(await whose()).toBe(modest);
  });

  testOnStores('passes over what its owner cannot run, and what nobody can says so', async () => {
    const claims = await startClaims();
    const [here, there] = [await claims.workspace(), await claims.workspace()];
    const stays = await claims.sync(await claims.connect(there));
    const goes = await claims.sync(await claims.connect(here));
    const whyNot = (id: string) => (candidate: { workspace: { workspace_id: string } }) =>
      candidate.workspace.workspace_id === id ? 'No worker has the label region=eu.' : undefined;
    const workers = { whyNotHere: async () => whyNot(there), list: async () => [] };
    const ctx = { ...claims.ctx, workers };
    await noteUnplaceable(ctx);
    expect((await shown(claims, goes)).failureReason.message).toMatch(/^No worker is connected/);
    const worker = { owner: 'worker-1', slots: 1, whyNot: whyNot(there) };
    workers.list = async () => [worker] as never;
    await noteUnplaceable(ctx);
    expect((await shown(claims, stays)).failureReason).toMatchObject({
      message: 'No worker has the label region=eu.',
      origin: 'platform',
    });
    expect(await claimAttempt(ctx, worker)).toMatchObject({ jobId: goes });
    expect(await shown(claims, goes)).not.toHaveProperty('failureReason');
    expect(await shown(claims, stays)).toMatchObject({ status: 'pending' });
  });
});

describe('a lease', () => {
  testOnStores('that ran out while its owner was paused puts the attempt back, without a failure', async () => {
    const claims = await startClaims();
    const other = await claims.another();
    const jobId = await claims.sync(await claims.connect(await claims.workspace()));
    const paused = await claims.claim('paused');
    await putBackAbandoned(other);
    expect((await shown(claims, jobId)).status).toBe('running');
    await claims.silence();
    expect(await shown(claims, jobId)).toMatchObject({
      status: 'incomplete',
      failedAttempts: 0,
      attemptList: [{ status: 'interrupted' }],
    });
    expect(await renewAttempts(claims.ctx, 'paused', [{ ref: paused }])).toEqual([{ ref: paused, stop: 'lost' }]);
    const next = await claims.claim('other', other);
    expect(next.epoch).toBeGreaterThan(paused.epoch);
    expect(await renewAttempts(claims.ctx, 'paused', [{ ref: paused }])).toEqual([{ ref: paused, stop: 'lost' }]);
    expect(await renewAttempts(claims.ctx, 'other', [{ ref: next }])).toEqual([{ ref: next }]);
  });

  testOnStores('that is renewed too late, before anybody took the attempt, does no harm', async () => {
    const claims = await startClaims();
    await claims.sync(await claims.connect(await claims.workspace()));
    const ref = await claims.claim('one');
    const { db } = claims.platform.store;
    await db.updateTable('jobs').set({ lease_until: 1, row_points: null }).execute();
    expect(await renewAttempts(claims.ctx, 'one', [{ ref, progress: { records: 3, bytes: 30 } }])).toEqual([{ ref }]);
    await putBackAbandoned(claims.ctx);
    const job = await db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
    expect(job).toMatchObject({ status: 'running', owner: 'one', records: 3, bytes: 30 });
    expect(
      JSON.parse(job.row_points ?? '')
        .points.at(-1)
        .slice(1),
    ).toEqual([1, 3]);
  });

  testOnStores(
    'of a cancelled attempt keeps its connection and its slot until the owner has ended it, or is gone',
    async () => {
      const claims = await startClaims();
      const connectionId = await claims.connect(await claims.workspace());
      const first = await claims.sync(connectionId);
      const ref = await claims.claim('one');
      await claims.call('DELETE', `/jobs/${first}`);
      const second = await claims.sync(connectionId);
      const claim = () => claimAttempt(claims.ctx, { owner: 'two', slots: 1 });
      expect(await claim()).toBeUndefined();
      expect(await renewAttempts(claims.ctx, 'one', [{ ref }])).toEqual([{ ref, stop: 'lost' }]);
      expect(await claim()).toBeUndefined();
      const desk = await claims.desk(ref, 'one');
      await desk.finish({ status: 'stopped', stop: 'lost', arrived: { records: 4, bytes: 40 } });
      expect(await shown(claims, first)).toMatchObject({ status: 'cancelled', rowsSynced: 4 });
      expect(await claim()).toMatchObject({ jobId: second });
      await claims.call('DELETE', `/jobs/${second}`);
      const third = await claims.sync(connectionId);
      expect(await claim()).toBeUndefined();
      await claims.silence();
      expect(await claim()).toMatchObject({ jobId: third });
    },
  );
});

describe('an owner learns when it renews', () => {
  testOnStores('that another workspace gets its turn', async () => {
    const claims = await startClaims({ turnMs: 1_000 });
    const holder = await claims.workspace();
    const jobId = await claims.sync(await claims.connect(holder));
    const ref = await claims.claim('worker-1');
    const worker = { owner: 'worker-1', slots: 1 };
    const ctx = { ...claims.ctx, workers: { whyNotHere: async () => () => 'Not here.', list: async () => [worker] } };
    await claims.sync(await claims.connect(await claims.workspace()));
    expect(await makeRoom(ctx)).toEqual([]);
    await claims.platform.store.db
      .updateTable('job_attempts')
      .set(({ eb }) => ({ started_at: eb('started_at', '-', 5_000) }))
      .execute();
    expect(await makeRoom(ctx)).toMatchObject([{ job_id: jobId }]);
    expect(await makeRoom(ctx), 'one newcomer needs one slot').toEqual([]);
    expect(await renewAttempts(ctx, 'worker-1', [{ ref }])).toEqual([{ ref, stop: 'turn' }]);
    const desk = await claims.desk(ref, 'worker-1');
    await desk.finish({ status: 'stopped', stop: 'closing', arrived: { records: 0, bytes: 0 } });
    desk.close();
    expect(await shown(claims, jobId)).toMatchObject({ status: 'incomplete', failedAttempts: 0 });
    expect((await claims.claim('worker-1')).workspaceId, 'the newcomer has the slot').not.toBe(holder);
  });

  testOnStores('that a time limit has passed, which ends the attempt whatever its owner says', async () => {
    const claims = await startClaims({ maxAttemptMs: 60_000, maxJobMs: 150_000 });
    const jobId = await claims.sync(await claims.connect(await claims.workspace()));
    const { db } = claims.platform.store;
    for (const [nth, stop] of (['attempt_limit', 'attempt_limit', 'job_limit'] as const).entries()) {
      const ref = await claims.claim('one');
      await db
        .updateTable('job_attempts')
        .set(({ eb }) => ({ started_at: eb('started_at', '-', 60_000) }))
        .where('attempt', '=', nth + 1)
        .execute();
      expect(await renewAttempts(claims.ctx, 'one', [{ ref }])).toEqual([{ ref, stop }]);
      const desk = await claims.desk(ref, 'one');
      await desk.finish({ status: 'stopped', stop: 'closing', arrived: { records: 1, bytes: 10 } });
      desk.close();
      await db.updateTable('jobs').set({ next_attempt_at: 1 }).where('next_attempt_at', 'is not', null).execute();
    }
    expect(await shown(claims, jobId)).toMatchObject({
      status: 'failed',
      rowsSynced: 1,
      failureReason: { message: 'The sync was stopped after 150 seconds, the time limit for a job.' },
    });
  });
});

testOnStores('a schedule is queued once by two coordinators', async () => {
  const claims = await startClaims();
  const other = await claims.another();
  const schedule = { scheduleType: 'cron', cronExpression: '0 0 * * * ?' };
  const connectionId = await claims.connect(await claims.workspace(), { schedule });
  const { db } = claims.platform.store;
  await db.updateTable('connections').set({ next_run_at: 1 }).execute();
  await Promise.all([claims.ctx, other, claims.ctx, other].map(queueDueJobs));
  const jobs = await db.selectFrom('jobs').select('connection_id').execute();
  expect(jobs).toEqual([{ connection_id: connectionId }]);
  const { next_run_at } = await db.selectFrom('connections').select('next_run_at').executeTakeFirstOrThrow();
  expect(next_run_at).toBeGreaterThan(Date.now());
});

test('attempts of an earlier version, and of the coordinator that had the file before, are put back at once', async () => {
  const claims = await startClaims();
  const { db } = claims.platform.store;
  for (const owner of ['before', 'worker-1', null]) {
    await claims.sync(await claims.connect(await claims.workspace()));
    const { jobId } = await claims.claim('me');
    await db.updateTable('jobs').set({ owner }).where('job_id', '=', jobId).execute();
  }
  const before = { name: 'before', seen_at: Date.now(), encryption_keys: '', version: '1.0.0', slots: 4 };
  await db.insertInto('coordinators').values(before).execute();
  await putBackAbandoned(claims.ctx, 'me');
  const jobs = await db.selectFrom('jobs').select(['status', 'owner']).orderBy('job_id').execute();
  expect(jobs).toEqual([
    { status: 'incomplete', owner: null },
    { status: 'running', owner: 'worker-1' },
    { status: 'incomplete', owner: null },
  ]);
});
