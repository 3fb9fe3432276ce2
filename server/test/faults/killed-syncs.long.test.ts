/**
 * `kill -9` of the bundled platform in the middle of syncs, with the real connectors: nothing that a sync has reported as
 * moved is missing in the end, and records that were to be replaced stay until the new ones are complete.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInLongRun } from '../../../scripts/long-run.ts';
import { type Service, startService } from '../support/service.ts';

const credentials = {
  INLAY_PLATFORM_CLIENT_ID: 'the-client',
  INLAY_PLATFORM_CLIENT_SECRET: 'the-secret-of-the-client-in-tests',
};
const patienceMs = 300_000;

describe('the bundled platform, killed in the middle of a sync', () => {
  let dataDir: string;
  let platform: Service;
  let token: string;

  const start = async (port?: number) => {
    platform = await startService({ command: 'platform', dataDir, env: credentials, ...(port && { port }) });
    const response = await fetch(`${platform.url}/platform/v1/applications/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: credentials.INLAY_PLATFORM_CLIENT_ID,
        client_secret: credentials.INLAY_PLATFORM_CLIENT_SECRET,
      }),
    });
    token = ((await response.json()) as { access_token: string }).access_token;
  };
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'inlay-killed-syncs-'));
    await start();
  });
  afterAll(async () => {
    await platform?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${platform.url}/platform/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    expect(response.status, JSON.stringify(answer)).toBe(200);
    return answer;
  };

  async function until(happened: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!(await happened())) {
      if (performance.now() > deadline) throw new Error(`It did not happen: ${happened}\n${platform.output()}`);
      await delay(50);
    }
  }

  const jobOf = (jobId: number) => call('GET', `/jobs/${jobId}`);
  const succeeded = async (jobId: number) => {
    await until(async () => ['succeeded', 'failed'].includes((await jobOf(jobId)).status));
    const job = await jobOf(jobId);
    expect(job, JSON.stringify(job)).toMatchObject({ status: 'succeeded' });
    return job;
  };

  const killedAttempts = new Map<number, number>();

  /** Kills the platform once a new attempt of this job has moved some records, and starts it again. */
  async function killDuring(jobId: number, moreRecords: number): Promise<void> {
    await until(async () => {
      const { attempts, rowsSynced } = await jobOf(jobId);
      const isNew = attempts > (killedAttempts.get(jobId) ?? 0);
      if (isNew && rowsSynced >= moreRecords) killedAttempts.set(jobId, attempts);
      return isNew && rowsSynced >= moreRecords;
    });
    expect((await jobOf(jobId)).status).toBe('running');
    const { port } = platform;
    await platform.kill();
    await start(port);
  }

  async function connect(syncMode: string, sourceConfiguration: object) {
    const { workspaceId } = await call('POST', '/workspaces', { name: syncMode });
    const { sourceId } = await call('POST', '/sources', {
      name: 's',
      workspaceId,
      configuration: { sourceType: 'sample-data', ...sourceConfiguration },
    });
    const { destinationId } = await call('POST', '/destinations', {
      name: 'd',
      workspaceId,
      configuration: { destinationType: 'local-files', path: 'out' },
    });
    const streams = ['users', 'products', 'purchases'].map((name) => ({ name, syncMode }));
    const { connectionId } = await call('POST', '/connections', {
      sourceId,
      destinationId,
      configurations: { streams },
    });
    const sync = async () => (await call('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId as number;
    const reconfigure = (configuration: object) => call('PATCH', `/sources/${sourceId}`, { configuration });
    return { sync, reconfigure, folder: join(dataDir, 'files', workspaceId, 'out') };
  }

  /** The ids of a stream's records in all files that are visible. */
  function idsIn(folder: string, stream: string): number[] {
    const path = join(folder, stream);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.jsonl') && !file.split('/').some((part) => part.startsWith('.')))
      .flatMap((file) => readFileSync(join(path, file), 'utf8').trim().split('\n'))
      .filter(Boolean)
      .map((line) => JSON.parse(line).id);
  }
  const distinct = (ids: number[]) => [...new Set(ids)].sort((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  it('continues automatically, and an appended stream has every record at least once', async () => {
    const count = 600;
    const { sync, folder } = await connect('incremental_append', { count, records_per_second: 250 });
    const jobId = await sync();
    for (let kills = 0; kills < 3; kills++) await killDuring(jobId, 150);
    const job = await succeeded(jobId);
    expect(job.attempts).toBe(4);
    const expected = { users: count, products: count / 10, purchases: count * 2 };
    for (const [stream, records] of Object.entries(expected)) {
      expect(distinct(idsIn(folder, stream)), stream).toEqual(upTo(records));
    }
    expect((await succeeded(await sync())).rowsSynced).toBe(0);
  });

  itInLongRun(
    'keeps the old records of a replaced stream until the new ones are complete, and then has exactly those',
    async () => {
      const { sync, reconfigure, folder } = await connect('full_refresh_overwrite', { count: 300 });
      await succeeded(await sync());
      expect(idsIn(folder, 'users')).toEqual(upTo(300));
      await reconfigure({ count: 400, records_per_second: 200 });
      const jobId = await sync();
      await killDuring(jobId, 100);
      expect(idsIn(folder, 'users')).toEqual(upTo(300));
      await killDuring(jobId, 100);
      expect(idsIn(folder, 'users')).toEqual(upTo(300));
      const { attempts } = await succeeded(jobId);
      expect(attempts).toBe(3);
      expect(idsIn(folder, 'users')).toEqual(upTo(400));
    },
  );

  itInLongRun('leaves no configuration behind', async () => {
    const { sync } = await connect('full_refresh_append', { count: 100, records_per_second: 100 });
    const jobId = await sync();
    await killDuring(jobId, 50);
    const folders = () =>
      readdirSync(join(dataDir, 'running'), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders()).toHaveLength(1);
    await succeeded(jobId);
    expect(await platform.stop()).toBe(0);
    expect(folders()).toEqual([]);
  });
});
