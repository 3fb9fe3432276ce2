/** An upgrade of the data of an older build: copies first, one process at a time, and what `--check` says before. */
import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { applyPending, readFileHistory } from '@inlay/database/schema-history';
import { schema as platformSchema } from '@inlay/platform/db/migrations';
import { openStore as openPlatformStore } from '@inlay/platform/db/open';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import { upgrade } from '../src/edge/deployment/upgrade.ts';
import { schemaOf } from '../src/kernel/db/migrations.ts';
import { openSqlite, type Store } from '../src/kernel/db/open.ts';
import { OperatorError } from '../src/kernel/errors.ts';
import { systemRuntime } from '../src/kernel/runtime.ts';
import { version } from '../src/kernel/version.ts';
import { runCommand } from './support/command-line.ts';
import { createTestDatabase } from './support/databases.ts';
import { withoutBaseline } from './support/schemas.ts';

const lastOfService = '0037-console';
const lastOfPlatform = '0006-fields-of-failures';

/** As builds of 15 November 2026 left it. */
async function makeOldData() {
  const database = await createTestDatabase('sqlite');
  const { dataDir } = database;
  const files = { service: join(dataDir, 'inlay.db'), platform: join(dataDir, 'platform.db') };
  const open = () => openSqlite({ file: files.service, now: Date.now });
  const store = open();
  onTestFinished(async () => {
    await store.close();
    await database.drop();
  });
  await store.exclusively((tx) => applyPending(tx, withoutBaseline(schemaOf('sqlite'), lastOfService)));
  change(
    files.service,
    `insert into organizations values ('7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20', 'kept', 'x', 1); drop table schema_versions`,
  );
  const definition = withoutBaseline(platformSchema, lastOfPlatform);
  await (await openPlatformStore(files.platform, { definition })).close();
  change(files.platform, `insert into organizations values (1, 'kept', 1); drop table schema_versions`);
  const lines: string[] = [];
  const config = { dataDir, platformUrl: undefined };
  return {
    ...{ dataDir, files, store, open, lines },
    upgrade: (opened: Store = store) =>
      upgrade({
        config,
        secrets: { platformDatabaseUrl: undefined },
        store: opened,
        runtime: systemRuntime,
        tell: (line) => lines.push(line),
      }),
    copies: () => readdirSync(join(dataDir, 'before-upgrade')),
    pending: async () => ({
      database: (await readFileHistory(files.service, schemaOf('sqlite'))).pending,
      platform: (await readFileHistory(files.platform, platformSchema)).pending,
    }),
  };
}

function change(file: string, statements: string): void {
  const connection = new SqliteConnection(file);
  connection.exec(statements);
  connection.close();
}

