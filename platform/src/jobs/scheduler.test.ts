import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { createTestDatabase } from '../../../server/test/support/databases.ts';
import { credentialKeeper } from '../../test/credential-keeper.ts';
import { credentials, startPlatform } from '../../test/start-platform.ts';
import { type SteeredConnection, type SteeredPlatform, startSteered, until } from '../../test/steered.ts';
import { inTurn } from '../actors/credential-turns.ts';
import { openStoreAsItIs } from '../db/open.ts';
import { systemRuntime } from '../runtime.ts';

const hourly = { scheduleType: 'cron', cronExpression: '0 0 * * * ?' };
const hour = 3_600_000;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

type Moved = Pick<SteeredPlatform, 'platform' | 'clock' | 'call'>;

/** Moves the clock; when it returns, the scheduler has done everything that is due at the new time. */
async function move({ platform, clock }: Moved, ms: number): Promise<void> {
  clock.time += ms;
  await platform.look();
}

/** All jobs, once none is under way. */
async function allJobs({ call }: Pick<Moved, 'call'>) {
  const jobs = async () => (await call('GET', '/jobs')).body.data;
  await until(async () => (await jobs()).every(({ status }: { status: string }) => !/pending|running/.test(status)));
  return jobs();
}

async function jobsAfter(moved: Moved, ms: number) {
  await move(moved, ms);
  return allJobs(moved);
}

describe('a schedule', () => {
  test('starts a sync each time it is due, in UTC', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    const shown = async () => (await steered.call('GET', connection.path)).body;
    expect((await shown()).nextRunAt).toBe('2030-01-01T01:00:00Z');
    expect(await jobsAfter(steered, hour - 1)).toEqual([]);
    expect(await jobsAfter(steered, 1)).toMatchObject([{ status: 'succeeded', startTime: '2030-01-01T01:00:00Z' }]);
    expect(await shown()).toMatchObject({ nextRunAt: '2030-01-01T02:00:00Z', lastJob: { status: 'succeeded' } });
    expect(await jobsAfter(steered, hour)).toHaveLength(2);
  });

  test('makes up what was missed while nothing ran, once', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    await jobsAfter(steered, hour);
    await steered.stop();

    const clock = { time: steered.clock.time + 50 * hour + 60_000 };
    const again = await startPlatform({ file: steered.file, clock });
    again.platform.start();
    const jobs = await jobsAfter({ ...again, clock }, 0);
    expect(jobs).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded', startTime: '2030-01-03T03:01:00Z' }]);
    expect((await again.call('GET', connection.path)).body.nextRunAt).toBe('2030-01-03T04:00:00Z');
    expect(connection.reads().begun).toBe(2);
  });

  itInLongRun('does nothing while the connection is inactive, and makes nothing up when it is activated', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    const set = async (change: object) => (await steered.call('PATCH', connection.path, change)).body;
    expect((await set({ status: 'inactive' })).nextRunAt).toBeUndefined();
    expect(await jobsAfter(steered, 3 * hour)).toEqual([]);
    expect((await set({ status: 'active' })).nextRunAt).toBe('2030-01-01T04:00:00Z');
    expect(await jobsAfter(steered, hour)).toHaveLength(1);
    expect((await set({ schedule: { scheduleType: 'manual' } })).nextRunAt).toBeUndefined();
    expect(await jobsAfter(steered, 3 * hour)).toHaveLength(1);
  });

  itInLongRun('that is set again as it was does not put off a run that is due', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    await steered.stop();
    const clock = { time: steered.clock.time + hour };
    const again = await startPlatform({ file: steered.file, clock });
    await again.call('PATCH', connection.path, { status: 'active', schedule: hourly });
    again.platform.start();
    expect(await jobsAfter({ ...again, clock }, 0)).toHaveLength(1);
  });

  itInLongRun('leaves out a run that would start during another run', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    connection.steer({ waitsAfter: 5 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    await move(steered, 2 * hour);
    expect((await steered.call('GET', connection.path)).body.nextRunAt).toBe('2030-01-01T03:00:00Z');
    connection.go();
    await steered.ended(jobId);
    expect(await jobsAfter(steered, 0)).toHaveLength(1);
  });
});

