/** The daily commands, on a store with many customers: what they say, to people and to programs. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SqliteConnection } from '@inlay/database/connection';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verify } from '../../webhooks/src/inlay-webhooks.ts';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { byCommandLine } from '../src/kernel/cause.ts';
import { migrate } from '../src/kernel/db/migrations.ts';
import { openSqlite, type Store } from '../src/kernel/db/open.ts';
import { systemRuntime } from '../src/kernel/runtime.ts';
import { createJournal } from '../src/log/events/journal.ts';
import { createSequencer } from '../src/log/events/sequencer.worker.ts';
import { pack } from '../src/pipelines/jobs/job-logs.ts';
import { createOrganization } from '../src/tenancy/organizations/organizations.ts';
import { runCommand } from './support/command-line.ts';
import { type Seeded, seedPipelines } from './support/seed-pipelines.ts';
import { launch, runCli } from './support/service.ts';

describe('inlay status, workspaces, jobs and logs', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'inlay-cli-operating-'));
  let store: Store;
  let seeded: Seeded[];
  const inlay = async (args: string[], env = {}, run = runCommand) =>
    run(args, { env: { INLAY_DATA_DIR: dataDir, PORT: '1', ...env } });
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await inlay(args, { COLUMNS: '80' });
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));

  beforeAll(async () => {
    store = openSqlite({ file: join(dataDir, 'inlay.db'), now: Date.now });
    await migrate(store);
    const { id: organizationId } = await createOrganization(store, systemRuntime, { name: 'Acme' });
    ({ seeded } = await seedPipelines(store, {
      organizationId,
      workspaces: 30,
      jobsEach: 1,
      healthOf: (index) => (index % 10 === 0 ? 'failing' : 'healthy'),
    }));
    const [first] = seeded as [Seeded, ...Seeded[]];
    const name = `A customer with a long name, 東京 🚀 \x1b[31m${'and more '.repeat(9)}`;
    await store.db
      .updateTable('workspaces')
      .set({ name, unwell_since: 1 })
      .where('id', '=', first.workspaceId)
      .execute();
    await store.db
      .updateTable('jobs')
      .set({ error: `The server "db.example"\nrefused \x1b]0;x\x07${'again and '.repeat(20)}` })
      .where('id', '=', '1')
      .execute();
    const line = (offset: number, level: string, message: string) => ({
      ...{ offset, level, message, time: '2026-01-01T00:00:01.000Z', origin: 'source' },
    });
    const lines = [line(0, 'INFO', 'Hello'), line(60, 'ERROR', 'Broken \x1b[2J'), line(120, 'INFO', 'Good bye')];
    await store.db
      .insertInto('job_logs')
      .values({
        ...{ organization_id: organizationId, workspace_id: first.workspaceId, connection_id: first.connectionId },
        ...{ job_id: '1', attempt: 1, part: 0, end_offset: 180, ended_at: Date.now(), content: await pack(lines) },
      })
      .execute();
  });
  afterAll(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('fit a terminal of 80 columns, and print nothing that could steer it', async () => {
    const outputs = await Promise.all([
      succeed('status'),
      succeed('workspaces', '--health', 'failing'),
      succeed('workspaces', '--limit', '100'),
      succeed('jobs', '--failing'),
      succeed('logs', '1'),
    ]);
    const [status, failing, all, jobs, log] = outputs as [string, string, string, string, string];
    for (const output of outputs) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(output).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
      for (const text of output.split('\n')) expect(text.length, text).toBeLessThanOrEqual(80);
    }
    expect(status).toMatch(/^Service {6}not responding at http:\/\/127\.0\.0\.1:1$/m);
    expect(status).toMatch(/^Connections {2}30: 27 healthy, 3 failing$/m);
    expect(status).toMatch(/^A customer .* {2}failing {2}\d+ d {2,}1 {2,}0 {2,}/m);
    expect(failing.trim().split('\n')).toHaveLength(4);
    expect(all.trim().split('\n')).toHaveLength(31);
    expect(all).toMatch(new RegExp(`^customer 29 +healthy +- +0/1 +${seeded[29]?.workspaceId}$`, 'm'));
    expect(jobs).toMatch(/^1 {4}failed {2}\d+ d ago {2}30 s {2}10 {4}A custo.*… {2}The ser.*…$/m);
    expect(log).toMatch(/^2026-01-01T00:00:01\.000Z {2}ERROR {2}source {2}Broken \ufffd\[2J$/m);
  });

  it('give programs the answers of the API, page by page, and end with codes that scripts can ask for', async () => {
    const { connections, service } = await json('status');
    expect({ connections, service }).toMatchObject({
      connections: { failing: 3, healthy: 27 },
      service: { answers: false },
    });
    const page = await json('jobs', '--failing', '--limit', '2');
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(['21', '11']);
    const rest = await json('jobs', '--failing', '--cursor', page.next);
    expect(rest).toMatchObject({ data: [{ id: '1', failure: { kind: 'transient_error' } }], next: null });
    expect((await json('workspaces', '--health', 'paused')).data).toEqual([]);
    const lines = (await succeed('logs', '1', '--search', 'BROKEN', '--json')).trim().split('\n');
    expect(lines.map((text) => JSON.parse(text).offset)).toEqual([60]);
    expect((await succeed('logs', '1', '--tail', '1')).trim().split('\n')).toHaveLength(1);
    const [code, unknown, notFound, follow] = await Promise.all([
      inlay(['status', '--exit-code'], {}, runCli),
      inlay(['jobs', '--cursor', 'x']),
      inlay(['logs', '99']),
      inlay(['logs', '1', '--follow'], {}, runCli),
    ]);
    expect(code.code).toBe(exitCodes.findings[0]);
    expect(unknown).toMatchObject({ code: exitCodes.usage[0], stderr: expect.stringContaining('--cursor') });
    expect(notFound).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Job 99 .*inlay jobs\n$/) });
    expect(follow).toMatchObject({ code: 0, stderr: '' });
  });

  it('status warns of replicas that run different versions or were killed', async () => {
    const now = Date.now();
    const replica = (started_at: number, version: string, last_seen_at: number) => ({
      ...{ id: randomUUID(), host: 'node', process: 'x', encryption_keys: '', started_at, version, last_seen_at },
    });
    const ahead = now + 60_000;
    const rows = [replica(1, '1.0.0', ahead), replica(2, '1.1.0', ahead), replica(3, '1.0.0', now - 600_000)];
    await store.db.insertInto('replicas').values(rows).execute();
    const shown = await succeed('status');
    const { deployment } = await json('status');
    await store.db.deleteFrom('replicas').execute();
    expect(shown).toMatch(/^Replicas {5}2 running, versions 1\.0\.0 and 1\.1\.0, 1 not responding$/m);
    const present = deployment.replicas.map(({ is_present }: { is_present: boolean }) => is_present);
    expect(present).toEqual([true, true, false]);
  });

  it('show events of all customers, and forward them as they happen', async () => {
    const organizationId = (await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow()).id;
    const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });
    const log = pino({ level: 'silent' });
    const sequencer = createSequencer({ store, runtime: systemRuntime, log, onSequenced: () => {} });
    const tell = async (...names: string[]) => {
      const tags = names.map((name) => {
        const change = { before: undefined, after: { name } };
        return { type: 'tag.created', data: { tag: { id: randomUUID(), name } }, change } as const;
      });
      await store.transaction((tx) => journal.record(tx, organizationId, ...tags));
      await sequencer.pass();
    };
    await tell('one', 'two\x1b[2J', 'three');
    const told = await succeed('events', 'tail', '--no-follow', '--lines', '2');
    expect(told).toMatch(/^\S+ {2}2 {2}tag\.created {2}two\ufffd\[2J\n\S+ {2}3 {2}tag\.created {2}three\n$/);
    const lines = (await succeed('events', 'tail', '--no-follow', '--json', '--types', 'tag.*')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).position)).toEqual([1, 2, 3]);
    expect(await inlay(['events', 'tail', '--types', 'tags.*'])).toMatchObject({
      code: exitCodes.usage[0],
      stderr: expect.stringContaining('tags.*'),
    });

    let output = '';
    const received: { type: string; id: unknown; body: string }[] = [];
    const receiver = createServer(async (request, response) => {
      const body = await text(request);
      const secret = /whsec_\S+/.exec(output)?.[0] ?? '';
      received.push({ type: verify(body, request.headers, secret).type, id: request.headers['webhook-id'], body });
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    const env = { INLAY_DATA_DIR: dataDir };
    const args = ['events', 'listen', '--types', 'tag.*', '--forward-to', `http://127.0.0.1:${port}/hook`];
    const { child, exited } = launch(args, { cwd: dataDir, env });
    try {
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      await expect.poll(() => output).toContain('Listening');
      // It begins with what comes after its start, which may be a moment after it has said so.
      await expect
        .poll(
          async () => {
            await tell('four');
            return output;
          },
          { interval: 1_000 },
        )
        .toMatch(/tag\.created {2}four\n {2}→ 204 in \d+ ms/);
      expect(received[0]).toMatchObject({ type: 'tag.created', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect(JSON.parse(received[0]?.body ?? '')).toEqual({
        type: 'tag.created',
        timestamp: expect.any(String),
        data: { tag: { id: expect.any(String), name: 'four' } },
      });
    } finally {
      child.kill('SIGKILL');
      await exited;
      receiver.close();
    }
  });

  it('look only: a database of another version stays as it is', async () => {
    const older = mkdtempSync(join(tmpdir(), 'inlay-cli-operating-'));
    onTestFinished(() => rmSync(older, { recursive: true, force: true }));
    expect((await inlay(['migrate'], { INLAY_DATA_DIR: older })).code).toBe(0);
    const file = new SqliteConnection(join(older, 'inlay.db'));
    onTestFinished(() => file.close());
    const history = file.prepare('select name from migrations order by name');
    file.exec('delete from migrations where name = (select max(name) from migrations)');
    const before = history.all();
    for (const args of [['status'], ['keys', 'list'], ['organization', 'list'], ['connector', 'list']]) {
      expect(await inlay(args, { INLAY_DATA_DIR: older }), args.join(' ')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/pending migrations.* inlay upgrade /),
      });
    }
    expect(history.all()).toEqual(before);
  });
});
