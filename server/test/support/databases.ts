// Fresh databases for tests. Suites about storage run on both kinds; the title says which one, so that `npm run check`
// can count that the PostgreSQL half really ran.

import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, inject, it } from 'vitest';
import { openStore as openPlatformStore } from '../../../platform/src/db/open.ts';
import { isLongRun } from '../../../scripts/long-run.ts';
import { migrate } from '../../src/kernel/db/migrations.ts';
import { openPostgres, openSqlite } from '../../src/kernel/db/open.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL on which the tests may create databases. */
    postgresUrl: string;
  }
}

export const databaseKinds = ['sqlite', 'postgres'] as const;
export type TestDatabaseKind = (typeof databaseKinds)[number];

export interface TestDatabase {
  readonly kind: TestDatabaseKind;
  /** PostgreSQL only: the URL of a database of its own. */
  readonly url?: string;
  /** An empty directory; SQLite keeps its files there. */
  readonly dataDir: string;
  /** Removes the database, ending any session still open in it, and the directory. */
  drop(): Promise<void>;
}

interface DatabaseOptions {
  /** A copy of a database with all tables costs a tenth of making them. */
  migrated?: boolean;
  /** Whose tables a migrated database of PostgreSQL has. */
  of?: 'service' | 'platform';
}

/** Empty, unless it may be `migrated`. */
export async function createTestDatabase(
  kind: TestDatabaseKind,
  { migrated = false, of = 'service' }: DatabaseOptions = {},
): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'inlay-test-'));
  const removeDataDir = () => rm(dataDir, { recursive: true, force: true });
  // The bundled platform keeps its own file, whatever database the service has.
  if (migrated) await copyMigratedFiles(kind === 'sqlite' ? ['inlay.db', 'platform.db'] : ['platform.db'], dataDir);
  if (kind === 'sqlite') return { kind, dataDir, drop: removeDataDir };

  const name = `inlay_test_${randomBytes(8).toString('hex')}`;
  // Nobody ever connects to a template database: copying it would fail while someone is connected.
  const template = migrated ? await migratedTemplate(of) : 'template0';
  await createDatabase(name, template);
  return {
    kind,
    url: urlOf(name),
    dataDir,
    async drop() {
      await administrator().query(`drop database if exists ${name} with (force)`);
      await removeDataDir();
    },
  };
}

/** For suites about stores: what they write and find, and what happens to it when something fails. */
export function describeOnBothDatabases(name: string, define: (kind: TestDatabaseKind) => void): void {
  for (const kind of databaseKinds) {
    describe(`${name} [${kind}]`, () => define(kind));
  }
}

interface TestInTurns {
  (name: string, run: () => Promise<void> | void): void;
  each: typeof it.each;
}

/**
 * For suites of many tests that each begin with nothing: a short run tries every test, half of them on each database. The
 * long run tries all on both.
 */
export function describeInTurns(
  name: string,
  define: (kind: TestDatabaseKind, testInTurns: TestInTurns) => void,
): void {
  describeOnBothDatabases(name, (kind) => {
    let count = 0;
    const isTurn = () => isLongRun || databaseKinds[count++ % databaseKinds.length] === kind;
    const testInTurns = (name: string, run: () => Promise<void> | void) => {
      if (isTurn()) it(name, run);
    };
    testInTurns.each = ((cases: readonly unknown[]) => it.each(cases.filter(isTurn))) as typeof it.each;
    define(kind, testInTurns);
  });
}

/** For suites about HTTP or about processes, which do not test SQL. The long run uses both databases for these too. */
export function describeOnOneDatabase(name: string, define: (kind: TestDatabaseKind) => void): void {
  if (isLongRun) describeOnBothDatabases(name, define);
  else describe(`${name} [sqlite]`, () => define('sqlite'));
}

function urlOf(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

let migratedFiles: Promise<string> | undefined;

async function copyMigratedFiles(names: string[], dataDir: string): Promise<void> {
  migratedFiles ??= makeMigratedFiles();
  const folder = await migratedFiles;
  for (const name of names) await copyFile(join(folder, name), join(dataDir, name));
}

/** Once per process, in a folder that goes with the process. */
async function makeMigratedFiles(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-test-migrated-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const store = openSqlite({ file: join(folder, 'inlay.db'), now: Date.now });
  await migrate(store).finally(() => store.close());
  await (await openPlatformStore(join(folder, 'platform.db'))).close();
  return folder;
}

const templates = new Map<string, Promise<string>>();

/** The name of the database with all tables. The first test file that needs it makes it for all. */
function migratedTemplate(of: 'service' | 'platform'): Promise<string> {
  const template = templates.get(of) ?? ensureTemplate(of);
  templates.set(of, template);
  return template;
}

const tablesOf = {
  service: {
    folder: '../../src/kernel/db',
    async make(url: string) {
      const store = openPostgres({ url, maxConnections: 1 });
      await migrate(store).finally(() => store.close());
    },
  },
  platform: {
    folder: '../../../platform/src/db',
    make: async (url: string) => (await openPlatformStore({ url }, { maxConnections: 1 })).close(),
  },
};

async function ensureTemplate(of: 'service' | 'platform'): Promise<string> {
  const { folder, make } = tablesOf[of];
  const hash = createHash('sha256');
  for (const file of ['baseline', 'migrations']) {
    hash.update(await readFile(new URL(`${folder}/${file}.ts`, import.meta.url)));
  }
  const name = `inlay_template_${hash.digest('hex').slice(0, 16)}`;
  const session = await administrator().connect();
  try {
    // Held until the session ends: test files run side by side.
    await session.query("select pg_advisory_lock(hashtext('inlay test template'))");
    if ((await session.query('select 1 from pg_database where datname = $1', [name])).rowCount) return name;
    await session.query(`drop database if exists ${name}_unfinished with (force)`);
    await createDatabase(`${name}_unfinished`, 'template0');
    await make(urlOf(`${name}_unfinished`));
    await session.query(`alter database ${name}_unfinished rename to ${name}`);
    return name;
  } finally {
    session.release(true);
  }
}

let strategy: Promise<string> | undefined;

/** By copying files, as before PostgreSQL 15: its new way writes every page to the log, which takes four times as long. */
async function createDatabase(name: string, template: string): Promise<void> {
  strategy ??= administrator()
    .query("select current_setting('server_version_num')::int >= 150000 as has")
    .then(({ rows }) => (rows[0].has ? 'strategy file_copy' : ''));
  await administrator().query(`create database ${name} template ${template} encoding 'UTF8' ${await strategy}`);
}

let administrators: pg.Pool | undefined;

/** Kept for the next database: every new session is a new process of the server. */
function administrator(): pg.Pool {
  if (!administrators) {
    administrators = new pg.Pool({ connectionString: inject('postgresUrl'), allowExitOnIdle: true });
    // A session that ends while nobody uses it, with its server for example, is replaced by the next.
    administrators.on('error', () => {});
  }
  return administrators;
}