describe('after the clock was set back', () => {
  itInLongRun('a schedule runs when it says, at once and after a restart', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ schedule: hourly });
    await steered.connect({ schedule: { scheduleType: 'cron', cronExpression: '0 30 3 1 1 ?' } });
    await jobsAfter(steered, hour);
    const shown = async () => (await steered.call('GET', connection.path)).body.nextRunAt;
    expect(await shown()).toBe('2030-01-01T02:00:00Z');
    await move(steered, -48 * hour);
    expect(await shown()).toBe('2029-12-30T02:00:00Z');
    expect(await jobsAfter(steered, hour)).toHaveLength(2);
    await steered.stop();

    const clock = { time: steered.clock.time - 48 * hour };
    const again = await startPlatform({ file: steered.file, clock });
    again.platform.start();
    await move({ ...again, clock }, 0);
    expect((await again.call('GET', connection.path)).body.nextRunAt).toBe('2029-12-28T03:00:00Z');
    expect(await jobsAfter({ ...again, clock }, hour)).toHaveLength(3);
  });

  test('a job that waits to be tried again waits no longer than its pause, and no job ends before it started', async () => {
    const steered = await startSteered();
    const connection = await steered.connect();
    connection.steer({ failure: { message: 'The source is away.', failure_type: 'transient_error' } });
    const { jobId } = await connection.sync();
    const job = async () => (await steered.call('GET', `/jobs/${jobId}`)).body;
    await until(async () => (await job()).status === 'incomplete');
    connection.steer({});
    await move(steered, -48 * hour);
    await steered.ended(jobId);
    const ended = await job();
    expect(ended).toMatchObject({ status: 'succeeded', duration: 'PT0S' });
    expect(Date.parse(ended.lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(ended.startTime));
    for (const { startTime, endTime } of ended.attemptList) {
      expect(Date.parse(endTime)).toBeGreaterThanOrEqual(Date.parse(startTime));
    }

    connection.steer({ waitsAfter: 5 });
    const cancelled = await connection.sync();
    await until(() => connection.ids().length >= 5);
    steered.clock.time -= 48 * hour;
    const { startTime, lastUpdatedAt } = (await steered.call('DELETE', `/jobs/${cancelled.jobId}`)).body;
    expect(Date.parse(lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(startTime));
  });

  test('a turn at a credential ends as if it had been taken just now', async () => {
    const steered = await startSteered();
    const { workspaceId } = await steered.connect();
    const { store } = steered.platform.jobs;
    const turn = { workspace_id: workspaceId, credential_id: 'c', holder: 'elsewhere-1-0', expires_at: 0 };
    await store.db
      .insertInto('credential_turns')
      .values({ ...turn, expires_at: steered.clock.time + 30_000 })
      .execute();
    await move(steered, -hour);
    const left = await store.db.selectFrom('credential_turns').select('expires_at').executeTakeFirst();
    expect(left?.expires_at).toBe(steered.clock.time + 30_000);
  });
});

