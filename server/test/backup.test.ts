/** Backups of a running deployment, and what restoring them into an empty one means. */
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { applyPending, readFileHistory } from '@inlay/database/schema-history';
import { schema as platformSchema } from '@inlay/platform/db/migrations';
import { openStore as openPlatformStore } from '@inlay/platform/db/open';
import { sql } from 'kysely';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { itInLongRun } from '../../scripts/long-run.ts';
import { sealTokens } from '../src/credentials/tokens/credentials.ts';
import { type Manifest, writtenManifest } from '../src/edge/deployment/backup-manifest.ts';
import { examine } from '../src/edge/deployment/doctor.ts';
import { openExistingDataDir } from '../src/kernel/config/data-dir.ts';
import { openSealer } from '../src/kernel/config/encryption-keys.ts';
import { readSchemaHistory, schemaOf } from '../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite } from '../src/kernel/db/open.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { insertCredential } from './support/credentials.ts';
import {
  createTestDatabase,
  describeInTurns,
  describeOnOneDatabase,
  type TestDatabase,
  type TestDatabaseKind,
} from './support/databases.ts';
import { withoutBaseline } from './support/schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlay-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = () => join(folder, String(++count));
function fileWith(text: string): string {
  const file = newPath();
  writeFileSync(file, text);
  return file;
}
const passphraseFile = fileWith('correct horse battery\n');

async function succeed(args: string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], { env });
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const backUp = async (env: Record<string, string>, ...options: string[]) =>
  await succeed(
    ['backup', '--to', newPath(), ...(options.length > 0 ? options : ['--passphrase-file', passphraseFile])],
    env,
  );

async function restore(from: string, dataDir = newPath(), databaseEnv = {}) {
  const env = { INLAY_DATA_DIR: dataDir, ...databaseEnv };
  const report = await succeed(['restore', '--from', from, '--passphrase-file', passphraseFile], env);
  return { dataDir, report, env };
}

/** Into a database of its own. */
async function restoreInto(kind: TestDatabaseKind, from: string) {
  const database = await createTestDatabase(kind);
  onTestFinished(() => database.drop());
  const restored = await restore(from, database.dataDir, database.url ? { INLAY_DATABASE_URL: database.url } : {});
  return { ...restored, database };
}

async function start(
  kind: TestDatabaseKind = 'sqlite',
  options: Parameters<typeof startTestApp>[1] = {},
): Promise<TestApp> {
  const test = await startTestApp(kind, options);
  onTestFinished(() => test.stop());
  return test;
}

function rowsOf(file: string, statement: string) {
  const database = new SqliteConnection(file);
  try {
    return database.prepare(statement).all();
  } finally {
    database.close();
  }
}

async function readAll(test: TestApp, token: string, after?: number) {
  await test.app.workers.sequencer.pass();
  const query = after === undefined ? '' : `&after=${after}`;
  return await test.request('GET', `/api/v1/events?limit=500${query}`, { token });
}

it('A backup covers the platform on PostgreSQL, also in the database of the service', async () => {
  const onOneDatabase = async (migrated: boolean) => {
    const database = await createTestDatabase('postgres', { migrated });
    onTestFinished(() => database.drop());
    rmSync(join(database.dataDir, 'platform.db'), { force: true });
    const { url = '' } = database;
    return { database, env: { INLAY_DATABASE_URL: url, INLAY_PLATFORM_DATABASE_URL: url } };
  };
  const { database: shared, env } = await onOneDatabase(true);
  const test = await start('postgres', { shared, env });
  await test.scopedToken('kept');
  expect(await examine(test.env)).toContainEqual({ state: 'ok', what: 'Platform: bundled, on PostgreSQL' });
  const made = await backUp(test.env);
  expect(made.stores).toMatchObject([
    { name: 'service', kind: 'postgres', file: 'tables' },
    { name: 'platform', kind: 'postgres', file: 'platform-tables' },
  ]);
  const elsewhere = await onOneDatabase(false);
  const refused = await runCommand(['restore', '--from', made.folder, '--passphrase-file', passphraseFile], {
    env: { INLAY_DATA_DIR: elsewhere.database.dataDir, INLAY_DATABASE_URL: elsewhere.env.INLAY_DATABASE_URL },
  });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Set INLAY_PLATFORM_DATABASE_URL')]);
  const { report } = await restore(made.folder, elsewhere.database.dataDir, elsewhere.env);
  expect(report).toMatchObject({ organizations: 1, missing_on_platform: [] });
  const again = await start('postgres', { shared: elsewhere.database, env: elsewhere.env });
  const { operatorToken: token } = test;
  // Numbers continue after those that were given out.
  const body = { workspace_name: 'another' };
  expect((await again.request('POST', '/api/v1/embedded/scoped-token', { body, token })).status).toBe(200);
  const platform = await openPlatformStore({ url: elsewhere.env.INLAY_PLATFORM_DATABASE_URL });
  onTestFinished(() => platform.close());
  const workspaces = await platform.db.selectFrom('workspaces').select('name').orderBy('seq').execute();
  expect(workspaces.map(({ name }) => name)).toEqual(['kept', 'another']);
  const second = await runCommand(['restore', '--from', made.folder, '--passphrase-file', passphraseFile], {
    env: { INLAY_DATA_DIR: newPath(), ...elsewhere.env },
  });
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
});

