/** Commands on a running service: over its API they do what they do on its store, and need no data of their own. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { booksManifest } from '../../manifests/test/books-manifest.ts';
import { freePort } from '../../scripts/disposable.mjs';
import { type Exit, exitCodes } from '../src/edge/cli/exit-codes.ts';
import { recordBackup } from '../src/edge/deployment/last-backup.ts';
import { pack } from '../src/pipelines/jobs/job-logs.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { describeOnOneDatabase } from './support/databases.ts';
import { type Seeded, seedPipelines } from './support/seed-pipelines.ts';
import { startReceiver } from './support/webhooks.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const laptop = mkdtempSync(join(tmpdir(), 'inlay-cli-api-'));
afterAll(() => rmSync(laptop, { recursive: true }));

describeOnOneDatabase('With INLAY_URL', () => {
  let test: TestApp;
  let url: string;
  let seeded: Seeded[];
  const dataDir = join(laptop, 'data');
  const api = (...args: string[]) => apiWith({}, ...args);
  const apiWith = (env: Record<string, string | undefined>, ...args: string[]) =>
    runCommand(args, {
      env: { INLAY_URL: url, INLAY_OPERATOR_TOKEN: test.operatorToken, INLAY_DATA_DIR: dataDir, ...env },
    });
  const here = (...args: string[]) => runCommand(args, { env: { ...test.env, PORT: '1' } });
  const output = async (run: typeof api, ...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const json = async (run: typeof api, ...args: string[]) => JSON.parse(await output(run, ...args, '--json'));
  const ends = async (exit: Exit, ran: ReturnType<typeof api>) => {
    const { code, stdout, stderr } = await ran;
    expect({ code, stdout, stderr }).toMatchObject({ code: exitCodes[exit][0], stdout: '' });
    return stderr;
  };

  beforeAll(async () => {
    const port = String(await freePort());
    test = await startTestApp('sqlite', {
      env: { PORT: port, INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', INLAY_JOB_HISTORY_DAYS: '3650' },
    });
    // Without work in the background, which would notice that the platform knows nothing of the seeded connections.
    await test.app.http.listen({ host: '127.0.0.1', port: Number(port) });
    url = `http://127.0.0.1:${port}`;
    const { organizationId } = test;
    const healthOf = (index: number) => (index === 0 ? 'failing' : 'healthy');
    ({ seeded } = await seedPipelines(test.app.store, { organizationId, workspaces: 3, jobsEach: 1, healthOf }));
    await output(api, 'operator-token', 'create', '--name', 'Backend');
  });
  afterAll(async () => {
    await test.stop();
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    ['workspaces'],
    ['workspaces', '--health', 'failing'],
    ['jobs', '--limit', '2'],
    ['console', 'sessions'],
    ['webhooks', 'list'],
  ])('every listing is the same as on the store: %s %s', async (...args) => {
    const listed = await json(api, ...args);
    expect(listed.data).toBeInstanceOf(Array);
    expect(listed).toEqual(await json(here, ...args));
    if (listed.next) {
      const rest = [...args, '--cursor', listed.next];
      expect(await json(api, ...rest)).toEqual(await json(here, ...rest));
    }
  });

  it('the state is the same as on the store, with replicas, versions and the last backup', async () => {
    const touched = new Date('2026-01-31T09:30:00.000Z');
    recordBackup(test.dataDir, touched.getTime());
    await test.app.workers.presence.tell();
    const { service, ...remote } = await json(api, 'status');
    const { service: _, ...local } = await json(here, 'status');
    expect(service).toEqual({ url, answers: true });
    // A heartbeat may come in between.
    for (const { deployment } of [remote, local]) delete deployment.replicas[0].last_seen_at;
    expect(remote).toEqual(local);
    expect(remote).toMatchObject({
      version: expect.any(String),
      deployment: { replicas: [{ is_present: true }], last_backup_at: touched.toISOString() },
      connections: { failing: 1, healthy: 2 },
    });
    const shown = await output(api, 'status');
    for (const name of ['Version', 'Replicas', 'Backup']) expect(shown).toMatch(new RegExp(`^${name} {2,}\\S`, 'm'));
    expect((await api('status', '--exit-code')).code).toBe(exitCodes.findings[0]);
  });

  it('doctor runs the checks inside the service', async () => {
    const report = await json(api, 'doctor');
    expect(report.checks.map(({ what }: { what: string }) => what)).toContain('Platform: bundled');
    expect(Object.keys(await json(here, 'doctor'))).toEqual(Object.keys(report));
    expect(await output(api, 'doctor')).toMatch(/^ {2}(ok {2}|WARN) /m);
  });

  it('tokens, webhooks and connectors are managed', async () => {
    const [token] = (await json(api, 'operator-token', 'list')).data.slice(-1);
    expect(token).toMatchObject({ name: 'Backend', permission: 'full', revoked_at: null });
    const fresh = await json(api, 'operator-token', 'rotate', token.id, '--overlap-hours', '1');
    expect(await output(api, 'operator-token', 'revoke', fresh.id)).toContain(fresh.id);
    expect(await ends('failure', api('operator-token', 'revoke', unknownId))).toBe(
      await ends('failure', here('operator-token', 'revoke', unknownId)),
    );

    const receiver = await startReceiver();
    const endpoint = await json(api, 'webhooks', 'create', receiver.url, '--types', 'sync.*');
    expect(endpoint).toMatchObject({ types: ['sync.*'], secret: expect.stringMatching(/^whsec_/) });
    expect(await json(api, 'webhooks', 'test', endpoint.id)).toMatchObject({ delivered: true });
    receiver.answer = (_, response) => response.writeHead(500).end();
    expect((await api('webhooks', 'test', endpoint.id)).code).toBe(exitCodes.findings[0]);
    expect(await json(api, 'webhooks', 'deliveries', endpoint.id)).toEqual({ data: [], next: null });
    await output(api, 'webhooks', 'rotate-secret', endpoint.id);
    await output(api, 'webhooks', 'disable', endpoint.id);
    expect((await json(api, 'webhooks', 'list')).data).toMatchObject([{ id: endpoint.id, enabled: false }]);
    await output(api, 'webhooks', 'delete', endpoint.id);
    const wrong = ['webhooks', 'create', 'ftp://x'];
    expect(await ends('failure', api(...wrong))).toBe(await ends('failure', here(...wrong)));

    const manifest = join(laptop, 'books.yaml');
    writeFileSync(manifest, booksManifest({ url: 'http://127.0.0.1:1' }));
    await output(api, 'connector', 'add', '--source', '--name', 'Books', '--manifest', manifest);
    const { data } = await json(api, 'connector', 'list');
    expect(data).toMatchObject([{ name: 'Books', type: 'source', version: '1' }]);
    expect((await json(here, 'connector', 'list')).data).toMatchObject([{ id: data[0].id, version: '1' }]);
    await output(api, 'connector', 'remove', data[0].id);
    expect((await json(api, 'connector', 'list')).data).toEqual([]);
  });

  it('events, logs and the audit trail are read', async () => {
    const eventIds = async (run: typeof api, ...args: string[]) => {
      const lines = (await output(run, 'events', 'tail', '--no-follow', '--json', ...args)).trim().split('\n');
      return lines.map((line) => JSON.parse(line).id);
    };
    await test.app.workers.sequencer.pass();
    expect(await eventIds(api)).toEqual(await eventIds(here));
    expect(await eventIds(api, '--lines', '2')).toEqual(await eventIds(here, '--lines', '2'));
    expect(await eventIds(api, '--lines', '2')).toHaveLength(2);
    const [{ connectionId: connection_id, workspaceId: workspace_id }] = seeded as [Seeded];
    const { data } = await json(api, 'jobs', '--workspace', workspace_id);
    const line = { offset: 0, level: 'INFO', message: 'Hello', time: '2026-01-01T00:00:01.000Z', origin: 'source' };
    const log = {
      ...{ organization_id: test.organizationId, workspace_id, connection_id, job_id: data[0].id, attempt: 1, part: 0 },
      ...{ end_offset: 60, ended_at: Date.now(), content: await pack([line]) },
    };
    await test.app.store.db.insertInto('job_logs').values(log).execute();
    expect(JSON.parse(await output(api, 'logs', data[0].id, '--json'))).toEqual(line);
    expect(await output(api, 'logs', data[0].id)).toBe(await output(here, 'logs', data[0].id));
    expect(await ends('failure', api('logs', '999999'))).toContain('inlay jobs');
    const file = join(laptop, 'audit.jsonl');
    await output(api, 'audit', 'export', '--output', file);
    expect((await json(api, 'audit', 'verify', file)).faults).toEqual([]);
    expect(await output(api, 'audit', 'erase', '--actor', 'nobody')).toContain('Erased 0');
  });

  const machineOnly = [
    [['organization', 'list']],
    [['organization', 'create', '--name', 'x']],
    [['keys', 'list']],
    [['keys', 'rotate']],
    [['keys', 'remove', 'x']],
    [['encryption-key', 'rotate']],
    [['console', 'link']],
    [['audit', 'verify']],
    [['audit', 'checkpoint']],
    [['audit', 'rotate-key']],
    [['backup', '--to', laptop, '--without-keys']],
    [['upgrade']],
    [['upgrade', '--check']],
    [['connector', 'add', '--source', '--name', 'x', '--', 'true']],
  ];
  it.each(machineOnly)('%j says that it works only where Inlay runs, and makes nothing', async (args) => {
    expect(await ends('usage', api(...args))).toContain('INLAY_URL');
    expect(existsSync(dataDir)).toBe(false);
  });

  it('a token that may not, and one that does not work, end with a code and advice of their own', async () => {
    const { token, id } = await json(api, 'operator-token', 'create', '--name', 'r', '--permission', 'read');
    const read = { INLAY_OPERATOR_TOKEN: token };
    expect((await apiWith(read, 'jobs')).code).toBe(0);
    expect(await ends('refused', apiWith(read, 'operator-token', 'revoke', id))).toContain('permission');
    await output(api, 'operator-token', 'revoke', id);
    // Recent answers about tokens are kept for a moment.
    await expect.poll(async () => (await apiWith(read, 'jobs')).code, { timeout: 60_000 }).toBe(exitCodes.refused[0]);
    expect(await ends('refused', apiWith(read, 'jobs'))).toContain('INLAY_OPERATOR_TOKEN');
    expect(await ends('refused', api('jobs', '--organization', unknownId))).toContain('--organization');
    expect(await ends('usage', apiWith({ INLAY_OPERATOR_TOKEN: undefined }, 'jobs'))).toContain('INLAY_OPERATOR_TOKEN');
    const file = join(laptop, 'token');
    writeFileSync(file, `${test.operatorToken}\n`);
    const fromFile = { INLAY_OPERATOR_TOKEN: undefined, INLAY_OPERATOR_TOKEN_FILE: file };
    expect((await apiWith(fromFile, 'jobs')).code).toBe(0);
  });

  it('an address without a service ends with a code and advice of its own', async () => {
    expect(await ends('unreachable', apiWith({ INLAY_URL: `http://127.0.0.1:${await freePort()}` }, 'jobs'))).toContain(
      'INLAY_URL',
    );
    const other = createServer((request, response) =>
      request.url?.startsWith('/moved')
        ? response.writeHead(301, { location: url }).end()
        : response.writeHead(request.url?.startsWith('/page') ? 200 : 502).end('<html>'),
    ).listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    for (const path of ['', '/moved', '/page']) {
      const env = { INLAY_URL: `http://127.0.0.1:${port}${path}` };
      expect(await ends('unreachable', apiWith(env, 'doctor')), path).toContain(env.INLAY_URL);
    }
    for (const wrong of ['inlay.example.com', 'ftp://x', 'https://me:secret@x', 'https://x?y']) {
      expect(await ends('usage', apiWith({ INLAY_URL: wrong }, 'jobs')), wrong).toContain('INLAY_URL');
    }
  });
});