describe('a job that fails', () => {
  const flaky = { message: 'The source is away.', failure_type: 'transient_error' };

  test('is tried three times, with growing pauses, and then has failed', async () => {
    const steered = await startSteered();
    const { connect, call, ended } = steered;
    const connection = await connect();
    connection.steer({ failure: flaky });
    const { jobId } = await connection.sync();
    const job = async () => (await call('GET', `/jobs/${jobId}`)).body;
    for (const [attempts, pauseMs] of [
      [1, 10_000],
      [2, 60_000],
    ] as const) {
      await until(async () => (await job()).status === 'incomplete');
      expect(await job()).toMatchObject({
        attempts,
        failureReason: { message: 'The source is away.', origin: 'source', type: 'transient_error' },
      });
      expect(await job()).not.toHaveProperty('lastUpdatedAt');
      expect((await call('POST', '/jobs', { connectionId: connection.connectionId, jobType: 'sync' })).status).toBe(
        409,
      );
      await move(steered, pauseMs - 1);
      expect((await job()).attempts).toBe(attempts);
      await move(steered, 1);
      await until(async () => (await job()).attempts === attempts + 1);
    }
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      attempts: 3,
      failureReason: { type: 'transient_error' },
    });
  });

  test('and then succeeds shows no failure, and counts what the attempt that succeeded has moved', async () => {
    const { connect, call, clock, platform, ended } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ waitsAfter: 4, failure: flaky });
    connection.go();
    const { jobId } = await connection.sync();
    await until(async () => (await call('GET', `/jobs/${jobId}`)).body.status === 'incomplete');
    connection.steer({ records: 12 });
    clock.time += 10_000;
    platform.wake();
    const job = await ended(jobId);
    expect(job).toMatchObject({ status: 'succeeded', attempts: 2, rowsSynced: 8 });
    expect(job.streams).toMatchObject([{ streamName: 'items', recordsEmitted: 8 }]);
    expect(job).not.toHaveProperty('failureReason');
    expect([...new Set(connection.ids())]).toEqual(range(0, 12));
  });

  itInLongRun('because of its configuration is not tried again', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect();
    connection.steer({ failure: { message: 'The password is wrong.', failure_type: 'config_error' } });
    expect(await ended((await connection.sync()).jobId)).toMatchObject({
      status: 'failed',
      attempts: 1,
      failureReason: { message: 'The password is wrong.', origin: 'source', type: 'config_error' },
    });
  });

  test('says at the end of its log how many streams, rows and bytes it has moved, and how long it took', async () => {
    const { connect, ended, file } = await startSteered();
    const connection = await connect();
    connection.steer({ records: 3 });
    const { jobId, status } = await ended((await connection.sync()).jobId);
    expect(status).toBe('succeeded');
    const log = readFileSync(join(dirname(file), 'logs', connection.connectionId, `${jobId}-1.log`), 'utf8');
    const messages = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).message);
    expect(messages.slice(-2)).toEqual([
      'items: 3 rows',
      expect.stringMatching(/^Succeeded: 1 stream, 3 rows, [1-9]\d* bytes in \d+\.\d s\.$/),
    ]);
  });

  test('leaves a log of each attempt, and shows no secret there or to the caller', async () => {
    const { connect, ended, file } = await startSteered();
    const connection = await connect();
    connection.steer({ failure: { message: 'Not with a-password.', failure_type: 'config_error' } });
    const { jobId, failureReason } = await ended((await connection.sync()).jobId);
    expect(failureReason.message).toBe('Not with **********.');
    const folder = join(dirname(file), 'logs', connection.connectionId);
    expect(readdirSync(folder)).toEqual([`${jobId}-1.log`]);
    const log = readFileSync(join(folder, `${jobId}-1.log`), 'utf8');
    expect(log).toContain('Not with **********.');
    expect(log).not.toContain('a-password');
  });
});

