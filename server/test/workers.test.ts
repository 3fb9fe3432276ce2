/* Workers as processes of their own, of a platform that runs nothing itself. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { itemsStream, programOf, until } from '../../platform/test/steered.ts';
import { itInLongRun } from '../../scripts/long-run.ts';
import { runCommand } from './support/command-line.ts';
import { launch, startService } from './support/service.ts';

const application = {
  INLAY_PLATFORM_CLIENT_ID: 'the-client',
  INLAY_PLATFORM_CLIENT_SECRET: 'abcdefghijklmnopqrstuvwxyz-0123456789',
};
const commands = {
  'Steered source': programOf('steered-source'),
  'Steered destination': programOf('steered-destination'),
};

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-workers-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function startPlatform() {
  const dataDir = temporaryFolder();
  const env = { ...application, INLAY_DATA_DIR: dataDir, INLAY_MAX_CONCURRENT_SYNCS: '0', LOG_LEVEL: 'warn' };
  const inlay = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(args, { env });
    expect({ code, args }, stderr).toEqual({ code: 0, args });
    return stdout;
  };
  for (const [name, command] of Object.entries(commands)) {
    await inlay('connector', 'add', `--${name.slice(8)}`, '--name', name, '--directory', dataDir, '--', ...command);
  }
  const { data } = JSON.parse(await inlay('connector', 'list', '--json'));
  const definitionOf = (type: string) => data.find((each: { type: string }) => each.type === type).id;
  const platform = await startService({ command: 'platform', dataDir, env });
  onTestFinished(() => platform.kill());
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape of what came back
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${platform.url}/platform/v1${path}`, {
      method,
      headers: { ...(await authorized()), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  let token: string | undefined;
  const authorized = async () => {
    token ??= (
      (await (
        await fetch(`${platform.url}/platform/v1/applications/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            client_id: application.INLAY_PLATFORM_CLIENT_ID,
            client_secret: application.INLAY_PLATFORM_CLIENT_SECRET,
          }),
        })
      ).json()) as { access_token: string }
    ).access_token;
    return { authorization: `Bearer ${token}` };
  };

  const { workspaceId } = await call('POST', '/workspaces', { name: 'w' });
  const connect = async () => {
    const folder = temporaryFolder();
    const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
    write('catalog.json', { streams: [itemsStream] });
    const create = async (kind: string, configuration: object) =>
      (await call('POST', `/${kind}s`, { name: kind, workspaceId, definitionId: definitionOf(kind), configuration }))[
        `${kind}Id`
      ];
    const sourceId = await create('source', { folder, password: 'a-password' });
    const destinationId = await create('destination', { file: join(folder, 'output') });
    const streams = [{ name: 'items', syncMode: 'incremental_append' }];
    const { connectionId } = await call('POST', '/connections', {
      sourceId,
      destinationId,
      configurations: { streams },
    });
    const output = join(folder, 'output');
    return {
      steer: (steps: object) => write('steps.json', steps),
      go: () => write('go', ''),
      ids: () =>
        (existsSync(output) ? readFileSync(output, 'utf8').split('\n') : []).flatMap((line) =>
          line.startsWith('["items"') ? [JSON.parse(line)[1].id as number] : [],
        ),
      sync: async () => (await call('POST', '/jobs', { connectionId, jobType: 'sync' })).jobId as number,
    };
  };
  const ended = async (jobId: number) => {
    await until(async () => (await call('GET', `/jobs/${jobId}`)).lastUpdatedAt !== undefined);
    return await call('GET', `/jobs/${jobId}`);
  };
  const enrol = async () => (await inlay('workers', 'enrol')).trim();
  return { platform, call, connect, ended, enrol };
}

interface Started {
  url: string;
  token: string | undefined;
  dataDir?: string;
}

function startWorker({ url, token, dataDir = join(temporaryFolder(), 'data') }: Started) {
  const env = {
    INLAY_DATA_DIR: dataDir,
    INLAY_WORKER_URL: url,
    INLAY_WORKER_TOKEN: token,
    INLAY_WORKER_COMMANDS: JSON.stringify(commands),
  };
  const { child, exited } = launch(['worker'], { cwd: tmpdir(), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  onTestFinished(() => {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
  });
  /** Connectors have the files of a run in their arguments. */
  const connectors = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${dataDir}/running/`);
      } catch {
        return false;
      }
    });
  return { child, exited, dataDir, connectors, output: () => output };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

it('a worker that is killed leaves no process, and continues after its restart', async () => {
  const { platform, connect, ended, enrol, call } = await startPlatform();
  const connection = await connect();
  connection.steer({ records: 20, waitsAfter: 8 });
  const jobId = await connection.sync();
  const worker = startWorker({ url: platform.url, token: await enrol() });
  await until(() => connection.ids().length === 8);
  expect(worker.connectors().length).toBeGreaterThan(0);
  worker.child.kill('SIGKILL');
  await until(() => worker.connectors().length === 0);

  connection.go();
  const again = startWorker({ url: platform.url, token: undefined, dataDir: worker.dataDir });
  expect(await ended(jobId)).toMatchObject({ status: 'succeeded', failedAttempts: 0 });
  expect(connection.ids()).toEqual(range(0, 20));
  again.child.kill('SIGTERM');
  expect(await again.exited).toEqual({ code: 0, signal: null });
  expect(again.output()).not.toMatch(/inlay_(worker|enrolment)_/);
  expect((await call('GET', '/workers')).data).toHaveLength(1);
});

it('a worker without https, or without a token, says what to do', async () => {
  const far = startWorker({ url: 'http://example.com', token: undefined });
  expect((await far.exited).code).toBe(1);
  expect(far.output()).toMatch(/INLAY_WORKER_URL must be an https URL/);
  const unknown = startWorker({ url: 'http://127.0.0.1:9', token: undefined });
  expect((await unknown.exited).code).toBe(1);
  expect(unknown.output()).toMatch(/has not joined yet\. .*INLAY_WORKER_TOKEN/);
});

const leaseMs = 30_000;

itInLongRun('no process of a worker that is stopped outlives its lease by 5 s, and another one goes on', async () => {
  const { platform, connect, ended, enrol } = await startPlatform();
  const connection = await connect();
  connection.steer({ records: 20, waitsAfter: 8 });
  const jobId = await connection.sync();
  const worker = startWorker({ url: platform.url, token: await enrol() });
  await until(() => connection.ids().length === 8);
  const stoppedAt = performance.now();
  worker.child.kill('SIGSTOP');
  await until(() => worker.connectors().length === 0);
  // Renewed at the latest when it was stopped.
  expect(performance.now() - stoppedAt).toBeLessThan(leaseMs + 5_000);

  connection.go();
  startWorker({ url: platform.url, token: await enrol() });
  expect(await ended(jobId)).toMatchObject({ status: 'succeeded', failedAttempts: 0 });
  expect(connection.ids()).toEqual(range(0, 20));
  // It learns that the attempt is someone else's, and takes other jobs again.
  worker.child.kill('SIGCONT');
  await delay(2_000);
  connection.steer({ records: 25 });
  expect(await ended(await connection.sync())).toMatchObject({ status: 'succeeded' });
  expect(connection.ids()).toEqual(range(0, 25));
});
