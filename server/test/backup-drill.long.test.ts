/**
 * The drill: a backup of a deployment under load, `kill -9`, and a restore elsewhere with an export of the audit trail. What was
 * acknowledged before the backup is there, what was deleted since stays deleted, and everything continues.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { sealTokens } from '../src/credentials/tokens/credentials.ts';
import { openExistingDataDir } from '../src/kernel/config/data-dir.ts';
import { openSealer } from '../src/kernel/config/encryption-keys.ts';
import { startTestApp } from './support/app.ts';
import { insertCredential } from './support/credentials.ts';
import { createTestDatabase, describeOnBothDatabases, type TestDatabase } from './support/databases.ts';
import {
  call,
  eventually,
  listWorkspaces,
  operatorToken,
  pauseOfClient,
  requestToken,
  untilNothingIsOpen,
  workspaceOf,
  writeToStore,
} from './support/deployment.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from './support/pipelines.ts';
import { startRotatingProvider } from './support/rotating-provider.ts';
import { runCli, type Service, startService } from './support/service.ts';
import { startReceiver } from './support/webhooks.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlay-drill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, 'correct horse battery\n');
const ended = ['succeeded', 'failed', 'cancelled'];

const envOf = ({ url }: TestDatabase) => ({
  ...(url && { INLAY_DATABASE_URL: url }),
  INLAY_OPERATOR_TOKEN: operatorToken,
  // The same after the restore, as behind a load balancer.
  INLAY_PUBLIC_URL: 'http://localhost:8080',
  LOG_LEVEL: 'warn',
});
const start = (database: TestDatabase) => startService({ dataDir: database.dataDir, env: envOf(database) });

async function run(database: TestDatabase, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, {
    env: { ...envOf(database), INLAY_DATA_DIR: database.dataDir },
  });
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function syncOnce(service: Service, connectionId: string) {
  const { id } = (await call(service, 'POST', `/api/v1/integrations/connections/${connectionId}/sync`)).body;
  let job = { status: '', rows: 0 };
  await eventually('the sync ends', async () => {
    job = (await call(service, 'GET', `/api/v1/integrations/jobs/${id}`)).body;
    return ended.includes(job.status);
  });
  return job;
}

describeOnBothDatabases('The restore drill', (kind) => {
  it('brings a deployment back elsewhere, and everything continues', async () => {
    const [old, fresh] = [await createTestDatabase(kind), await createTestDatabase(kind)];
    onTestFinished(async () => {
      await old.drop();
      await fresh.drop();
    });
    const receiver = await startReceiver();
    const rotating = await startRotatingProvider({ tokenSeconds: 3600 });
    onTestFinished(() => rotating.close());
    const { connectionId, credentialId, workspaceId } = await prepare(old, receiver.url, rotating.provider.endpoints);

    const service = await start(old);
    const first = await syncOnce(service, connectionId);
    expect(first.status).toBe('succeeded');

    // Clients connect customers and delete some of them, and syncs run, until the process is killed.
    const acknowledged = new Map<string, { id: string; at: number }>();
    let deletions = 0;
    let isOver = false;
    const client = async (worker: number) => {
      for (let round = 0; !isOver; round++) {
        const name = `customer ${worker} ${round}`;
        const { status, body } = await requestToken(service, name);
        if (status !== 200) throw new Error(`no token: ${status}`);
        const id = workspaceOf(body.token);
        if (round % 3 === 2) {
          await call(service, 'DELETE', `/api/v1/workspaces/${id}`);
          deletions += 1;
        } else acknowledged.set(name, { id, at: Date.now() });
        await pauseOfClient();
      }
    };
    const syncing = async () => {
      while (!isOver) await syncOnce(service, connectionId);
    };
    // What is under way when the process is killed fails.
    const load = [client(0), client(1), client(2), syncing()].map((work) =>
      work.catch((error) => {
        if (!isOver) throw error;
      }),
    );
    const moreDeletions = async () => {
      const wanted = deletions + 3;
      await eventually('customers are deleted', () => deletions >= wanted);
    };
    await moreDeletions();

    // The tokens are due after the backup: the old deployment spends the refresh token that the backup has.
    await writeToStore(old, `update credentials set refresh_due_at = ${Date.now() + 60_000}`);
    const startedAt = Date.now();
    const made = JSON.parse(
      await run(old, 'backup', '--to', join(folder, kind), '--files', '--passphrase-file', passphraseFile, '--json'),
    );
    const deletedBefore = deletions;
    await moreDeletions();
    // One that the backup has.
    const [[name, { id: deletedSince }] = ['', { id: '' }]] = acknowledged;
    acknowledged.delete(name);
    expect((await call(service, 'DELETE', `/api/v1/workspaces/${deletedSince}`)).status).toBe(200);
    await eventually('the trail has the deletion', async () => {
      const { data } = (await call(service, 'GET', `/api/v1/audit-events?workspace_id=${deletedSince}`)).body;
      return data.some(({ type }: { type: string }) => type === 'workspace.deleted');
    });
    await eventually('the tokens are refreshed', () => rotating.issued() === 1);
    isOver = true;
    await service.kill();
    await Promise.all(load);
    const trail = join(folder, `${kind}.jsonl`);
    await run(old, 'audit', 'export', '--output', trail);

    const from = ['restore', '--from', made.folder, '--passphrase-file', passphraseFile];
    const report = JSON.parse(await run(fresh, ...from, '--replay-events', trail, '--json'));
    expect(report.credentials).toMatchObject([{ id: credentialId }]);
    expect(report.replayed.deleted).toBeGreaterThan(0);
    const restored = await start(fresh);
    onTestFinished(async () => void (await restored.stop()));
    const sync = (await call(restored, 'POST', '/api/v1/workspaces/sync')).body;
    await untilNothingIsOpen(restored);

    // No name twice, and both sides hold the same.
    const listed = await listWorkspaces(restored);
    const ids = new Map(listed.map(({ id, name }) => [name, id]));
    expect(ids.size).toBe(listed.length);
    const again = (await call(restored, 'POST', '/api/v1/workspaces/sync')).body;
    expect([again.total_count, again.created_count]).toEqual([listed.length, 0]);
    expect(sync.total_count).toBeGreaterThan(0);
    // What was acknowledged before the backup is there, under its id.
    const before = [...acknowledged].filter(([, { at }]) => at < startedAt);
    expect(before.length).toBeGreaterThan(0);
    for (const [name, { id }] of before) {
      expect([name, ids.get(name)]).toEqual([name, id]);
      expect(workspaceOf((await requestToken(restored, name)).body.token)).toBe(id);
    }
    // What was deleted stays deleted, before the backup and since.
    const entries = readFileSync(trail, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const deleted = entries.filter(({ type }) => type === 'workspace.deletion_requested');
    expect(deleted.length).toBeGreaterThan(deletedBefore);
    expect(deleted.map(({ workspace_id }) => workspace_id)).toContain(deletedSince);
    expect(deleted.filter(({ workspace_id }) => listed.some(({ id }) => id === workspace_id))).toEqual([]);
    await run(fresh, 'audit', 'verify');

    // A spent refresh token is sent once; then its customer is asked.
    await eventually('the customer is asked to sign in', async () => {
      const path = `/api/v1/integrations/credentials?workspace_id=${workspaceId}`;
      return (await call(restored, 'GET', path)).body.data[0].state !== 'connected';
    });
    expect(rotating.reused).toEqual(['refresh-0']);
    // From the state in the backup: not everything is read again.
    const next = await syncOnce(restored, connectionId);
    expect(next.status).toBe('succeeded');
    expect(next.rows).toBeLessThan(first.rows);

    // Every event of the restored log reaches the receiver, if it has not before.
    const events: { id: string; type: string }[] = [];
    for (let after = 0; ; ) {
      const { data, next } = (await call(restored, 'GET', `/api/v1/events?limit=500&after=${after}`)).body;
      events.push(...data);
      if (data.length === 0) break;
      after = next;
    }
    expect(events.map(({ type }) => type)).toContain('backup.restored');
    await eventually('every event is delivered', () => {
      const received = new Set(receiver.ids());
      return events.every(({ id, type }) => !/^(workspace|backup|sync)\./.test(type) || received.has(id));
    });
  });
});

/** A customer with a connection, another with a credential, and a webhook. */
async function prepare(database: TestDatabase, receiverUrl: string, endpoints: object) {
  const test = await startTestApp(database.kind, { shared: database, env: envOf(database) });
  // First of all, so that it hears of everything.
  const hook = { url: receiverUrl, types: ['workspace.*', 'backup.*', 'sync.*'] };
  expect((await test.request('POST', '/api/v1/webhook-endpoints', { body: hook })).status).toBe(201);
  await makeConnectionTemplate(test);
  const acme = await customer(test, 'acme');
  const sourceId = await acme.connect(await makeSourceTemplate(test), { source_config: { count: 2_000 } });
  await acme.settled(sourceId);
  const { data } = (await test.request('GET', '/api/v1/integrations/connections')).body;

  const body = { name: 'Provider', client_id: 'app', client_secret: 'very secret', endpoints };
  const client = await test.request('POST', '/api/v1/integrations/oauth/clients', { body });
  expect(client.status, client.text).toBe(201);
  const workspaceId = await test.workspaceId('signed in');
  const credentialId = await insertCredential(test, 'signed in', client.body.id);
  const sealer = openSealer({} as never, openExistingDataDir(test.dataDir));
  const tokens = { accessToken: 'access-0', refreshToken: 'refresh-0', issuedAt: Date.now(), taken: {} };
  await test.app.store.db
    .updateTable('credentials')
    .set({
      ...{ owner: 'service', sealed_tokens: sealTokens(sealer, credentialId, tokens) },
      // New, so that nothing ends it as unused.
      ...{ refresh_due_at: Date.now() + 3_600_000, signed_in_at: Date.now() },
    })
    .execute();
  await test.stop();
  return { connectionId: data[0].id as string, credentialId, workspaceId };
}
