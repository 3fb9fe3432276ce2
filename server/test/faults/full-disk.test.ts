/** A service whose data disk is full: it says so once, ends jobs with the cause, stops on a signal, and recovers. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itemsStream, until } from '../../../platform/test/steered.ts';
import { call, operatorToken, requestToken } from '../support/deployment.ts';
import { runCli, type Service, startService } from '../support/service.ts';
import { makeSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../platform/test/fixtures/${name}.mjs`, import.meta.url));

describe('a service whose disk is full', () => {
  let disk: SmallDisk;
  let elsewhere: string;
  let service: Service;
  let connectionId: string;
  const env = { INLAY_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'info' };
  const start = async () => {
    service = await startService({ dataDir: disk.dataDir, env });
  };
  beforeAll(async () => {
    disk = makeSmallDisk(24);
    elsewhere = mkdtempSync(join(tmpdir(), 'inlay-elsewhere-'));
    const ids: Record<string, string> = {};
    for (const kind of ['source', 'destination']) {
      const command = ['--', process.execPath, fixture(`steered-${kind}`)];
      const added = await runCli(
        ['connector', 'add', `--${kind}`, '--name', kind, '--directory', elsewhere, ...command],
        {
          env: { ...env, INLAY_DATA_DIR: disk.dataDir, LOG_LEVEL: 'silent' },
        },
      );
      ids[kind] = / \(([0-9a-f-]{36})\)/.exec(added.stdout)?.[1] ?? added.stderr;
    }
    await start();
    writeFileSync(join(elsewhere, 'catalog.json'), JSON.stringify({ streams: [itemsStream] }));
    const { workspaceId } = await platform('POST', '/workspaces', { name: 'on a full disk' });
    const create = async (kind: string, configuration: object) => {
      const body = { name: kind, workspaceId, definitionId: ids[kind], configuration };
      return (await platform('POST', `/${kind}s`, body))[`${kind}Id`];
    };
    const sourceId = await create('source', { folder: elsewhere });
    const destinationId = await create('destination', { file: join(elsewhere, 'output') });
    const streams = [{ name: 'items', syncMode: 'incremental_append' }];
    const connection = { sourceId, destinationId, configurations: { streams } };
    connectionId = (await platform('POST', '/connections', connection)).connectionId;
  });
  afterAll(async () => {
    await service?.kill();
    disk?.remove();
    rmSync(elsewhere, { recursive: true, force: true });
  });

  /** Speaks to the bundled platform directly, as its own application. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  async function platform(method: string, path: string, body?: object): Promise<any> {
    const send = async (to: string, given: object | undefined, headers: Record<string, string>) => {
      const response = await fetch(`${service.url}/platform/v1${to}`, {
        method: to === '/applications/token' ? 'POST' : method,
        headers: { ...headers, ...(given && { 'content-type': 'application/json' }) },
        ...(given && { body: JSON.stringify(given) }),
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${to}: ${JSON.stringify(answer)}`);
      return answer;
    };
    const { clientId, clientSecret } = JSON.parse(
      readFileSync(join(disk.dataDir, 'platform-credentials.json'), 'utf8'),
    );
    const credentials = { client_id: clientId, client_secret: clientSecret };
    const { access_token: token } = (await send('/applications/token', credentials, {})) as { access_token: string };
    return await send(path, body, { authorization: `Bearer ${token}` });
  }

  const readiness = () => call(service, 'GET', '/health/ready');
  const ids = () =>
    existsSync(join(elsewhere, 'output'))
      ? readFileSync(join(elsewhere, 'output'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)[1].id)
      : [];
  /** Whether a process reads the source now: its command names files of the service's running folder. */
  const isReading = () =>
    readdirSync('/proc').some((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return command.includes(fixture('steered-source')) && command.some((part) => part.startsWith(disk.dataDir));
      } catch {
        return false;
      }
    });
  const lines = (pattern: RegExp) =>
    service
      .output()
      .split('\n')
      .filter((line) => pattern.test(line));

  /** Until ten requests in a row were refused: the write-ahead logs may have room left for a few. */
  async function writeUntilRefused(prefix: string): Promise<void> {
    for (let asked = 0, refusedInARow = 0; refusedInARow < 10; asked++) {
      expect(asked).toBeLessThan(1_000);
      const { status, body } = await requestToken(service, `${prefix} ${asked}`);
      if (status !== 200) expect([status, body.detail]).toEqual([503, expect.stringMatching(/unavailable/)]);
      refusedInARow = status === 200 ? 0 : refusedInARow + 1;
    }
  }

  it('is not ready, names the cause once, ends its jobs with it, and recovers when there is space', async () => {
    writeFileSync(join(elsewhere, 'steps.json'), JSON.stringify({ records: 400, paced: true }));
    writeFileSync(join(elsewhere, 'allowed'), '5');
    const { jobId } = await platform('POST', '/jobs', { connectionId, jobType: 'sync' });
    await until(() => ids().length === 5);
    expect(isReading()).toBe(true);

    disk.fill(service);
    await writeUntilRefused('refused');
    const { status, body } = await readiness();
    expect(status).toBe(503);
    expect(body.detail).toMatch(/^Not ready: database: storage (full|refuses writes)/);
    expect((await call(service, 'GET', '/health/live')).status).toBe(200);
    expect((await call(service, 'GET', '/api/v1/workspaces')).status).toBe(200);

    // Each record has a state, which the platform would have to keep.
    writeFileSync(join(elsewhere, 'allowed'), '400');
    const processes = () => readFileSync(join(elsewhere, 'processes'), 'utf8');
    await until(() => !isReading());
    expect(lines(/disk full|refuses writes/i)).not.toHaveLength(0);
    const job = async () => await platform('GET', `/jobs/${jobId}`);
    expect((await job()).status).toBe('running');

    disk.free(service);
    await until(async () => (await readiness()).status === 200);
    await until(async () => (await job()).attemptList[0].status === 'failed');
    const failure = (await job()).attemptList[0].failureReason;
    expect(failure.message).toMatch(/^(The disk is full|The storage refuses writes),/);
    expect(failure.origin).toBe('platform');
    await until(async () => (await job()).status === 'succeeded');
    expect(processes().split('begin').length).toBeGreaterThan(2);
    expect([...new Set(ids())].sort((one, other) => one - other)).toEqual(Array.from({ length: 400 }, (_, id) => id));
    expect((await requestToken(service, 'after')).status).toBe(200);

    expect(lines(/"level":"error".*(Disk full|Storage refuses writes); writes fail/)).toHaveLength(1);
    expect(lines(/accepts writes again/)).toHaveLength(1);
    expect(service.output()).not.toContain('cannot rollback');
    expect(lines(/SqliteError|SQLITE_/)).toHaveLength(1);
  });

  it('stops gracefully when requested', async () => {
    writeFileSync(join(elsewhere, 'steps.json'), JSON.stringify({ records: 500, paced: true }));
    const { jobId } = await platform('POST', '/jobs', { connectionId, jobType: 'sync' });
    const before = ids().length;
    writeFileSync(join(elsewhere, 'allowed'), '410');
    await until(() => ids().length >= before + 10);
    disk.fill(service);
    await writeUntilRefused('while stopping');
    expect(await service.stop()).toBe(0);
    expect(service.output()).not.toMatch(/stopping took too long|stopping failed/);
    disk.free(service);
    writeFileSync(join(elsewhere, 'allowed'), '500');
    await start();
    await until(async () => (await platform('GET', `/jobs/${jobId}`)).status === 'succeeded');
    expect(new Set(ids()).size).toBe(500);
  });
});