describeInTurns('A backup', (kind, it) => {
  it('restores a running deployment: keys, customers and webhooks as they were, and no position given twice', async () => {
    const test = await start(kind);
    const { operatorToken: token } = test;
    const scoped = await test.scopedToken('kept');
    const body = { url: 'https://receiver.example/hook', types: ['tag.*'] };
    const hook = await test.request('POST', '/api/v1/webhook-endpoints', { body });
    expect(hook.status).toBe(201);
    const kept = (await readAll(test, token)).body;
    const made = await backUp(test.env);
    expect(made.stores.map(({ name }: { name: string }) => name)).toEqual(['service', 'platform']);
    const check = await runCommand(['upgrade', '--check', '--json'], { env: test.env });
    expect(JSON.parse(check.stdout).last_backup_at).toBe(made.started_at);
    const finding = { state: 'ok', what: expect.stringContaining(made.started_at) };
    expect(await examine(test.env)).toContainEqual(finding);
    const health = await test.request('GET', '/api/v1/integrations/health');
    expect(health.body.checks).toContainEqual({ ...finding, advice: null });
    const longAgo = new Date(Date.now() - 30 * 86_400_000);
    utimesSync(join(test.dataDir, 'last-backup'), longAgo, longAgo);
    const old = { state: 'warn', what: expect.stringContaining(longAgo.toISOString()), advice: expect.any(String) };
    expect(await examine(test.env)).toContainEqual(old);
    await test.scopedToken('lost');
    const lost = (await readAll(test, token, kept.next)).body;
    expect(lost.data.length).toBeGreaterThan(0);
    const before = readdirSync(made.folder);
    expect(await succeed(['backup', 'verify', made.folder, '--passphrase-file', passphraseFile], {})).toEqual(made);
    expect(readdirSync(made.folder)).toEqual(before);

    const { database, report } = await restoreInto(kind, made.folder);
    expect(report).toMatchObject({ organizations: 1, credentials: [] });
    const again = await start(kind, { shared: database });
    const names = (await again.request('GET', '/api/v1/workspaces', { token })).body.data.map(
      ({ name }: { name: string }) => name,
    );
    expect(names).toEqual(['kept']);
    expect((await again.request('GET', '/api/v1/embedded/scoped-token/info', { token: scoped })).status).toBe(200);
    const endpoints = await again.request('GET', '/api/v1/webhook-endpoints', { token });
    expect(endpoints.body.data.map(({ id }: { id: string }) => id)).toEqual([hook.body.id]);

    // A reader that had read everything before the backup continues, and hears of the restore.
    const next = (await readAll(again, token, kept.next)).body.data;
    expect(next[0]).toMatchObject({ type: 'backup.restored', data: { backup_at: made.started_at } });
    expect(next[0].position).toBeGreaterThan(lost.next);
    // A reader that has read what the backup doesn't have must load the state again.
    const ahead = await readAll(again, token, lost.next);
    expect(ahead).toMatchObject({ status: 410, headers: { 'x-inlay-error': 'events_ahead' } });
    expect((await readAll(again, token, next[0].position)).status).toBe(200);
    expect((await runCommand(['audit', 'verify'], { env: again.env })).code).toBe(0);
    const tail = await runCommand(['events', 'tail', '--no-follow', '--lines', '1', '--json'], { env: again.env });
    expect(tail.code).toBe(0);

    // Restoring the same backup again must not repeat the positions of the first restore.
    const later = await start(kind, { shared: (await restoreInto(kind, made.folder)).database });
    const last = (await readAll(later, token, kept.next)).body.data[0];
    expect(last.position).toBeGreaterThan(next.at(-1).position);
    expect(await readAll(later, token, next[0].position)).toMatchObject({ status: 410 });
  });

  it('comes back without what an exported trail says was deleted or revoked since', async () => {
    const test = await start(kind);
    const { operatorToken: token } = test;
    const workspaces = '/api/v1/workspaces';
    const tokens = {
      kept: await test.scopedToken('kept'),
      revoked: await test.scopedToken('kept'),
      ofRevokedCustomer: await test.scopedToken('all revoked'),
      ofDeletedCustomer: await test.scopedToken('deleted'),
    };
    const path = '/api/v1/operator-tokens';
    const operator = (await test.request('POST', path, { body: { name: 'stolen' } })).body;
    expect((await test.request('GET', workspaces, { token: operator.token })).status).toBe(200);
    // Deleted before the backup, so the export is about it, too.
    const gone = await test.workspaceId('gone');
    expect((await test.request('DELETE', `${workspaces}/${gone}`)).status).toBe(200);
    await test.app.workers.sequencer.pass();
    const made = await backUp(test.env);

    const deleted = await test.workspaceId('deleted');
    const requests = [
      ['POST', '/api/v1/embedded/tokens/revoke', { token: tokens.revoked }],
      ['POST', `${workspaces}/${await test.workspaceId('all revoked')}/tokens/revoke`, undefined],
      ['DELETE', `${workspaces}/${deleted}`, undefined],
      ['DELETE', `${path}/${operator.id}`, undefined],
    ] as const;
    for (const [method, at, body] of requests) {
      const { status, text } = await test.request(method, at, { body });
      expect(status, `${at} ${text}`).toBe(200);
    }
    await test.scopedToken('lost');
    await test.app.workers.sequencer.pass();
    const trail = newPath();
    expect((await runCommand(['audit', 'export', '--output', trail], { env: test.env })).code).toBe(0);

    const database = await createTestDatabase(kind);
    onTestFinished(() => database.drop());
    const env = { INLAY_DATA_DIR: database.dataDir, ...(database.url && { INLAY_DATABASE_URL: database.url }) };
    const args = ['restore', '--from', made.folder, '--passphrase-file', passphraseFile, '--replay-events'];
    const unreadable = await runCommand([...args, fileWith('{"type":')], { env });
    expect(unreadable.code).toBe(1);
    expect(readdirSync(database.dataDir)).toEqual([]);
    const report = await succeed([...args, trail], env);
    expect(report).toMatchObject({ replayed: { deleted: 1, revoked: 3 }, missing_on_platform: [] });

    const again = await start(kind, { shared: database });
    await again.app.workers.reconciler.pass();
    const listed = (await again.request('GET', workspaces, { token })).body.data;
    expect(listed.map(({ name }: { name: string }) => name).sort()).toEqual(['all revoked', 'kept']);
    const works = async (scoped: string) =>
      (await again.request('GET', '/api/v1/embedded/scoped-token/info', { token: scoped })).status === 200;
    const working = await Promise.all(Object.entries(tokens).map(async ([name, each]) => [name, await works(each)]));
    expect(Object.fromEntries(working)).toEqual({
      ...{ kept: true, revoked: false, ofRevokedCustomer: false, ofDeletedCustomer: false },
    });
    expect((await again.request('GET', workspaces, { token: operator.token })).status).toBe(401);
    const onPlatform = (id: string) => again.platform('GET', `/workspaces/${id}`);
    expect((await onPlatform(listed[0].id)).status).toBe(200);
    expect((await onPlatform(deleted)).status).toBe(404);
    await again.app.workers.sequencer.pass();
    expect((await runCommand(['audit', 'verify'], { env: again.env })).code).toBe(0);
    const entries = (await again.request('GET', '/api/v1/audit-events?sort=-position&limit=10', { token })).body.data;
    expect(entries.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['backup.restored', 'token.revoked', 'operator_token.revoked', 'workspace.deleted']),
    );
  });

  it('of an older version is upgraded when it is restored', async () => {
    const database = await createTestDatabase(kind);
    const { dataDir, url } = database;
    const open = (at: TestDatabase) =>
      at.url ? openPostgres({ url: at.url }) : openSqlite({ file: join(at.dataDir, 'inlay.db'), now: Date.now });
    const store = open(database);
    onTestFinished(async () => {
      await store.close();
      await database.drop();
    });
    await store.exclusively((tx) => applyPending(tx, withoutBaseline(schemaOf(kind), '0037-console')));
    await sql`insert into organizations values ('7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20', 'kept', 'x', 1)`.execute(
      store.db,
    );
    const definition = withoutBaseline(platformSchema, '0006-fields-of-failures');
    await (await openPlatformStore(join(dataDir, 'platform.db'), { definition })).close();
    const made = await backUp({ INLAY_DATA_DIR: dataDir, ...(url && { INLAY_DATABASE_URL: url }) });
    expect(made.keys).toBe('none');
    const restored = await restoreInto(kind, made.folder);
    expect(restored.report.organizations).toBe(1);
    const restoredStore = open(restored.database);
    onTestFinished(() => restoredStore.close());
    expect((await readSchemaHistory(restoredStore)).pending).toEqual([]);
    expect((await readFileHistory(join(restored.dataDir, 'platform.db'), platformSchema)).pending).toEqual([]);
    expect((await readSchemaHistory(store)).applied.at(-1), 'the original').toBe('0037-console');
  });
});