describe('a running sync is stopped', () => {
  test.each([
    ['its connection is made inactive', 'PATCH', '/connections/', 'connectionId', { status: 'inactive' }],
    ['its connection is deleted', 'DELETE', '/connections/', 'connectionId', undefined],
    ['its source is deleted', 'DELETE', '/sources/', 'sourceId', undefined],
    ['its workspace is deleted', 'DELETE', '/workspaces/', 'workspaceId', undefined],
  ] as const)('when %s', async (_why, method, path, id, body) => {
    const { connect, call, file } = await startSteered();
    const connection = await connect();
    connection.steer({ waitsAfter: 5 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    expect((await call(method, path + connection[id], body)).status).toBeLessThan(300);
    const job = async () => (await call('GET', `/jobs/${jobId}`)).body;
    expect((await job()).status).toBe('cancelled');
    await until(() => countRuns(file) === 0);
    connection.go();
    expect(connection.reads()).toEqual({ begun: 1, ended: 0 });
    expect(connection.written()).not.toContain('replace items');
  });
});

describe('the slots for syncs', () => {
  /** Connections of one workspace, each with a sync that runs until the test ends it; returns the ids of their jobs. */
  async function endless({ connect }: SteeredPlatform, count: number) {
    const first = await connect();
    const { workspaceId } = first;
    const all = [first];
    while (all.length < count) all.push(await connect({ workspaceId }));
    const jobs: number[] = [];
    for (const connection of all) {
      connection.steer({ waitsAfter: 5 });
      jobs.push((await connection.sync()).jobId);
    }
    return { all, jobs, workspaceId };
  }

  async function statuses({ call }: SteeredPlatform, jobIds: readonly number[]): Promise<string[]> {
    return await Promise.all(jobIds.map(async (jobId) => (await call('GET', `/jobs/${jobId}`)).body.status));
  }

  test('four endless syncs of one workspace hold two, and a sync of another workspace starts', async () => {
    const steered = await startSteered();
    const greedy = await endless(steered, 4);
    const other = await endless(steered, 1);
    await steered.platform.look();
    expect(await statuses(steered, greedy.jobs)).toEqual(['running', 'running', 'pending', 'pending']);
    expect(await statuses(steered, other.jobs)).toEqual(['running']);
  });

  test('two greedy workspaces leave one for a third, of another organization too', async () => {
    const steered = await startSteered();
    const [one, two] = [await endless(steered, 3), await endless(steered, 3)];
    const organizationId = randomUUID();
    const { workspaceId } = (await steered.call('POST', '/workspaces', { name: 'third', organizationId })).body;
    const third = await steered.connect({ workspaceId });
    third.steer({ waitsAfter: 5 });
    const { jobId } = await third.sync();
    await steered.platform.look();
    expect(await statuses(steered, one.jobs)).toEqual(['running', 'running', 'pending']);
    expect(await statuses(steered, two.jobs)).toEqual(['running', 'pending', 'pending']);
    expect(await statuses(steered, [jobId])).toEqual(['running']);
  });

  itInLongRun('go round: a workspace that asked once comes before the next sync of one that asked often', async () => {
    const steered = await startSteered({ maxConcurrentSyncs: 1 });
    const often = await endless(steered, 3);
    const once = await endless(steered, 1);
    const [first, second] = often.all;
    await until(() => first?.ids().length === 5);
    first?.go();
    await until(() => once.all[0]?.ids().length === 5);
    expect(await statuses(steered, often.jobs)).toEqual(['succeeded', 'pending', 'pending']);
    once.all[0]?.go();
    await until(() => second?.ids().length === 5);
    for (const connection of often.all) connection.go();
    for (const jobId of often.jobs) expect((await steered.ended(jobId)).status).toBe('succeeded');
  });

  test.each([1, 2])(
    'are not held by syncs that wait for a sign-in that one may use at a time: %i slots',
    async (slots) => {
      const keeper = credentialKeeper({ clock: { time: Date.UTC(2030, 0, 1) } });
      const options = { maxConcurrentSyncs: slots, maxConcurrentSyncsPerWorkspace: slots, credentials: keeper };
      const steered = await startSteered(options);
      const { call, platform } = steered;
      // All of one customer, and of one sign-in.
      const first = await steered.connect();
      const { workspaceId } = first;
      const waiting = [await steered.connect({ workspaceId }), await steered.connect({ workspaceId })];
      const other = await steered.connect();
      const credential = { id: randomUUID(), fields: { access_token: ['password'] }, hand_over: 'refresh_token' };
      for (const { sourceId } of [first, ...waiting]) {
        expect((await call('PATCH', `/sources/${sourceId}`, { credential })).status).toBe(200);
      }
      const ref = { workspaceId, credentialId: credential.id };
      // A check, or whatever else, has the turn: nobody takes a slot to wait for it.
      const jobs: number[] = [];
      await inTurn(platform, ref, {}, async () => {
        for (const connection of [first, ...waiting]) {
          connection.steer({ waitsAfter: 5 });
          jobs.push((await connection.sync()).jobId);
        }
        other.steer({ waitsAfter: 5 });
        const { jobId } = await other.sync();
        await platform.look();
        expect(await statuses(steered, [...jobs, jobId])).toEqual(['pending', 'pending', 'pending', 'running']);
        other.go();
        expect((await steered.ended(jobId)).status).toBe('succeeded');
      });
      await platform.look();
      await until(() => first.ids().length === 5);
      expect(await statuses(steered, jobs)).toEqual(['running', 'pending', 'pending']);
      // One after the other, and the second slot is free for others.
      if (slots > 1) expect((await steered.ended((await other.sync()).jobId)).status).toBe('succeeded');
      for (const connection of [first, ...waiting]) connection.go();
      for (const jobId of jobs) expect(await steered.ended(jobId)).toMatchObject({ status: 'succeeded', attempts: 1 });
    },
  );

  itInLongRun(
    'held by as many workspaces as there are slots are given up, one turn after the other, without a failure',
    async () => {
      const steered = await startSteered({ maxConcurrentSyncs: 2, turnMs: 1_000, runtime: systemRuntime });
      const streams = [{ name: 'items', syncMode: 'incremental_append' }];
      const holders = [await steered.connect({ streams }), await steered.connect({ streams })];
      const held: number[] = [];
      for (const holder of holders) {
        holder.steer({ records: 10, waitsAfter: 5 });
        held.push((await holder.sync()).jobId);
        await until(() => holder.ids().length === 5);
      }
      // Nobody waits for a slot, so everybody keeps theirs.
      await steered.platform.look();
      expect(await statuses(steered, held)).toEqual(['running', 'running']);
      const newcomer = await steered.connect({ streams });
      const { jobId } = await newcomer.sync();
      expect(await steered.ended(jobId)).toMatchObject({ status: 'succeeded', failedAttempts: 0 });
      for (const holder of holders) holder.go();
      const ended = await Promise.all(held.map((one) => steered.ended(one)));
      const done = { status: 'succeeded', failedAttempts: 0 };
      expect(ended).toMatchObject([done, done]);
      expect(ended.flatMap(({ attemptList }) => attemptList)).toContainEqual(
        expect.objectContaining({ status: 'interrupted' }),
      );
      // Each resumes from its last state.
      for (const holder of holders) expect(holder.ids()).toEqual(range(0, 10));
    },
  );

  test('are as many as the settings say', async () => {
    const steered = await startSteered({ maxConcurrentSyncs: 6, maxConcurrentSyncsPerWorkspace: 3 });
    const { jobs } = await endless(steered, 4);
    await steered.platform.look();
    expect(await statuses(steered, jobs)).toEqual(['running', 'running', 'running', 'pending']);
  });

  test('are fewer in a workspace with a limit: what its schedules start waits, through a restart, and is not lost', async () => {
    const steered = await startSteered();
    const first = await steered.connect({ schedule: hourly });
    const { workspaceId } = first;
    const second = await steered.connect({ workspaceId, schedule: hourly });
    for (const connection of [first, second]) connection.steer({ waitsAfter: 5 });
    const limit = (maxConcurrentSyncs: unknown, id = workspaceId) =>
      steered.call('PUT', `/workspaces/${id}/limits`, { maxConcurrentSyncs });
    for (const wrong of [0, 1.5, '1', undefined]) expect((await limit(wrong)).status).toBe(400);
    expect((await limit(1, randomUUID())).status).toBe(404);
    expect(await limit(1)).toEqual({ status: 200, body: { maxConcurrentSyncs: 1 } });
    await move(steered, hour);
    const now = async () =>
      (await steered.call('GET', '/jobs')).body.data.map(({ status }: { status: string }) => status);
    expect(await now()).toEqual(['running', 'pending']);
    const begun = () => first.reads().begun + second.reads().begun;
    await until(() => begun() === 1);

    await steered.stop();
    const again = await startPlatform({ file: steered.file, clock: steered.clock });
    again.platform.start();
    await again.platform.look();
    await until(() => begun() === 2);
    const later = async () =>
      (await again.call('GET', '/jobs')).body.data.map(({ status }: { status: string }) => status);
    expect((await later()).sort()).toEqual(['pending', 'running']);
    expect((await again.call('PUT', `/workspaces/${workspaceId}/limits`, { maxConcurrentSyncs: null })).status).toBe(
      200,
    );
    await until(() => begun() === 3);
    expect(await later(), 'a limit that is lifted').toEqual(['running', 'running']);
    for (const connection of [first, second]) connection.go();
    await until(async () => (await later()).every((status: string) => status === 'succeeded'));
  });

  test('have a queue with an end: what a workspace asks for beyond it is refused, and nobody else is', async () => {
    const steered = await startSteered({ maxWaitingPerWorkspace: 1 });
    const { all, jobs, workspaceId } = await endless(steered, 3);
    await steered.platform.look();
    expect(await statuses(steered, jobs)).toEqual(['running', 'running', 'pending']);
    const more = await steered.connect({ workspaceId });
    const body = { connectionId: more.connectionId, jobType: 'sync' };
    const { token } = await steered.platform.tokens.issue(credentials.clientId, credentials.clientSecret);
    const headers = { authorization: `Bearer ${token}` };
    const refused = await steered.app.inject({ method: 'POST', url: '/platform/v1/jobs', headers, payload: body });
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    expect(refused.json().title).toBe('queue-full');
    const other = await endless(steered, 1);
    await steered.platform.look();
    expect(await statuses(steered, other.jobs)).toEqual(['running']);
    all[0]?.go();
    await until(() => all[2]?.ids().length === 5);
    expect((await steered.call('POST', '/jobs', body)).status).toBe(200);
  });

  itInLongRun('report how long each sync has waited for one', async () => {
    const waits: [string, number][] = [];
    const steered = await startSteered({
      maxConcurrentSyncs: 1,
      onWaited: (kind, ms) => kind === 'sync' && waits.push([kind, ms]),
    });
    const { all } = await endless(steered, 2);
    await until(() => all[0]?.ids().length === 5);
    steered.clock.time += 5_000;
    all[0]?.go();
    await until(() => all[1]?.ids().length === 5);
    expect(waits).toEqual([
      ['sync', 0],
      ['sync', 5_000],
    ]);
  });
});

describe('an attempt that takes too long', () => {
  test('is ended at the limit, and tried again', async () => {
    const steered = await startSteered({ maxAttemptMs: 500, runtime: systemRuntime });
    const connection = await steered.connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ records: 12, waitsAfter: 5 });
    const { jobId } = await connection.sync();
    const job = async () => (await steered.call('GET', `/jobs/${jobId}`)).body;
    await until(async () => (await job()).status === 'incomplete');
    expect((await job()).failureReason).toEqual({
      message: expect.stringContaining('0.5 seconds'),
      origin: 'platform',
      type: 'transient_error',
    });
  });
});

