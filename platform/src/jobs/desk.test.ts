import { describe, expect, test } from 'vitest';
import { type Claims, catalog, startClaims, stateOf, succeeded } from '../../test/claims.ts';
import { testOnStores } from '../../test/start-platform.ts';
import { runAttempt } from '../attempts/attempt.ts';
import { type Assignment, type AttemptRef, type AttemptReport, type Desk, StaleAttempt } from '../attempts/desk.ts';
import type { Runner, SyncRequest } from '../runner/runner.ts';
import type { JobsContext } from './context.ts';
import { openDesk, type StoreDesk } from './desk.ts';

const incremental = ['items', 'notes'].map((name) => ({ name, syncMode: 'incremental_append' }));
const delayed = { origin: 'platform', type: 'transient_error', message: 'Later.' } as const;

async function connect(claims: Claims): Promise<string> {
  const connectionId = await claims.connect(await claims.workspace());
  const { db } = claims.platform.store;
  const configurations = JSON.stringify({ streams: incremental });
  await db.updateTable('connections').set({ configurations }).where('connection_id', '=', connectionId).execute();
  return connectionId;
}

describe('a desk whose attempt is no longer the current one', () => {
  testOnStores('changes nothing, whatever it is asked', async () => {
    const claims = await startClaims();
    await claims.sync(await connect(claims));
    const stale = await claims.claim('one');
    const untouched = await claims.desk(stale, 'one');
    const planned = await claims.desk(stale, 'one');
    await planned.plan(catalog);
    await claims.silence();
    const current = await claims.claim('two');
    const desk = await claims.desk(current, 'two');
    await desk.plan(catalog);
    await desk.keepState(...stateOf('items', 5));

    const before = await claims.rows();
    const [state, text] = stateOf('items', 99);
    const calls: Record<string, (desk: StoreDesk) => Promise<unknown>> = {
      plan: (old) => old.plan(catalog),
      planClearing: (old) => old.planClearing(),
      planAnew: (old) => old.planAnew([{ stream: { name: 'items' }, how: 'gone' }]),
      keepHeld: (old) => old.keepHeld({ name: 'items' }, 'held'),
      keepState: (old) => old.keepState(state, text),
      keepConfiguration: (old) => old.keepConfiguration('source', { sourceType: 'sample-data', count: 3 }),
      finish: (old) => old.finish(succeeded),
      'finish as failed': (old) => old.finish({ status: 'failed', failure: delayed, isDelay: false }),
      'finish as stopped': (old) =>
        old.finish({ status: 'stopped', stop: 'closing', arrived: { records: 9, bytes: 9 } }),
    };
    for (const [name, call] of Object.entries(calls)) {
      for (const old of [untouched, planned]) {
        await expect(call(old), name).rejects.toThrow(StaleAttempt);
        expect(await claims.rows(), name).toEqual(before);
      }
    }
    await expect(openDesk(claims.ctx, stale, 'one')).rejects.toThrow(StaleAttempt);
    await expect(openDesk(claims.ctx, current, 'one'), 'of another owner').rejects.toThrow(StaleAttempt);
    await expect(openDesk(claims.ctx, { ...current, epoch: stale.epoch }, 'two')).rejects.toThrow(StaleAttempt);
    untouched.close();
    planned.close();
    await desk.finish(succeeded);
    desk.close();
    await expect(desk.finish(succeeded), 'twice').rejects.toThrow(StaleAttempt);
  });
});

/** Loses what the states rely on once, then moves rows; every call that a runner can make is made. */
function scriptedRunner(requests: SyncRequest[]): Runner {
  const runner: Partial<Runner> = {
    discover: async () => catalog,
    async sync(request) {
      requests.push(request);
      const nothing = { records: 0, bytes: 0, streams: [], moreStreams: 0, changedValues: {} };
      if (requests.length === 2) {
        return { ...nothing, status: 'lost', lostStreams: [{ stream: { name: 'notes' }, how: 'gone' }] };
      }
      await request.keepConfiguration?.('source', { sourceType: 'sample-data', count: 12 });
      for (const name of ['items', 'notes']) {
        await request.keepHeld?.({ name }, `held ${requests.length}`);
        await request.keepState(...stateOf(name, requests.length * 10));
      }
      request.onProgress?.({ records: 5, bytes: 50 });
      return { ...nothing, status: 'succeeded', records: 7, bytes: 70 };
    },
  };
  return runner as Runner;
}

/** Every call is made at a desk that was just opened, at the next of the coordinators. */
function changingDesk(contexts: readonly JobsContext[], assignment: Assignment, owner: string): Desk {
  let turn = 0;
  const at = async <T>(call: (desk: StoreDesk) => Promise<T>): Promise<T> => {
    const desk = await openDesk(contexts[turn++ % contexts.length] as JobsContext, assignment, owner);
    try {
      return await call(desk);
    } finally {
      desk.close();
    }
  };
  return {
    assignment,
    log: { write() {} },
    progress() {},
    useConnector: (kind, options, work) => at((desk) => desk.useConnector(kind, options, work)),
    plan: (discovered) => at((desk) => desk.plan(discovered)),
    planClearing: () => at((desk) => desk.planClearing()),
    planAnew: (lost) => at((desk) => desk.planAnew(lost)),
    keepHeld: (stream, held) => at((desk) => desk.keepHeld(stream, held)),
    keepState: (state, text) => at((desk) => desk.keepState(state, text)),
    keepConfiguration: (kind, configuration) => at((desk) => desk.keepConfiguration(kind, configuration)),
    finish: (report) => at((desk) => desk.finish(report)),
  };
}

