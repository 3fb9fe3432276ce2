/*
 * The databases that the service is measured on, with their workspaces. They serve a whole run: the next benchmark
 * finds the workspaces that an earlier one made. PostgreSQL is a throw-away server, started when it is first needed.
 * Without the programs of a server there is none, and the log says so.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { databaseFileOf, seedPostgres, seedSqlite } from './dataset.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import type { BenchmarkSettings, Log } from './settings.ts';

export interface SeededDatabase {
  name: 'SQLite' | 'PostgreSQL';
  /** Starts the service on a store with this number of workspaces. */
  startOn(workspaces: number): Promise<ServiceProcess>;
}

export interface SqliteDatabase extends SeededDatabase {
  fileOf(workspaces: number): Promise<string>;
}

export interface PostgresDatabase extends SeededDatabase {
  /** The URL for a superuser. */
  serverUrl: string;
  urlOf(workspaces: number): Promise<string>;
  /** A new database with nothing in it. */
  makeEmpty(name: string): Promise<string>;
  /** Undefined where it is not installed. */
  program(name: 'psql' | 'pgbench'): string | undefined;
}

export interface Databases {
  sqlite: SqliteDatabase;
  postgres(): Promise<PostgresDatabase | undefined>;
  close(): Promise<void>;
}

export function createDatabases(settings: BenchmarkSettings, log: Log): Databases {
  const seeded = (workspaces: number) => seedSqlite(workspaces, settings, log);
  let starting: ReturnType<typeof startPostgres> | undefined;
  return {
    sqlite: {
      name: 'SQLite',
      startOn: async (workspaces) => startService({ dataDir: await seeded(workspaces) }, settings),
      fileOf: async (workspaces) => databaseFileOf(await seeded(workspaces)),
    },
    async postgres() {
      starting ??= startPostgres(settings, log);
      return (await starting)?.database;
    },
    async close() {
      await (await starting)?.stop();
    },
  };
}

async function startPostgres(settings: BenchmarkSettings, log: Log) {
  // A dynamic import keeps this module a separate file. Bundled into the program, it would think that it is the
  // program.
  const { findPostgres, startPostgres } = await import('../scripts/postgres.mjs');
  const programs = await findPostgres().catch((error: Error) => log(error.message));
  if (!programs) return undefined;
  // The server of a deployment has more memory than the few megabytes that are enough for tests.
  const server = await startPostgres({ settings: { shared_buffers: '256MB' } });
  const urls = new Map<number, Promise<string>>();

  async function makeSeeded(workspaces: number): Promise<string> {
    const url = await makeDatabase(server.url, `workspaces_${workspaces}`);
    await seedPostgres(url, workspaces, settings, log);
    return url;
  }

  function urlOf(workspaces: number): Promise<string> {
    const url = urls.get(workspaces) ?? makeSeeded(workspaces);
    urls.set(workspaces, url);
    return url;
  }

  const database: PostgresDatabase = {
    name: 'PostgreSQL',
    serverUrl: server.url,
    urlOf,
    makeEmpty: (name) => makeDatabase(server.url, name),
    program: (name) => programs[name],
    async startOn(workspaces) {
      const dataDir = join(settings.folder, `postgres-${workspaces}`);
      mkdirSync(dataDir, { recursive: true });
      return await startService({ dataDir, environment: { INLAY_DATABASE_URL: await urlOf(workspaces) } }, settings);
    },
  };
  return { database, stop: () => server.stop() };
}

async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