describe('a job that takes too long', () => {
  const limit = 'The sync was stopped after 2 hours, the time limit for a job.';

  test('is ended at the limit, which its failure names, and is not tried again', async () => {
    const steered = await startSteered({ maxJobMs: 500, runtime: systemRuntime });
    const connection = await steered.connect();
    connection.steer({ waitsAfter: 5 });
    const job = await steered.ended((await connection.sync()).jobId);
    expect(job).toMatchObject({ status: 'failed', attempts: 1, failureReason: { origin: 'platform' } });
    expect(job.failureReason.message).toBe(limit.replace('2 hours', '0.5 seconds'));
  });

  itInLongRun('counts the time of all its attempts, and not the time between them', async () => {
    const steered = await startSteered({ maxJobMs: 2 * hour });
    const { call, clock, platform } = steered;
    const connection = await steered.connect();
    const steps = { waitsAfter: 5, failure: { message: 'The line was cut.', failure_type: 'transient_error' } };
    connection.steer(steps);
    const { jobId } = await connection.sync();
    const job = async () => (await call('GET', `/jobs/${jobId}`)).body;
    await until(() => connection.ids().length === 5);
    clock.time += hour;
    connection.go();
    await until(async () => (await job()).status === 'incomplete');
    // Half of its time is left.
    connection.hold();
    clock.time += 10 * hour;
    await platform.look();
    await until(async () => connection.reads().begun === 2);
    clock.time += hour - 1;
    connection.go();
    await until(async () => (await job()).failedAttempts === 2);
    connection.hold();
    clock.time += hour;
    await platform.look();
    expect(await job()).toMatchObject({ status: 'running', attempts: 3 });
    clock.time += 1;
    await platform.look();
    expect(await steered.ended(jobId)).toMatchObject({ status: 'failed', attempts: 3, failedAttempts: 3 });
    expect((await job()).failureReason.message).toBe(limit);
  });
});

