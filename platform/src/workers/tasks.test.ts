import { describe, expect } from 'vitest';
import { testOnStores } from '../../test/start-platform.ts';
import { startForWorkers, startTestWorker } from '../../test/start-worker.ts';
import { until } from '../../test/steered.ts';

describe('a question for a connector', () => {
  testOnStores('of a workspace with labels is answered by a worker that has them', async () => {
    const platform = await startForWorkers({ maxConcurrentSyncs: 2 });
    const connection = await platform.connect();
    const { workspaceId, sourceId } = connection;
    await platform.call('PUT', `/workspaces/${workspaceId}/placement`, { labels: { region: 'eu' } });
    await startTestWorker(platform, { enrolment: { labels: { region: 'eu' } } });
    const streams = await platform.call('GET', `/streams?sourceId=${sourceId}&ignoreCache=true`);
    expect([streams.status, streams.body.map(({ streamName }: { streamName: string }) => streamName)]).toEqual([
      200,
      ['items'],
    ]);
    const asked = { workspaceId, sourceId, configuration: connection.givenConfiguration() };
    const { checkId } = (await platform.call('POST', '/sources/check_connection', asked)).body;
    const checked = async () => (await platform.call('GET', `/sources/check_connection/${checkId}`)).body;
    await until(async () => !/pending|running/.test((await checked()).status));
    expect(await checked()).toMatchObject({ status: 'succeeded' });
    const left = await platform.platform.store.db.selectFrom('worker_tasks').selectAll().execute();
    expect(left).toEqual([]);
  });

  testOnStores('ends with its caller', async () => {
    const platform = await startForWorkers({ maxConcurrentSyncs: 2 });
    const { workspaceId, sourceId } = await platform.connect();
    await platform.call('PUT', `/workspaces/${workspaceId}/placement`, { labels: { region: 'eu' } });
    const asking = platform.call('GET', `/streams?sourceId=${sourceId}&ignoreCache=true`);
    const { db } = platform.platform.store;
    const tasks = () => db.selectFrom('worker_tasks').selectAll().execute();
    await until(async () => (await tasks()).length === 1);
    expect(JSON.stringify(await tasks())).not.toContain('a-password');
    platform.platform.endQuestions();
    expect((await asking).status).toBe(503);
    expect(await tasks()).toEqual([]);
  });
});
