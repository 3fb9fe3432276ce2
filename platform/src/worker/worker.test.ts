import { describe, expect } from 'vitest';
import { testOnStores } from '../../test/start-platform.ts';
import { type PlatformOfWorkers, startForWorkers, startProxy, startTestWorker } from '../../test/start-worker.ts';
import { until } from '../../test/steered.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

const incremental = [{ name: 'items', syncMode: 'incremental_append' }];

async function logOf({ call }: PlatformOfWorkers, jobId: number): Promise<string[]> {
  const { lines } = (await call('GET', `/jobs/${jobId}/log`)).body;
  return lines.map(({ message }: { message: string }) => message);
}

describe('a worker', () => {
  testOnStores('runs a sync, and the next one continues from its state', async () => {
    const platform = await startForWorkers();
    const connection = await platform.connect({ streams: incremental });
    connection.steer({ records: 10 });
    const { jobId } = await connection.sync();
    const worker = await startTestWorker(platform);
    expect(await platform.ended(jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
    expect(connection.ids()).toEqual(range(0, 10));
    const log = await logOf(platform, jobId);
    expect(log[0]).toBe('sync, attempt 1');
    expect(log.at(-1)).toMatch(/^Succeeded: 1 stream, 10 rows/);

    connection.steer({ records: 15 });
    const next = await connection.sync();
    expect(await platform.ended(next.jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 5 });
    expect(connection.ids()).toEqual(range(0, 15));
    const { data } = (await platform.call('GET', '/workers')).body;
    expect(data).toMatchObject([{ workerId: worker.workerId, state: 'online', version: '1.0.0', slots: 2 }]);
  });

  testOnStores('asks for a job as soon as it has a free slot again', async () => {
    const platform = await startForWorkers();
    const withdrawn: string[] = [];
    platform.app.server.on('request', ({ url = '' }, response) => {
      response.on('close', () => !response.writableFinished && withdrawn.push(url.replace(/.*\/v1/, '')));
    });
    const connection = await platform.connect({ streams: incremental });
    connection.steer({ records: 20, waitsAfter: 8 });
    await startTestWorker(platform, { slots: 1 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    expect(withdrawn).toEqual([]);
    connection.go();
    await platform.ended(jobId);
    // The claim that it had made for other things while its only slot was taken.
    await until(() => withdrawn.length > 0);
    expect(withdrawn).toEqual(['/workers/claim']);
  });

  testOnStores('hands back what it runs when it stops, and another one continues from the last state', async () => {
    const platform = await startForWorkers();
    const connection = await platform.connect({ streams: incremental });
    connection.steer({ records: 20, waitsAfter: 8 });
    const first = await startTestWorker(platform);
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    expect((await platform.call('GET', '/workers')).body.data[0].running).toMatchObject([
      { jobId, connectionId: connection.connectionId, workspaceId: connection.workspaceId },
    ]);
    await first.stop();
    connection.go();
    await startTestWorker(platform);
    expect(await platform.ended(jobId)).toMatchObject({ status: 'succeeded' });
    expect(connection.ids()).toEqual(range(0, 20));
    const { attemptList, failedAttempts } = (await platform.call('GET', `/jobs/${jobId}`)).body;
    expect(failedAttempts).toBe(0);
    expect(attemptList.map(({ status }: { status: string }) => status)).toEqual(['interrupted', 'succeeded']);
  });

  testOnStores('hands back what it runs when it is drained, and takes jobs again', async () => {
    const platform = await startForWorkers();
    const connection = await platform.connect({ streams: incremental });
    connection.steer({ records: 20, waitsAfter: 8 });
    const { workerId } = await startTestWorker(platform);
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    await platform.call('POST', `/workers/${workerId}/drain`);
    await until(async () => (await platform.call('GET', `/jobs/${jobId}`)).body.status === 'incomplete');
    expect((await platform.call('GET', '/workers')).body.data).toMatchObject([{ state: 'draining', running: [] }]);
    connection.go();
    await platform.call('POST', `/workers/${workerId}/drain`, { drain: false });
    expect(await platform.ended(jobId)).toMatchObject({ status: 'succeeded' });
    expect(connection.ids()).toEqual(range(0, 20));
  });

  testOnStores(
    'ends the processes of a job that was cancelled, and then takes the next one of the connection',
    async () => {
      const platform = await startForWorkers();
      const connection = await platform.connect();
      connection.steer({ records: 20, waitsAfter: 8 });
      await startTestWorker(platform);
      const { jobId } = await connection.sync();
      await until(() => connection.ids().length === 8);
      await platform.call('DELETE', `/jobs/${jobId}`);
      connection.steer({ records: 3 });
      const next = await connection.sync();
      expect(await platform.ended(next.jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 3 });
      expect((await platform.call('GET', `/jobs/${jobId}`)).body.status).toBe('cancelled');
    },
  );

  testOnStores('ends when it was revoked', async () => {
    const platform = await startForWorkers();
    const worker = await startTestWorker(platform);
    await platform.call('DELETE', `/workers/${worker.workerId}`);
    await expect(worker.ended).rejects.toThrow('This worker was revoked.');
  });

  testOnStores('knows itself again after a restart, without another token', async () => {
    const platform = await startForWorkers();
    const { stop, dataDir, workerId } = await startTestWorker(platform);
    await stop();
    const again = await startTestWorker(platform, { dataDir, token: undefined });
    const connection = await platform.connect();
    connection.steer({ records: 2 });
    const { jobId } = await connection.sync();
    await platform.ended(jobId);
    await again.stop();
    const { data } = (await platform.call('GET', '/workers')).body;
    expect(data.find((each: { workerId: string }) => each.workerId === workerId).lastSeenAt).not.toBeNull();
  });

  testOnStores('goes on after its coordinator could not be reached, and loses nothing', async () => {
    const platform = await startForWorkers();
    const connection = await platform.connect({ streams: incremental });
    connection.steer({ records: 20, waitsAfter: 8 });
    const cable = await startProxy(platform.url);
    await startTestWorker({ ...platform, url: cable.url });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 8);
    cable.pull();
    connection.go();
    await until(() => connection.ids().length === 20);
    expect((await platform.call('GET', `/jobs/${jobId}`)).body.status).toBe('running');
    cable.plugIn();
    expect(await platform.ended(jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 20 });
    expect((await logOf(platform, jobId)).filter((line) => /^Succeeded/.test(line))).toHaveLength(1);
  });
});