describe('closing the platform', () => {
  test('in the middle of a sync stops it, and the next start continues with it', async () => {
    const steered = await startSteered();
    const connection = await steered.connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ records: 20, waitsAfter: 8 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    await steered.stop();
    expect(existsSync(steered.file)).toBe(true);
    expect(runFolders(steered.file)).toEqual([]);

    const again = await startPlatform({ file: steered.file });
    const job = async () => (await again.call('GET', `/jobs/${jobId}`)).body;
    expect(await job()).toMatchObject({ status: 'incomplete', attempts: 1, rowsSynced: 8 });
    connection.steer({ records: 20 });
    again.platform.start();
    await until(async () => (await job()).status === 'succeeded');
    expect(await job()).toMatchObject({ attempts: 2 });
    expect([...new Set(connection.ids())]).toEqual(range(0, 20));
  });
});

describe('two processes on one database', () => {
  test('do not both run jobs; the second takes over when the first is gone', async () => {
    const first = await startSteered();
    const connection = await first.connect();
    connection.steer({ waitsAfter: 5 });
    const second = await startPlatform({ file: first.file, clock: first.clock });
    second.platform.start();
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    await second.platform.look();
    expect((await second.call('GET', `/jobs/${jobId}`)).body).toMatchObject({ status: 'running', attempts: 1 });
    // A change made through the other process counts as well.
    await second.call('DELETE', `/jobs/${jobId}`);
    await until(() => countRuns(first.file) === 0);

    connection.steer({});
    await first.stop();
    const next = (await second.call('POST', '/jobs', { connectionId: connection.connectionId, jobType: 'sync' })).body;
    await until(async () => (await second.call('GET', `/jobs/${next.jobId}`)).body.status === 'succeeded');
  });

  test('a run whose lease was taken over writes nothing more', async () => {
    const { platform, connect, call, file } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ waitsAfter: 5 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    const stateOf = () => platform.store.db.selectFrom('connection_streams').select('state').executeTakeFirstOrThrow();
    await until(async () => (await stateOf()).state !== null);
    // Acts as another machine that found the lease expired, and runs the job; holds the lease for a long time.
    const taken = { holder: 'another-1-machine', expires_at: platform.runtime.now() + hour };
    await platform.store.db.updateTable('runner_lease').set(taken).execute();
    await platform.store.db
      .updateTable('jobs')
      .set(({ eb }) => ({ owner: taken.holder, lease_until: taken.expires_at, epoch: eb('epoch', '+', 1) }))
      .execute();
    connection.go();
    await platform.look();
    await until(() => countRuns(file) === 0);
    expect((await call('GET', `/jobs/${jobId}`)).body.status).toBe('running');
    expect((await stateOf()).state).toContain('{"next":5}');
  });
});

