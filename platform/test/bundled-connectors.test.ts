/* The connectors that come with the platform, through its API and its scheduler, from an empty folder to files. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { fillWorkspace, startPlatform } from './start-platform.ts';
import { until } from './steered.ts';

test('sample data is discovered, lands in files on schedule, is replaced, and cleared', async () => {
  const running = await startPlatform();
  const { platform, call, clock, file } = running;
  platform.start();
  const { workspaceId, sourceId, destinationId, connectionId } = await fillWorkspace(running);
  const { body: streams } = await call('GET', `/streams?sourceId=${sourceId}&destinationId=${destinationId}`);
  expect(streams).toMatchObject([{ streamName: 'users' }, { streamName: 'products' }, { streamName: 'purchases' }]);
  expect(streams[0].syncModes).toContain('incremental_append');

  const rows = (stream: string) => {
    const folder = join(dirname(file), 'files', workspaceId, 'out', stream);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
    const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  };
  const ended = async (count: number) => {
    const jobs = async () => (await call('GET', `/jobs?connectionId=${connectionId}&status=succeeded`)).body.data;
    await until(async () => (await jobs()).length === count);
    return (await jobs()).at(-1);
  };

  await call('PATCH', `/connections/${connectionId}`, {
    schedule: { scheduleType: 'cron', cronExpression: '0 0 * * * ?' },
  });
  for (const count of [1, 2]) {
    clock.time += 3_600_000;
    await platform.look();
    expect(await ended(count)).toMatchObject({ jobType: 'sync', rowsSynced: 10 + 1 + 20 });
    expect(rows('users')).toHaveLength(10);
    expect(rows('purchases')).toHaveLength(20);
  }
  await call('POST', '/jobs', { connectionId, jobType: 'clear' });
  expect(await ended(3)).toMatchObject({ jobType: 'clear', rowsSynced: 0 });
  for (const stream of ['users', 'products', 'purchases']) expect(rows(stream)).toEqual([]);
});