describeOnOneDatabase('A backup', () => {
  it('has on the platform everything that the service refers to, whatever is created meanwhile', async () => {
    const test = await start();
    const names = Array.from({ length: 30 }, (_, index) => `customer ${index}`);
    const [made] = await Promise.all([backUp(test.env), ...names.map((name) => test.scopedToken(name))]);
    const live = rowsOf(join(made.folder, 'inlay.db'), `select id from workspaces where lifecycle = 'live'`);
    const known = rowsOf(join(made.folder, 'platform.db'), 'select workspace_id from workspaces').map(
      (row) => row.workspace_id,
    );
    expect(known).toEqual(expect.arrayContaining(live.map(({ id }) => id)));
    for (const name of ['inlay.db', 'platform.db'])
      expect(rowsOf(join(made.folder, name), 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  it('asks for a choice about the keys in the data directory, and restores with the right key only', async () => {
    const test = await start();
    await test.scopedToken('acme');
    const to = newPath();
    expect((await runCommand(['backup', '--to', to], { env: test.env })).code).toBe(1);
    expect(existsSync(to)).toBe(false);
    const made = await backUp(test.env, '--without-keys');
    const text = (name: string) => readFileSync(join(made.folder, name), 'latin1');
    const key = readFileSync(join(test.dataDir, 'encryption.key'), 'utf8').trim();
    for (const name of readdirSync(made.folder)) expect(text(name)).not.toContain(key);

    const dataDir = newPath();
    const from = ['restore', '--from', made.folder];
    const attempt = (env: Record<string, string>) => runCommand(from, { env: { INLAY_DATA_DIR: dataDir, ...env } });
    expect((await attempt({})).code).toBe(1);
    expect((await attempt({ INLAY_ENCRYPTION_KEY: randomBytes(32).toString('base64') })).code).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
    expect(await attempt({ INLAY_ENCRYPTION_KEY: key })).toMatchObject({ code: 0, stderr: '' });

    const other = newPath();
    mkdirSync(other);
    cpSync(join(test.dataDir, 'encryption.key'), join(other, 'encryption.key'));
    expect(await attempt({ INLAY_DATA_DIR: other })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(other, 'encryption.key'), 'utf8').trim()).toBe(key);
  });

  itInLongRun('includes the files of customers only if asked to', async () => {
    const test = await start();
    const path = join('files', 'workspace', 'rows.jsonl');
    mkdirSync(join(test.dataDir, 'files', 'workspace'), { recursive: true });
    writeFileSync(join(test.dataDir, path), 'one\n');
    const without = await backUp(test.env);
    expect(existsSync(join(without.folder, 'files'))).toBe(false);
    const made = await backUp(test.env, '--files', '--passphrase-file', passphraseFile);
    const { dataDir } = await restore(made.folder);
    expect(readFileSync(join(dataDir, path), 'utf8')).toBe('one\n');
    expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).not.toBe('');
  });

  it('is refused before anything is written if it is damaged, unfinished, newer, or the target is in use', async () => {
    const test = await start();
    await test.scopedToken('acme');
    const made = await backUp(test.env);
    const flip = (file: string) => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      writeFileSync(file, bytes);
    };
    const edit = (file: string, change: (manifest: Manifest) => object) => {
      const { checksum: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, writtenManifest({ ...manifest, ...change(manifest) }));
    };
    const damages: Record<string, (copy: string) => void> = {
      'a bit of the database': (copy) => flip(join(copy, 'inlay.db')),
      'a bit of the platform': (copy) => flip(join(copy, 'platform.db')),
      'a bit of the keys': (copy) => flip(join(copy, 'keys.sealed')),
      'a bit of the manifest': (copy) => flip(join(copy, 'manifest.json')),
      'a file is missing': (copy) => rmSync(join(copy, 'platform.db')),
      'the manifest is missing': (copy) => rmSync(join(copy, 'manifest.json')),
      'half a file': (copy) => {
        const bytes = readFileSync(join(copy, 'inlay.db'));
        writeFileSync(join(copy, 'inlay.db'), bytes.subarray(0, bytes.length / 2));
      },
      'a file is not listed': (copy) =>
        edit(join(copy, 'manifest.json'), ({ files }) => ({ files: files.filter(({ path }) => path !== 'inlay.db') })),
      'a path leads out of the folder': (copy) =>
        edit(join(copy, 'manifest.json'), ({ files }) => ({ files: files.map((file) => ({ ...file, path: '../x' })) })),
      'a later version': (copy) => edit(join(copy, 'manifest.json'), () => ({ inlay_version: '99.0.0' })),
      'a later format': (copy) => edit(join(copy, 'manifest.json'), () => ({ format_version: 2 })),
      'a newer schema': (copy) =>
        edit(join(copy, 'manifest.json'), ({ stores }) => ({
          stores: stores.map((store) => ({ ...store, migrations: [...store.migrations, '9999-later'] })),
        })),
    };
    for (const [what, damage] of Object.entries(damages)) {
      const copy = newPath();
      cpSync(made.folder, copy, { recursive: true });
      damage(copy);
      const dataDir = newPath();
      const args = ['--from', copy, '--passphrase-file', passphraseFile];
      const refused = await runCommand(['restore', ...args], { env: { INLAY_DATA_DIR: dataDir } });
      expect(refused, what).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(copy) });
      expect(existsSync(dataDir), what).toBe(false);
      expect((await runCommand(['backup', 'verify', copy], {})).code, what).toBe(1);
    }
    const wrong = fileWith('a wrong passphrase');
    for (const args of [[], ['--passphrase-file', wrong]]) {
      const dataDir = newPath();
      const refused = await runCommand(['restore', '--from', made.folder, ...args], {
        env: { INLAY_DATA_DIR: dataDir },
      });
      expect([refused.code, existsSync(dataDir)]).toEqual([1, false]);
    }
    const before = readdirSync(test.dataDir).sort();
    const args = ['restore', '--from', made.folder, '--passphrase-file', passphraseFile];
    expect(await runCommand(args, { env: test.env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(test.dataDir),
    });
    expect(readdirSync(test.dataDir).sort()).toEqual(before);
    // What was left by a backup or a restore that was killed is in nobody's way.
    const dataDir = newPath();
    mkdirSync(join(dataDir, 'restoring', 'files'), { recursive: true });
    await restore(made.folder, dataDir);
    expect(readdirSync(dataDir)).not.toContain('restoring');
  });

  it('comes back without signing keys that were removed since, even if one of them signed then', async () => {
    const test = await start();
    const scoped = await test.scopedToken('acme');
    const { kid } = JSON.parse(Buffer.from(scoped.split('.')[0] ?? '', 'base64url').toString());
    const made = await backUp(test.env);
    const trail = newPath();
    for (const args of [
      ['keys', 'rotate'],
      ['keys', 'remove', kid],
    ])
      expect((await runCommand(args, { env: test.env })).code).toBe(0);
    await test.app.workers.sequencer.pass();
    expect((await runCommand(['audit', 'export', '--output', trail], { env: test.env })).code).toBe(0);
    const dataDir = newPath();
    const args = ['restore', '--from', made.folder, '--passphrase-file', passphraseFile, '--replay-events', trail];
    const report = await succeed(args, { INLAY_DATA_DIR: dataDir });
    expect(report.replayed).toEqual({ deleted: 0, revoked: 1 });
    const keys = rowsOf(join(dataDir, 'inlay.db'), 'select kid, retired_at from signing_keys');
    expect(keys).toEqual([{ kid: expect.not.stringMatching(kid), retired_at: null }]);
  });

  itInLongRun(
    'ends console sessions and one-time links, and lists workspaces that the platform no longer had',
    async () => {
      const test = await start();
      await test.workspaceId('kept');
      const deleted = await test.workspaceId('deleted');
      await test.app.makeConsoleLink();
      const headers = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin' };
      const signedIn = await test.request('POST', '/console/session', { headers, body: { token: test.operatorToken } });
      expect(signedIn.status, signedIn.text).toBeLessThan(300);
      const made = await backUp(test.env);
      // As if it had been deleted after the service's store was copied, and before the platform's.
      const platform = new SqliteConnection(join(made.folder, 'platform.db'));
      platform.prepare('update workspaces set deleted_at = 1 where workspace_id = ?').run([deleted]);
      platform.close();
      relist(made.folder);
      const { dataDir, report } = await restore(made.folder);
      expect(report.missing_on_platform).toEqual([{ id: deleted, name: 'deleted' }]);
      const left = (table: string, column: string) =>
        [test.dataDir, dataDir].map(
          (dir) => rowsOf(join(dir, 'inlay.db'), `select id from ${table} where ${column} is null`).length,
        );
      expect(left('console_links', 'used_at')).toEqual([1, 0]);
      expect(left('console_sessions', 'ended_at')).toEqual([1, 0]);
    },
  );

  it('lists credentials whose tokens were due since, and has each refresh token sent once more', async () => {
    const test = await start();
    const sealer = openSealer({} as never, openExistingDataDir(test.dataDir));
    await test.scopedToken('acme');
    const client = await makeClient(test);
    const add = async (refreshToken: string | null, dueAt: number) => {
      const id = await insertCredential(test, 'acme', client);
      const tokens = { accessToken: 'a', refreshToken, issuedAt: 0, taken: {} };
      await test.app.store.db
        .updateTable('credentials')
        .set({ owner: 'service', sealed_tokens: sealTokens(sealer, id, tokens), refresh_due_at: dueAt })
        .where('id', '=', id)
        .execute();
      return id;
    };
    // Nothing of the service itself refreshes them: the application of a test has no workers.
    const due = await add('r', Date.now() - 1);
    await add(null, Date.now() - 1);
    await add('r', Date.now() + 86_400_000);
    const { dataDir, report } = await restore((await backUp(test.env)).folder);
    expect(report.credentials).toMatchObject([{ id: due, workspace_name: 'acme' }]);
    const marked = rowsOf(
      join(dataDir, 'inlay.db'),
      'select id from credentials where tries = 1 and tried_generation = 1',
    );
    expect(marked).toEqual([{ id: due }]);
  });
});

