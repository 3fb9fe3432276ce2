import { describe, expect, test } from 'vitest';
import { startSteered, until } from '../../test/steered.ts';

const flaky = { message: 'The line was cut.', failure_type: 'transient_error' };

describe('the attempts of a job', () => {
  test('are reported one by one, each with its own failure, and a failed one counts only rows that arrived', async () => {
    let changes = 0;
    const { connect, call, clock, platform, ended } = await startSteered({ onJobsChanged: () => changes++ });
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'full_refresh_overwrite' }] });
    connection.steer({ waitsAfter: 4, failure: flaky });
    connection.go();
    const { jobId } = await connection.sync();
    const job = async () => (await call('GET', `/jobs/${jobId}`)).body;
    await until(async () => (await job()).status === 'incomplete');
    // The records went to the destination, which replaces a stream only when it is complete.
    expect(connection.ids()).toHaveLength(10);
    expect(await job()).toMatchObject({ failedAttempts: 1, rowsSynced: 0, bytesSynced: 0 });
    expect((await job()).attemptList).toMatchObject([
      { attempt: 1, status: 'failed', rowsSynced: 0, failureReason: { message: flaky.message, origin: 'source' } },
    ]);
    const before = changes;
    for (const delay of [10_000, 60_000]) {
      clock.time += delay;
      platform.wake();
      await until(async () => (await job()).failedAttempts >= (delay === 10_000 ? 2 : 3));
    }
    expect(await ended(jobId)).toMatchObject({ status: 'failed', attempts: 3, failedAttempts: 3, rowsSynced: 0 });
    expect((await job()).attemptList.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('failed'));
    expect(changes).toBeGreaterThan(before);
  });

  test('that failed count the rows of an incremental stream that the destination has confirmed', async () => {
    const { connect, call } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ waitsAfter: 4, failure: flaky });
    connection.go();
    const { jobId } = await connection.sync();
    const job = async () => (await call('GET', `/jobs/${jobId}`)).body;
    await until(async () => (await job()).status === 'incomplete');
    // There is a state after the fourth; nobody has confirmed what came later.
    expect(connection.ids()).toHaveLength(10);
    expect(await job()).toMatchObject({ rowsSynced: 4 });
    expect((await job()).rowPoints.at(-1)).toEqual([expect.any(Number), 1, 10]);
    expect((await job()).attemptList).toMatchObject([{ status: 'failed', rowsSynced: 4 }]);
  });

  test('that were cancelled or broken off by the platform are no failures', async () => {
    const { connect, call, platform } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    connection.steer({ records: 20, waitsAfter: 8 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    const cancelled = (await call('DELETE', `/jobs/${jobId}`)).body;
    expect(cancelled).toMatchObject({ status: 'cancelled', failedAttempts: 0, attemptList: [{ status: 'cancelled' }] });
    expect(cancelled.attemptList[0]).not.toHaveProperty('failureReason');
    await platform.look();
    expect((await call('GET', `/jobs/${jobId}`)).body.attemptList).toMatchObject([{ status: 'cancelled' }]);
  });
});