async function expectOldCopy(folder: string): Promise<void> {
  const [service, platform] = ['inlay.db', 'platform.db'].map((name) => join(folder, name)) as [string, string];
  expect((await readFileHistory(service, schemaOf('sqlite'))).applied.at(-1)).toBe(lastOfService);
  expect((await readFileHistory(platform, platformSchema)).applied.at(-1)).toBe(lastOfPlatform);
  for (const file of [service, platform]) {
    const copy = new SqliteConnection(file);
    expect(copy.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(copy.prepare('select count(*) as kept from organizations').all()).toEqual([{ kept: 1 }]);
    copy.close();
  }
}

it('copies both files first, reports each migration, and keeps the copy until the next upgrade has succeeded', async () => {
  const data = await makeOldData();
  const before = await data.pending();
  const applied = await data.upgrade();
  expect(applied).toEqual([...before.database, ...before.platform]);
  expect(await data.pending()).toEqual({ database: [], platform: [] });
  expect(data.lines[0]).toContain(join(data.dataDir, 'before-upgrade'));
  for (const name of applied) expect(data.lines.filter((line) => line.includes(name))).toHaveLength(1);
  const [first, ...others] = data.copies();
  expect(others).toEqual([]);
  await expectOldCopy(join(data.dataDir, 'before-upgrade', first as string));

  expect(await data.upgrade()).toEqual([]);
  expect(data.copies()).toEqual([first]);
  // As if the next version had a migration more.
  change(data.files.service, "delete from migrations where name = '0047-lives-of-tokens'");
  expect(await data.upgrade()).toEqual(['0047-lives-of-tokens']);
  expect(data.copies()).toEqual([expect.stringMatching(`^${version}-`)]);
  expect(data.copies()).not.toEqual([first]);
});

it('copies nothing where there is no data yet', async () => {
  const database = await createTestDatabase('sqlite');
  const store = openSqlite({ file: join(database.dataDir, 'inlay.db'), now: Date.now });
  onTestFinished(async () => {
    await store.close();
    await database.drop();
  });
  const config = { dataDir: database.dataDir, platformUrl: undefined };
  expect(
    await upgrade({
      config,
      secrets: { platformDatabaseUrl: undefined },
      store,
      runtime: systemRuntime,
      tell: () => {},
    }),
  ).not.toEqual([]);
  expect(existsSync(join(database.dataDir, 'before-upgrade'))).toBe(false);
});

it('refuses to begin where the disk has no room for the copies, and changes nothing', async () => {
  const data = await makeOldData();
  const before = await data.pending();
  const log = `${data.files.platform}-wal`;
  writeFileSync(log, '');
  // A file with a hole, larger than the disk.
  truncateSync(log, 8e12);
  await expect(data.upgrade()).rejects.toThrow(OperatorError);
  rmSync(log);
  expect(await data.pending()).toEqual(before);
  expect(data.copies()).toEqual([]);
});

it('continues with its first copy after it failed between the two files', async () => {
  const data = await makeOldData();
  change(data.files.platform, 'create table job_attempts (in_the_way)');
  await expect(data.upgrade()).rejects.toThrow('job_attempts');
  expect(await data.pending()).toMatchObject({ database: [] });
  expect(data.copies()).toEqual([expect.stringMatching(/\.unfinished$/)]);
  change(data.files.platform, 'drop table job_attempts');
  await data.upgrade();
  const [copy, ...others] = data.copies();
  expect(others).toEqual([]);
  expect(copy).not.toMatch(/unfinished/);
  await expectOldCopy(join(data.dataDir, 'before-upgrade', copy as string));
});

it('replaces the copy of an attempt that changed nothing', async () => {
  const data = await makeOldData();
  change(data.files.service, 'create table cause_retries (in_the_way)');
  await expect(data.upgrade()).rejects.toThrow('cause_retries');
  change(data.files.service, `drop table cause_retries; update organizations set name = 'changed'`);
  await data.upgrade();
  const [copy, ...others] = data.copies();
  expect(others).toEqual([]);
  const file = new SqliteConnection(join(data.dataDir, 'before-upgrade', copy as string, 'inlay.db'));
  expect(file.prepare('select name from organizations').all()).toEqual([{ name: 'changed' }]);
  file.close();
});

it('is done once when two processes begin at the same moment', async () => {
  const data = await makeOldData();
  const other = data.open();
  const applied = await Promise.all([data.upgrade(), data.upgrade(other)]).finally(() => other.close());
  expect(applied.map((names) => names.length > 0).toSorted()).toEqual([false, true]);
  expect(data.copies()).toHaveLength(1);
});

it('shows with --check what it would do, and does nothing', async () => {
  const data = await makeOldData();
  const before = await data.pending();
  const check = (env: Record<string, string> = {}, ...options: string[]) =>
    runCommand(['upgrade', '--check', ...options], { env: { INLAY_DATA_DIR: data.dataDir, ...env } });
  const { code, stdout } = await check({}, '--json');
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ version, pending: before, last_backup_at: null });
  expect(report.estimated_seconds).toBeGreaterThan(0);
  expect(report.disk.free_bytes).toBeGreaterThan(report.disk.needed_bytes);
  expect(await data.pending()).toEqual(before);
  expect(existsSync(join(data.dataDir, 'before-upgrade'))).toBe(false);

  const findings = (await check()).stdout;
  expect(findings).toContain('No backup is recorded.');
  for (const name of [...before.database, ...before.platform]) expect(findings).toContain(name);
  writeFileSync(join(data.dataDir, 'last-backup'), '');
  expect(JSON.parse((await check({}, '--json')).stdout).last_backup_at).toMatch(/^20/);

  expect(await check({ INLAY_SOMETHING_OLD: 'x' })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('INLAY_SOMETHING_OLD'),
  });
  expect(await check({ INLAY_DATABSE_URL: 'x' })).toMatchObject({
    code: exitCodes.findings[0],
    stdout: expect.stringContaining('INLAY_DATABASE_URL'),
  });
  await data.upgrade();
  change(data.files.service, `update schema_versions set oldest_compatible = '99.0.0'`);
  expect(await check()).toMatchObject({ code: exitCodes.findings[0], stdout: expect.stringContaining('99.0.0') });
});