/** Writes the manifest anew, for files that were changed. */
function relist(backup: string): void {
  const file = join(backup, 'manifest.json');
  const { checksum: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
  const files = manifest.files.map(({ path }: { path: string }) => {
    const content = readFileSync(join(backup, path));
    return { path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  });
  writeFileSync(file, writtenManifest({ ...manifest, files }));
}

async function makeClient(test: TestApp): Promise<string> {
  const endpoints = {
    authorization_url: 'https://provider.example/authorize',
    token_url: 'https://provider.example/token',
  };
  const body = { name: 'Provider', client_id: 'app', client_secret: 'very secret', endpoints };
  const answer = await test.request('POST', '/api/v1/integrations/oauth/clients', { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

it('A backup of PostgreSQL [postgres] has every row of every table, and goes into an empty PostgreSQL only', async () => {
  const test = await start('postgres');
  await test.scopedToken('acme');
  const name = 'Ünïcode "name" \\ 東京 \u2028 \n \t {[,]} \\N';
  await test.app.store.db.updateTable('organizations').set({ name }).execute();
  await test.app.workers.sequencer.pass();
  const made = await backUp(test.env);
  const restored = await restoreInto('postgres', made.folder);
  const again = await backUp(restored.env);
  // What a restore changes, and records.
  const changed = ['log_heads.jsonl', 'log_pending.jsonl', 'replicas.jsonl'];
  const contents = (folder: string) =>
    Object.fromEntries(
      readdirSync(join(folder, 'tables'))
        .filter((name) => !changed.includes(name))
        .map((name) => [
          name,
          readFileSync(join(folder, 'tables', name), 'utf8')
            .split('\n')
            .toSorted(),
        ]),
    );
  expect(contents(again.folder)).toEqual(contents(made.folder));
  const [row = ''] = contents(again.folder)['organizations.jsonl']?.filter((line) => line !== '') ?? [];
  expect(JSON.parse(row).name).toBe(name);

  const args = ['restore', '--from', made.folder, '--passphrase-file', passphraseFile];
  for (const database of [{}, { INLAY_DATABASE_URL: test.env.INLAY_DATABASE_URL }]) {
    const dataDir = newPath();
    expect((await runCommand(args, { env: { INLAY_DATA_DIR: dataDir, ...database } })).code).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
  }
});