/** Two syncs, the second of which loses a stream. What they leave, without ids and times. */
async function twoSyncs(claims: Claims, deskOf: (assignment: Assignment) => Promise<Desk>) {
  const connectionId = await connect(claims);
  const requests: SyncRequest[] = [];
  const runner = scriptedRunner(requests);
  for (let sync = 0; sync < 2; sync++) {
    await claims.sync(connectionId);
    const assignment = (await claims.claim('one')) as Assignment;
    await runAttempt(await deskOf(assignment), {
      runner,
      runtime: claims.platform.runtime,
      signal: new AbortController().signal,
      trace: { traceId: '0', spanId: '0', flags: 0 },
      onFault(error) {
        throw error;
      },
    });
  }
  const { db } = claims.platform.store;
  const jobs = await db.selectFrom('jobs').selectAll().orderBy('job_id').execute();
  const streams = await db.selectFrom('connection_streams').selectAll().orderBy('name').execute();
  const anonymous = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value, (key, each) =>
        /_id$|_at$|^(epoch|row_points|traceparent|seq|generation_id|minimum_generation_id)$/.test(key) ? null : each,
      ),
    );
  return {
    jobs: anonymous(jobs),
    streams: anonymous(streams.map((row) => ({ ...row, configured: JSON.parse(row.configured) }))),
    asked: requests.map(({ state, catalog, notices, writer }) => ({
      state,
      held: catalog.streams.map(({ inlay_held }) => inlay_held),
      notices: [...(notices ?? [])].map(([key, said]) => [key, said.map(({ code }) => code)]),
      hasEpoch: (writer?.epoch ?? 0) > 0,
    })),
  };
}

testOnStores('an attempt ends the same when every call of it reaches another coordinator', async () => {
  const claims = await startClaims();
  const contexts = [claims.ctx, await claims.another()];
  const whole = await twoSyncs(claims, async (assignment) => ({
    ...(await openDesk(claims.ctx, assignment, 'one')),
    progress() {},
  }));
  expect(whole.jobs).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded', records: 7 }]);
  expect(whole.asked).toEqual([
    { state: [], held: [undefined, undefined], notices: [], hasEpoch: true },
    {
      state: [stateOf('items', 10)[1], stateOf('notes', 10)[1]],
      held: ['held 1', 'held 1'],
      notices: [],
      hasEpoch: true,
    },
    {
      state: [stateOf('items', 10)[1]],
      held: ['held 1', undefined],
      notices: [['notes', ['destination_gone']]],
      hasEpoch: true,
    },
  ]);
  await claims.platform.store.db.deleteFrom('jobs').execute();
  await claims.platform.store.db.deleteFrom('connection_streams').execute();
  const changing = await twoSyncs(claims, async (assignment) => changingDesk(contexts, assignment, 'one'));
  expect(changing).toEqual(whole);
});

testOnStores('a plan that is asked for again is the same, and nothing is planned twice', async () => {
  const claims = await startClaims();
  await claims.sync(await connect(claims));
  const ref: AttemptRef = await claims.claim('one');
  const plan = async () => (await claims.desk(ref, 'one')).plan(catalog);
  const first = await plan();
  const rows = await claims.rows();
  expect(await plan()).toEqual(first);
  expect(await claims.rows()).toEqual(rows);
  await (await claims.desk(ref, 'one')).keepState(...stateOf('items', 5));
  const lost = [{ stream: { name: 'items' }, how: 'gone' }] as const;
  const anew = async () => (await claims.desk(ref, 'one')).planAnew(lost);
  const again = await anew();
  expect(again.state).toEqual([]);
  await (await claims.desk(ref, 'one')).keepState(...stateOf('items', 7));
  expect((await anew()).catalog).toEqual(again.catalog);
  const { state } = await claims.platform.store.db
    .selectFrom('connection_streams')
    .select('state')
    .where('name', '=', 'items')
    .executeTakeFirstOrThrow();
  expect(state, 'a delayed request takes no state away').toBe(stateOf('items', 7)[1]);
});

test('an attempt says at its end what only its coordinator knows', async () => {
  const claims = await startClaims();
  const connectionId = await connect(claims);
  const endWith = async (report: AttemptReport, before: (desk: StoreDesk) => Promise<unknown> = async () => {}) => {
    await claims.sync(connectionId);
    const ref = await claims.claim('one');
    const desk = await claims.desk(ref, 'one');
    await before(desk);
    await desk.finish(report);
    desk.close();
    const job = (await claims.call('GET', `/jobs/${ref.jobId}`)).body;
    const { lines } = (await claims.call('GET', `/jobs/${ref.jobId}/log`)).body;
    if (job.status === 'incomplete') await claims.call('DELETE', `/jobs/${ref.jobId}`);
    return { job, said: lines.map(({ message }: { message: string }) => message) };
  };
  const lacking = { streams: catalog.streams.slice(0, 1) };
  const short = await endWith(succeeded, (desk) => desk.plan(lacking));
  expect(short.job).toMatchObject({
    status: 'failed',
    rowsSynced: 7,
    failureReason: { message: expect.stringMatching(/no longer has the stream notes.*All other streams were synced/) },
  });
  expect(short.said).toEqual([expect.stringContaining('The other streams are synced.')]);
  const waits = await endWith({ status: 'failed', failure: delayed, isDelay: true });
  expect(waits.job).toMatchObject({ status: 'incomplete', failedAttempts: 0, failureReason: { message: 'Later.' } });
  expect(waits.said).toEqual(['Later. The job is waiting and continues automatically.']);
  const done = await endWith(succeeded, (desk) => desk.plan(catalog));
  expect(done.said.at(-1)).toMatch(/^Succeeded: 0 streams, 7 rows, 70 bytes in/);
});
