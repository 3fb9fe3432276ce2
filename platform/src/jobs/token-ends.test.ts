import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { credentialKeeper } from '../../test/credential-keeper.ts';
import { type StartOptions, startPlatform } from '../../test/start-platform.ts';
import { itemsStream, startSteered, until } from '../../test/steered.ts';
import { noteTokenEnd, standstill } from './token-ends.ts';

const hour = 3_600_000;
const incremental = { name: 'items', syncMode: 'incremental_append' };
const range = (until: number) => Array.from({ length: until }, (_, index) => index);

/** Uses a source that cannot request another token while it runs. */
async function start(streams: object[] = [incremental], options: StartOptions = {}) {
  const clock = { time: Date.UTC(2030, 0, 1) };
  const keeper = credentialKeeper({ clock, lifeMs: hour });
  const steered = await startSteered({ clock, credentials: keeper, ...options });
  const { call, file } = steered;
  const connection = await steered.connect({ streams });
  const credential = { id: '6e0f3a5d-94a8-4d6c-8c41-7a3c1f1d2b90', fields: { access_token: ['password'] } };
  await call('PATCH', `/sources/${connection.sourceId}`, { credential });
  connection.steer({ paced: true, records: 10 });
  const job = async (jobId: number) => (await call('GET', `/jobs/${jobId}`)).body;
  /** The API refuses the present token. */
  const endToken = () => {
    clock.time += hour;
    connection.refuse(String(connection.givenConfiguration().password));
  };
  const log = (jobId: number, attempt: number) =>
    readFileSync(join(dirname(file), 'logs', connection.connectionId, `${jobId}-${attempt}.log`), 'utf8');
  return { ...steered, clock, keeper, connection, job, endToken, log };
}

