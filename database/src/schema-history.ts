/**
 * The history of a store's schema, for every store and both databases: the names of its migrations, the version that applied
 * the latest one, and the oldest version that works on the result.
 *
 * Migrations are expand/contract: the version before a migration keeps working after it. So a start accepts migrations it
 * doesn't know, unless the store says that they need a later version.
 */
import { Kysely, type QueryExecutorProvider, SqliteDialect, sql } from 'kysely';
import { SqliteConnection } from './connection.ts';
import { isSqlite } from './is-sqlite.ts';

export interface SchemaDefinition<Tx extends QueryExecutorProvider> {
  /** The version of this program. */
  version: string;
  /** The oldest version that works once all migrations are applied. */
  oldestCompatible: string;
  /** The table of applied migrations, and what its second column holds. */
  table: string;
  createTable: string;
  now: string;
  /** A string in place of a removed one: the version that still has it. */
  migrations: Readonly<Record<string, ((tx: Tx) => Promise<void>) | string>>;
  /** Creates in one step what the migrations up to a name create. Later ones run on new stores too. */
  baseline: { through: string; load: () => Promise<string[]> };
}

export interface SchemaHistory {
  applied: string[];
  pending: string[];
  /** Applied by a later version, or by one that this one doesn't descend from. */
  unknown: string[];
  /** Null: recorded by no version yet. */
  oldestCompatible: string | null;
  migratedBy: string | null;
}

/** Called after each migration, with its duration. */
export type OnApplied = (name: string, ms: number) => void;

/** This program must not use the store. The message says which version can. */
export class IncompatibleSchema extends Error {}

export async function readHistory<Tx extends QueryExecutorProvider>(
  db: QueryExecutorProvider,
  { table, migrations }: SchemaDefinition<Tx>,
): Promise<SchemaHistory> {
  const known = Object.keys(migrations);
  if (!(await hasTable(db, table))) {
    return { applied: [], pending: known, unknown: [], oldestCompatible: null, migratedBy: null };
  }
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(db);
  const applied = rows.map((row) => row.name);
  const versions = (await hasTable(db, 'schema_versions')) ? await readVersions(db) : undefined;
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
    oldestCompatible: versions?.oldest_compatible ?? null,
    migratedBy: versions?.migrated_by ?? null,
  };
}

/** Reads the history of an existing SQLite file without changing it. */
export async function readFileHistory<Tx extends QueryExecutorProvider>(
  file: string,
  definition: SchemaDefinition<Tx>,
): Promise<SchemaHistory> {
  const database = new SqliteConnection(file, { readOnly: true });
  const db = new Kysely<never>({ dialect: new SqliteDialect({ database }) });
  return await readHistory(db, definition).finally(() => db.destroy());
}

export function findIncompatibility({ unknown, oldestCompatible }: SchemaHistory, version: string): string | undefined {
  if (oldestCompatible !== null && isOlder(version, oldestCompatible)) {
    return `This data needs Inlay ${oldestCompatible} or later; this is ${version}.`;
  }
  if (unknown.length === 0 || oldestCompatible !== null) return undefined;
  return `This data needs the version of Inlay that applied ${unknown.join(', ')}, or a later one; this is ${version}.`;
}

export function assertCompatible(history: SchemaHistory, version: string): void {
  const incompatibility = findIncompatibility(history, version);
  if (incompatibility !== undefined) throw new IncompatibleSchema(incompatibility);
}

/** Applies what is pending and returns the names. In one transaction that excludes others, so a failure leaves nothing behind. */
export async function applyPending<Tx extends QueryExecutorProvider>(
  tx: Tx,
  definition: SchemaDefinition<Tx>,
  onApplied: OnApplied = () => {},
): Promise<string[]> {
  const { table, createTable, now, migrations, baseline, version } = definition;
  await sql.raw(createTable).execute(tx);
  const history = await readHistory(tx, definition);
  assertCompatible(history, version);
  const { pending } = history;
  if (pending.length === 0) return [];
  const inBaseline = history.applied.length === 0 ? pending.filter((name) => name <= baseline.through) : [];
  let startedAt = performance.now();
  const tell = (name: string) => {
    onApplied(name, Math.round(performance.now() - startedAt));
    startedAt = performance.now();
  };
  if (inBaseline.length > 0) {
    for (const statement of await baseline.load()) await sql.raw(statement).execute(tx);
    tell(`baseline through ${baseline.through}`);
  }
  for (const name of pending.slice(inBaseline.length)) {
    const migration = migrations[name];
    if (typeof migration !== 'function') throw new IncompatibleSchema(passThrough(migration, version));
    await migration(tx);
    tell(name);
  }
  const rows = sql.join(pending.map((name) => sql`(${name}, ${sql.raw(now)})`));
  await sql`insert into ${sql.table(table)} values ${rows}`.execute(tx);
  await writeVersions(tx, definition, history.oldestCompatible);
  return pending;
}

const passThrough = (needed: string | undefined, version: string) =>
  `This data is too old for Inlay ${version}. Start Inlay ${needed} on it once, then ${version}.`;

interface Versions {
  oldest_compatible: string;
  migrated_by: string;
}

async function readVersions(db: QueryExecutorProvider): Promise<Versions | undefined> {
  const { rows } = await sql<Versions>`select oldest_compatible, migrated_by from schema_versions`.execute(db);
  return rows[0];
}

async function writeVersions<Tx extends QueryExecutorProvider>(
  tx: Tx,
  { version, oldestCompatible }: SchemaDefinition<Tx>,
  recorded: string | null,
): Promise<void> {
  // An older version that applies a late migration of its own doesn't make the schema work with older versions.
  const oldest = recorded !== null && isOlder(oldestCompatible, recorded) ? recorded : oldestCompatible;
  await sql`
    create table if not exists schema_versions (oldest_compatible text not null, migrated_by text not null)`.execute(
    tx,
  );
  await sql`delete from schema_versions`.execute(tx);
  await sql`insert into schema_versions (oldest_compatible, migrated_by) values (${oldest}, ${version})`.execute(tx);
}

/** Looks for one table only: Kysely's introspection reads the columns of all tables. */
async function hasTable(db: QueryExecutorProvider, name: string): Promise<boolean> {
  const { rows } = isSqlite(db)
    ? await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db)
    : await sql`select 1 where to_regclass(${name}) is not null`.execute(db);
  return rows.length > 0;
}

export function isOlder(version: string, other: string): boolean {
  const [one, two] = [version, other].map((text) => text.split(/[.-]/, 3).map(Number)) as [number[], number[]];
  const index = one.findIndex((part, i) => part !== two[i]);
  return index !== -1 && (one[index] ?? 0) < (two[index] ?? 0);
}