test('coordinators on PostgreSQL share the jobs, and one continues what the other leaves', async () => {
  const { url = '', drop } = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  onTestFinished(drop);
  const options = { databaseUrl: url, runtime: systemRuntime, maxConcurrentSyncs: 2 };
  const first = await startSteered(options);
  const second = await startPlatform(options);
  second.platform.start();
  const streams = [{ name: 'items', syncMode: 'incremental_append' }];
  const connections: SteeredConnection[] = [];
  for (let each = 0; each < 4; each++) connections.push(await first.connect({ streams }));
  for (const connection of connections) connection.steer({ records: 10, waitsAfter: 5 });
  for (const connection of connections) await connection.sync();
  await until(() => connections.every((connection) => connection.ids().length === 5));
  const { db } = second.platform.store;
  const jobs = () => db.selectFrom('jobs').select(['owner', 'status', 'failed_attempts', 'epoch']).execute();
  const owners = (await jobs()).map(({ owner }) => owner);
  expect(new Set(owners).size).toBe(2);
  expect(new Set((await second.platform.listKeyHolders()).map(({ encryption_keys }) => encryption_keys)).size).toBe(1);

  await first.stop();
  expect((await jobs()).filter(({ status }) => status === 'incomplete')).toHaveLength(2);
  for (const connection of connections) connection.go();
  await until(async () => (await jobs()).every(({ status }) => status === 'succeeded'));
  expect((await jobs()).every(({ failed_attempts, owner }) => failed_attempts === 0 && owner === null)).toBe(true);
  for (const connection of connections) {
    expect([...new Set(connection.ids())]).toEqual(range(0, 10));
    const [stream] = connection.catalog().streams;
    expect(stream).toMatchObject({ inlay_writer: connection.connectionId, inlay_epoch: expect.any(Number) });
  }
});