describe('an access token that ends in the middle of a sync', () => {
  test('is no failure: the sync continues from its last state with a new one, also after a restart', async () => {
    const { clock, keeper, connection, job, endToken, log, stop, file } = await start();
    const { jobId } = await connection.sync();
    for (const [index, records] of [3, 5, 8].entries()) {
      connection.allow(records);
      await until(() => connection.ids().length === records);
      endToken();
      await until(async () => (await job(jobId)).attempts === index + 2);
    }
    expect(await job(jobId)).toMatchObject({ failedAttempts: 0, attempts: 4 });
    expect((await job(jobId)).attemptList.slice(0, 3)).toEqual(
      Array(3).fill(expect.objectContaining({ status: 'interrupted', startTime: expect.any(String) })),
    );
    expect((await job(jobId)).attemptList[0]).not.toHaveProperty('failureReason');
    await until(() => connection.reads().begun === 4);
    await stop();

    connection.allow(10);
    const again = await startPlatform({ file, clock, credentials: keeper });
    again.platform.start();
    const shown = async () => (await again.call('GET', `/jobs/${jobId}`)).body;
    await until(async () => (await shown()).lastUpdatedAt !== undefined);
    expect(await shown()).toMatchObject({ status: 'succeeded', failedAttempts: 0 });
    expect(connection.ids()).toEqual(range(10));
    const attempts = [1, 2, 3, 4, 5].map((attempt) => log(jobId, attempt)).join('');
    expect(attempts).toMatch(/access token expired\. .*continues/);
    expect(attempts).toContain('401 Unauthorized: **********');
    for (const token of keeper.tokens) expect(attempts).not.toContain(token);
  });

  test('is a failure where the token has not ended, and where the credential gives no other one', async () => {
    const { connection, keeper, endToken, ended, clock, platform, job } = await start();
    connection.allow(2);
    const first = await connection.sync();
    await until(() => connection.ids().length === 2);
    connection.refuse(String(connection.givenConfiguration().password));
    expect(await ended(first.jobId)).toMatchObject({
      status: 'failed',
      failureReason: { type: 'config_error', message: '401 Unauthorized: **********' },
    });

    keeper.generation++;
    const second = await connection.sync();
    connection.allow(4);
    await until(() => connection.ids().length === 4);
    keeper.trouble = 'customer';
    endToken();
    expect(await ended(second.jobId)).toMatchObject({
      status: 'failed',
      attempts: 2,
      failureReason: { type: 'config_error', origin: 'source', fields: ['password'] },
    });

    keeper.trouble = 'unavailable';
    const third = await connection.sync();
    await until(async () => (await job(third.jobId)).status === 'incomplete');
    expect((await job(third.jobId)).failureReason).toMatchObject({ type: 'transient_error', origin: 'source' });
    keeper.trouble = undefined;
    connection.allow(10);
    clock.time += 10_000;
    platform.wake();
    expect(await ended(third.jobId)).toMatchObject({ status: 'succeeded', failedAttempts: 1 });
    expect(connection.ids()).toEqual(range(10));
  });

  test('waits for a keeper that cannot be reached without a slot and without a failed attempt, and says why', async () => {
    const { connection, keeper, endToken, ended, clock, platform, job } = await start();
    connection.allow(10);
    keeper.trouble = 'unreachable';
    const reason = { message: 'Nobody is there.', origin: 'platform', type: 'transient_error' };
    const first = await connection.sync();
    await until(async () => (await job(first.jobId)).failureReason !== undefined);
    expect(await job(first.jobId)).toMatchObject({ status: 'pending', attempts: 0, failureReason: reason });
    expect(keeper.asked).toEqual([]);
    keeper.trouble = undefined;
    platform.wake();
    const moved = await ended(first.jobId);
    expect(moved).toMatchObject({ status: 'succeeded', attempts: 1, failedAttempts: 0 });
    expect(moved).not.toHaveProperty('failureReason');

    // Nobody has noticed yet when the token ends in the middle of a sync.
    connection.steer({ paced: true, records: 20 });
    connection.allow(12);
    const second = await connection.sync();
    await until(() => connection.ids().length === 12);
    const { outage } = keeper;
    keeper.outage = () => undefined;
    keeper.trouble = 'unreachable';
    endToken();
    await until(async () => (await job(second.jobId)).failureReason !== undefined);
    expect(await job(second.jobId)).toMatchObject({ status: 'incomplete', failedAttempts: 0, failureReason: reason });
    expect((await job(second.jobId)).attemptList.map(({ status }: { status: string }) => status)).toEqual([
      'interrupted',
      'interrupted',
    ]);
    keeper.outage = outage;
    keeper.trouble = undefined;
    connection.allow(20);
    clock.time += 5_000;
    platform.wake();
    expect(await ended(second.jobId)).toMatchObject({ status: 'succeeded', attempts: 3, failedAttempts: 0 });
    expect(connection.ids()).toEqual(range(20));
  });

  itInLongRun('takes no slot from others while it waits for a keeper that cannot be reached', async () => {
    const { clock, connection, keeper, ended, platform, connect, job } = await start([incremental], {
      maxConcurrentSyncs: 1,
      turnMs: 1,
    });
    const holder = await connect({ streams: [incremental] });
    holder.steer({ waitsAfter: 5 });
    const held = await holder.sync();
    await until(() => holder.ids().length === 5);
    clock.time += 1;
    keeper.trouble = 'unreachable';
    connection.allow(10);
    const waiting = await connection.sync();
    await until(async () => (await job(waiting.jobId)).failureReason !== undefined);
    await platform.look();
    holder.go();
    expect(await ended(held.jobId)).toMatchObject({ status: 'succeeded', attempts: 1 });
    keeper.trouble = undefined;
    platform.wake();
    expect(await ended(waiting.jobId)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  itInLongRun('fails a stream that makes no progress between two ends, and says why', async () => {
    const other = { ...itemsStream, name: 'whole' };
    const { connection, endToken, ended, job } = await start();
    connection.setCatalog(itemsStream, other);
    await connection.configure(incremental, { name: 'whole', syncMode: 'full_refresh_overwrite' });
    // The incremental stream is read completely each time. The other one is read only in part before the
    // token expires.
    connection.steer({ paced: true, records: 10, allowedOf: { whole: 4 } });
    connection.allow(10);
    const { jobId } = await connection.sync();
    const wholes = () => connection.written().filter((line) => line.startsWith('["whole"')).length;
    await until(() => wholes() === 4);
    endToken();
    await until(async () => (await job(jobId)).attempts === 2 && wholes() === 8);
    endToken();
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      attempts: 2,
      failedAttempts: 1,
      failureReason: {
        origin: 'platform',
        type: 'config_error',
        message: expect.stringMatching(/^Reading whole takes longer/),
      },
    });
    expect(connection.ids()).toEqual(range(10));
  });
});

test('a stream stands still if it was read at both ends and has the same state; so does a sync that did not move at all', () => {
  const a = { name: 'a' };
  const b = { name: 'b', namespace: 'n' };
  const states = (of: Record<string, string | null>) => new Map(Object.entries(of));
  const first = JSON.stringify(noteTokenEnd([a], states({ a: '1', 'n\0b': null }), undefined));
  const after = (unfinished: (typeof a | typeof b)[], of: Record<string, string | null>, whole?: string) =>
    standstill(first, noteTokenEnd(unfinished, states(of), whole), unfinished)?.message;
  expect(standstill(null, JSON.parse(first), [a])).toBeUndefined();
  expect(after([a], { a: '2', 'n\0b': null })).toBeUndefined();
  expect(after([b], { a: '2', 'n\0b': null }), 'another stream has begun').toBeUndefined();
  expect(after([a, b], { a: '1', 'n\0b': '1' })).toMatch(/^Reading a takes longer/);
  expect(after([b], { a: '1', 'n\0b': null })).toMatch(/^Reading the source takes longer/);
  expect(after([a], { a: '1', 'n\0b': null }, 'one for all')).toBeUndefined();
});
