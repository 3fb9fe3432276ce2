/*
 * The databases that the product is measured on. Stores with many workspaces serve a whole run: the next benchmark
 * finds the workspaces that an earlier one made. PostgreSQL is a throw-away server, started when it is first needed.
 * Without the programs of a server there is none, and the log says so.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { isSeeded, organizationId, seedWorkspaces } from './dataset.ts';
import { numberText } from './figures.ts';
import { ensureFirstOrganization, migrate, openPostgres, openSqlite, type Store, systemRuntime } from './product.ts';
import type { BenchmarkSettings, Scope } from './settings.ts';

/** Where the data of a service is, as `startService` takes it. */
export interface Place {
  dataDir: string;
  environment: Record<string, string>;
}

export interface Database {
  name: 'SQLite' | 'PostgreSQL';
  /** A new store with the product's tables, an organization, and what `seed` puts into it. */
  open(name: string, scope: Scope, seed?: (store: Store) => Promise<void>): Promise<Store>;
  /** With nothing in it. */
  makeEmpty(name: string): Promise<Place>;
  withWorkspaces(count: number): Promise<Place>;
  /** Fills tables that a service has made, possibly one of an older version. */
  addWorkspaces(place: Place, count: number): Promise<void>;
}

export interface PostgresDatabase extends Database {
  /** The URL for a superuser. */
  serverUrl: string;
  /** Undefined where it is not installed; then the log says so. */
  program(name: 'psql'): string | undefined;
}

export type Databases = ReturnType<typeof createDatabases>;

export const fileOf = ({ dataDir }: Place): string => join(dataDir, 'inlay.db');
export const urlOf = ({ environment }: Place): string => environment.INLAY_DATABASE_URL ?? '';

export function createDatabases(settings: BenchmarkSettings) {
  const sqlite = databaseOf('SQLite', settings, settings.folder, () => ({}));

  async function startServer() {
    // A dynamic import keeps this module a separate file. Bundled into the program, it would think that it is the
    // program.
    const { findPostgres, startPostgres } = await import('../scripts/postgres.mjs');
    const programs = await findPostgres().catch((error: Error) => settings.log(error.message));
    if (!programs) return undefined;
    // The server of a deployment has more memory than the few megabytes that are enough for tests.
    const server = await startPostgres({ settings: { shared_buffers: '256MB' } });
    const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
    const database: PostgresDatabase = {
      ...databaseOf('PostgreSQL', { ...settings, datasets: undefined }, join(settings.folder, 'postgres'), (name) => ({
        INLAY_DATABASE_URL: urlOf(name),
      })),
      serverUrl: server.url,
      program(name) {
        if (!programs[name]) settings.log(`${name} is not installed, so there is no ceiling to compare with.`);
        return programs[name];
      },
    };
    return { database, stop: () => server.stop() };
  }
  let starting: ReturnType<typeof startServer> | undefined;
  async function postgres() {
    starting ??= startServer();
    return (await starting)?.database;
  }
  return {
    sqlite,
    postgres,
    async all(): Promise<Database[]> {
      const isChosen = (name: Database['name']) => name.toLowerCase().includes(settings.database);
      const other = isChosen('PostgreSQL') ? await postgres() : undefined;
      return [...(isChosen('SQLite') ? [sqlite] : []), ...(other ? [other] : [])];
    },
    close: async () => await (await starting)?.stop(),
  };
}

function databaseOf(
  name: Database['name'],
  { datasets, signal, log }: BenchmarkSettings,
  folder: string,
  environmentOf: (name: string) => Place['environment'],
): Database {
  const placeOf = (name: string, parent = folder): Place => ({
    dataDir: join(parent, name),
    environment: environmentOf(name),
  });
  const seeded = new Map<number, Promise<Place>>();
  async function seed(count: number): Promise<Place> {
    const place = placeOf(`workspaces_${count}`, datasets);
    if (existsSync(fileOf(place)) && (await withStore(place, (store) => isSeeded(store, count)))) return place;
    if (count >= 100_000) log(`inserting ${numberText(count)} workspaces into ${name}`);
    await empty(place);
    await withStore(place, (store) => make(place, store, () => seedWorkspaces(store, count, signal)));
    return place;
  }
  return {
    name,
    makeEmpty: (name) => empty(placeOf(name)),
    async open(name, { onEnd }, seed) {
      const place = await empty(placeOf(name));
      const store = openStore(place);
      onEnd(() => store.close());
      await make(place, store, seed);
      return store;
    },
    withWorkspaces(count) {
      const place = seeded.get(count) ?? seed(count);
      seeded.set(count, place);
      return place;
    },
    addWorkspaces: (place, count) =>
      withStore(place, (store) => seedQuickly(place, store, () => seedWorkspaces(store, count, signal))),
  };
}

async function empty(place: Place): Promise<Place> {
  rmSync(place.dataDir, { recursive: true, force: true });
  mkdirSync(place.dataDir, { recursive: true, mode: 0o700 });
  const url = urlOf(place);
  if (url) {
    const server = Object.assign(new URL(url), { pathname: '/postgres' }).href;
    const name = new URL(url).pathname.slice(1);
    await execute(server, `drop database if exists ${name} with (force)`);
    await execute(server, `create database ${name}`);
  }
  return place;
}

function openStore(place: Place): Store {
  const url = urlOf(place);
  return url ? openPostgres({ url }) : openSqlite({ file: fileOf(place), now: Date.now });
}

async function withStore<T>(place: Place, work: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore(place);
  return await work(store).finally(() => store.close());
}

async function make(place: Place, store: Store, seed?: (store: Store) => Promise<void>): Promise<void> {
  await migrate(store);
  await ensureFirstOrganization(store, systemRuntime, { id: organizationId });
  if (seed) await seedQuickly(place, store, seed);
}

/** In the end the store is as quick as if it had grown slowly. */
async function seedQuickly(place: Place, store: Store, seed: (store: Store) => Promise<void>): Promise<void> {
  // Nobody else reads the file yet, and after a crash it is made again.
  if (store.kind === 'sqlite') await sql`pragma synchronous = off`.execute(store.db);
  await seed(store);
  if (store.kind === 'sqlite') {
    await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
    await sql`pragma synchronous = full`.execute(store.db);
  } else {
    // Autovacuum would do this after a while. Without statistics the server plans badly.
    await execute(urlOf(place), 'vacuum analyze');
  }
}

/** On PostgreSQL. */
export async function execute<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