test('a coordinator that cannot renew a lease on PostgreSQL stops the attempt before the lease ends', async () => {
  const { url = '', drop } = await createTestDatabase('postgres', { migrated: true, of: 'platform' });
  onTestFinished(drop);
  let skippedMs = 0;
  const runtime = { ...systemRuntime, elapsed: () => systemRuntime.elapsed() + skippedMs };
  const steered = await startSteered({ databaseUrl: url, runtime });
  const connection = await steered.connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
  connection.steer({ records: 10, waitsAfter: 5 });
  const { jobId } = await connection.sync();
  await until(() => connection.ids().length === 5);
  const other = openStoreAsItIs({ url });
  await other.transaction(async (tx) => {
    await sql`lock table coordinators in access exclusive mode`.execute(tx);
    skippedMs = 16_000;
    await until(() => countRuns(steered.file) === 0);
  });
  await other.close();
  connection.go();
  expect(await steered.ended(jobId)).toMatchObject({ status: 'succeeded', failedAttempts: 0, attempts: 2 });
  expect([...new Set(connection.ids())]).toEqual(range(0, 10));
});

test('the oldest jobs of a connection and their logs are removed', async () => {
  const { connect, ended, platform, call, file } = await startSteered();
  const connection = await connect();
  const first = await ended((await connection.sync()).jobId);
  const { connectionId: connection_id, workspaceId: workspace_id } = connection;
  const ended_at = platform.runtime.now();
  const done = { job_type: 'sync', trigger_kind: 'schedule', status: 'succeeded', next_attempt_at: null } as const;
  const noFailure = { failure_message: null, failure_origin: null, failure_type: null };
  const times = { created_at: ended_at, started_at: ended_at, updated_at: ended_at, ended_at };
  const rows = range(0, 99).map(() => ({ connection_id, workspace_id, ...done, ...noFailure, ...times }));
  await platform.store.db.insertInto('jobs').values(rows).execute();
  const last = await ended((await connection.sync()).jobId);
  await until(async () => (await call('GET', `/jobs/${first.jobId}`)).status === 404);
  const kept = await platform.store.db.selectFrom('jobs').select('job_id').execute();
  expect(kept).toHaveLength(100);
  const logs = join(dirname(file), 'logs', connection_id);
  await until(() => readdirSync(logs).length === 1);
  expect(readdirSync(logs)).toEqual([`${last.jobId}-1.log`]);
});

/** Belongs to the run of the service that continues. */
function runFolders(file: string): string[] {
  const running = join(dirname(file), 'running');
  return readdirSync(running, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(running, name));
}

/** How many connectors run, or are being cleaned up after. */
function countRuns(file: string): number {
  return runFolders(file).flatMap((folder) => readdirSync(join(folder, 'runs'))).length;
}
