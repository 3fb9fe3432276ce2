/*
 * A store with many workspaces. A row is computed from its number, so a benchmark knows the rows without reading them.
 * They are written by plain SQL into tables that the product's own migrations have made, because a million creations
 * would take an hour. In the middle there is one name with a word that no other name contains.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SqliteConnection } from '@inlay/sqlite/connection';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { compareMigrations, migrate } from '../server/src/db/migrations.ts';
import { openPostgres, openSqlite } from '../server/src/db/open.ts';
import { addFunctions } from '../server/src/db/sqlite.ts';
import { ensureFirstOrganization } from '../server/src/organizations/organizations.ts';
import { systemRuntime } from '../server/src/runtime.ts';
import type { BenchmarkSettings, Log } from './settings.ts';

export const organizationId = '5bd6a2f0-9c1e-4b7a-8f3d-2e6c4a1b0d97';
export const operatorToken = 'a-token-that-only-benchmarks-know-0123456789';

const firstCreatedAt = Date.UTC(2024, 0, 1);
const betweenCreationsMs = 40;
// Without q and z, so that some parts of one and two characters are in no name, or in one name only.
const firstWords =
  'Amber Birch Cedar Delta Ember Fjord Granite Harbor Indigo Juniper Karst Lumen Maple Nimbus Orchid'.split(' ');
const secondWords =
  'Analytics Bakery Clinic Dynamics Electric Foods Garage Hotels Insurance Labs Motors Networks'.split(' ');
const legalForms = ['GmbH', 'Inc', 'Ltd', 'SA'];

/** The texts for `name_contains`, by the number of names that contain them. */
export const nameParts = {
  rare: 'zyzzyva',
  'in a few hundred': '4321',
  'in thousands': 'harbor analytics',
  common: 'harbor',
  absent: 'qwv',
  'absent, of common parts': 'harbor harbor',
  'two characters, rare': 'zy',
  'two characters, common': 'ar',
  'two characters, absent': 'qz',
  'one character, rare': 'z',
  'one character, common': 'a',
  'one character, absent': 'q',
} as const;

export interface SeededWorkspace {
  id: string;
  name: string;
  status: 'active' | 'inactive';
  createdAt: number;
}

/** Counts from 0, oldest first. */
export function workspaceAt(index: number, count: number): SeededWorkspace {
  const digest = createHash('md5').update(`workspace ${index}`).digest('hex');
  const at = (from: number, to: number) => digest.slice(from, to);
  const pick = (words: string[], from: number) => words[Number.parseInt(at(from, from + 4), 16) % words.length];
  const first = index === Math.floor(count / 2) ? 'Zyzzyva' : pick(firstWords, 20);
  return {
    id: `${at(0, 8)}-${at(8, 12)}-4${at(13, 16)}-8${at(17, 20)}-${at(20, 32)}`,
    name: `${first} ${pick(secondWords, 24)} ${pick(legalForms, 28)} ${index}`,
    status: index % 10 === 0 ? 'inactive' : 'active',
    createdAt: firstCreatedAt + index * betweenCreationsMs,
  };
}

const databaseName = 'inlay.db';
export const databaseFileOf = (dataDir: string): string => join(dataDir, databaseName);

/** A data directory of the product whose SQLite file has the workspaces. */
export async function seedSqlite(count: number, settings: BenchmarkSettings, log: Log): Promise<string> {
  const dataDir = join(settings.datasets ?? settings.folder, `workspaces-${count}`);
  if (existsSync(databaseFileOf(dataDir)) && (await isCurrent(dataDir, count))) return dataDir;
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (count >= 100_000) log(`putting ${count.toLocaleString('en')} workspaces into SQLite`);
  const store = openSqlite({ file: databaseFileOf(dataDir), now: Date.now });
  await migrate(store);
  await ensureFirstOrganization(store, systemRuntime, { id: organizationId });
  await store.close();
  insertIntoSqlite(databaseFileOf(dataDir), count, settings.signal);
  return dataDir;
}

async function isCurrent(dataDir: string, count: number): Promise<boolean> {
  const store = openSqlite({ file: databaseFileOf(dataDir), now: Date.now });
  try {
    const { pending, unknown } = await compareMigrations(store.db);
    const { id } = workspaceAt(count - 1, count);
    const last = await store.db.selectFrom('workspaces').select('id').where('id', '=', id).executeTakeFirst();
    return pending.length === 0 && unknown.length === 0 && last !== undefined;
  } finally {
    await store.close();
  }
}

const rowsAtATime = 10_000;

function insertIntoSqlite(file: string, count: number, signal: AbortSignal): void {
  const database = new SqliteConnection(file);
  addFunctions(database, Date.now);
  try {
    // Nobody else reads the file yet, and after a crash it is made again.
    database.exec('pragma synchronous = off; pragma cache_size = -400000');
    const workspace = database.prepare(`
      insert into workspaces (id, organization_id, name, name_folded, status, lifecycle, gen, token_gen, created_at, updated_at)
      values (?, ?, ?, ?, ?, 'live', 1, 1, ?, ?)`);
    const claim = database.prepare(`
      insert into name_claims (organization_id, name, state, workspace_id, lease_id, lease_until, no_post_before, attempts, created_at)
      values (?, ?, 'bound', ?, '', 0, 0, 0, ?)`);
    for (let from = 0; from < count; from += rowsAtATime) {
      signal.throwIfAborted();
      database.exec('begin immediate');
      for (let index = from; index < Math.min(count, from + rowsAtATime); index++) {
        const { id, name, status, createdAt } = workspaceAt(index, count);
        workspace.run([id, organizationId, name, name.toLowerCase(), status, createdAt, createdAt]);
        claim.run([organizationId, name, id, createdAt]);
      }
      database.exec('commit');
    }
    database.exec('pragma wal_checkpoint(truncate)');
  } finally {
    database.close();
  }
}

/** The workspaces in an empty PostgreSQL database. */
export async function seedPostgres(url: string, count: number, { signal }: BenchmarkSettings, log: Log): Promise<void> {
  if (count >= 100_000) log(`putting ${count.toLocaleString('en')} workspaces into PostgreSQL`);
  const store = openPostgres({ url, onIdleError: () => {} });
  try {
    await migrate(store);
    await ensureFirstOrganization(store, systemRuntime, { id: organizationId });
  } finally {
    await store.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const copy = async (target: string, lineOf: (workspace: SeededWorkspace) => unknown[]) => {
      const into = client.query(copyFrom(`copy ${target} from stdin`));
      await pipeline(Readable.from(linesOf(count, lineOf)), into, { signal });
    };
    await copy(
      'workspaces (id, organization_id, name, name_folded, status, lifecycle, gen, token_gen, created_at, updated_at)',
      ({ id, name, status, createdAt }) => [
        id,
        organizationId,
        name,
        name.toLowerCase(),
        status,
        'live',
        1,
        1,
        createdAt,
        createdAt,
      ],
    );
    await copy(
      'name_claims (organization_id, name, state, workspace_id, lease_id, lease_until, no_post_before, attempts, created_at)',
      ({ id, name, createdAt }) => [organizationId, name, 'bound', id, '', 0, 0, 0, createdAt],
    );
    // The server would do this by itself after a while. Without statistics it plans badly.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

function* linesOf(count: number, lineOf: (workspace: SeededWorkspace) => unknown[]): Generator<string> {
  for (let from = 0; from < count; from += rowsAtATime) {
    let lines = '';
    for (let index = from; index < Math.min(count, from + rowsAtATime); index++) {
      lines += `${lineOf(workspaceAt(index, count)).join('\t')}\n`;
    }
    yield lines;
  }
}
