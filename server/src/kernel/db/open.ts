/**
 * Opens the local store on SQLite or PostgreSQL behind one interface. What always holds: an acknowledged write is
 * on disk (SQLite: WAL with synchronous=FULL; PostgreSQL: its default); no session state is used on PostgreSQL, so a
 * transaction pooler may stand in between; `now_ms()` is the database's clock on both.
 */
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { roomStatements, type StorageState } from '@inlay/database/storage-state';
import { transactionGuard } from '@inlay/database/transaction-guard';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import { addFunctions, sqliteDialect } from './sqlite.ts';
import { isOutage } from './storage-failure.ts';
import type { Tables } from './tables.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** What store functions take: the database itself or an open transaction. */
export type Db = Kysely<Tables>;

export interface Store {
  readonly kind: DatabaseKind;
  readonly db: Db;
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction while no other process runs one of this kind: for work that must happen once in a deployment.
   */
  exclusively<T>(work: (tx: Transaction<Tables>) => Promise<T>, patienceMs?: number): Promise<T>;
  /** Call it after many writes: the database learns the size of its tables now, and not a minute later. */
  learnSizes(): Promise<void>;
  /** The database's clock; also proves that the database answers. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface SqliteOptions {
  file: string;
  now: () => number;
  /** Short for the service, because waiting blocks the event loop; longer for the command line. */
  busyTimeoutMs?: number;
  storage?: StorageState | undefined;
}

export function openSqlite({ file, now, busyTimeoutMs = 500, storage }: SqliteOptions): Store {
  const onFailure = storage && { onFailure: storage.note };
  const database = new SqliteConnection(file, { busyTimeoutMs, ...onFailure });
  chmodSync(file, 0o600);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const reader = new SqliteConnection(file, { busyTimeoutMs, readOnly: true, ...onFailure });
  for (const connection of [database, reader]) addFunctions(connection, now);
  const guard = transactionGuard();
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database, reader, guard) });
  const transaction: Store['transaction'] = (work) => db.transaction().execute((tx) => guard.within(() => work(tx)));
  const probed = {
    folder: dirname(file),
    probeWrites: () => transaction((tx) => takeRoomInSqlite(tx)),
  };
  storage?.add(probed);
  return {
    kind: 'sqlite',
    db,
    transaction,
    exclusively: transaction,
    // The query plans of SQLite do not depend on the size of its tables.
    learnSizes: async () => {},
    now: () => databaseTime(db),
    async close() {
      storage?.remove(probed);
      await db.destroy();
    },
  };
}

async function takeRoomInSqlite(tx: Db): Promise<void> {
  for (const statement of roomStatements) await sql.raw(statement).execute(tx);
}

/**
 * The same on PostgreSQL: the table and its file are gone at the commit. A temporary table may lie on another disk, and not
 * every user may make one. A replica that probes at the same time waits for the commit.
 */
async function takeRoomInPostgres(tx: Db): Promise<void> {
  await sql`create table storage_probe as select repeat('x', 8000) as filler from generate_series(1, 8)`.execute(tx);
  await sql`drop table storage_probe`.execute(tx);
}

/** Also within a transaction. */
export async function databaseTime(db: Db): Promise<number> {
  const { rows } = await sql<{ now: number }>`select now_ms() as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the database did not tell its time');
  return row.now;
}

const statementTimeoutMs = 10_000;
const lockTimeoutMs = 5_000;
/** Any number, the same in all versions. */
const exclusiveLock = 7_391_846_201;

export interface PostgresOptions {
  url: string;
  maxConnections?: number;
  storage?: StorageState | undefined;
}

export function openPostgres({ url, maxConnections = 20, storage }: PostgresOptions): Store {
  const connect = (connections: number, statementMs: number) => {
    // On the client's side: a pooler refuses time-outs sent as start-up parameters.
    const options = {
      ...{ url, maxConnections: connections, queryTimeoutMs: statementMs + 2_000 },
      onIdleError: storage?.noteLostConnection ?? (() => {}),
      onFailure: (error: unknown) => storage?.note(error, isOutage(error)),
    };
    // Loaded here and not at the start, because a service on SQLite never needs it.
    const pool = async () => (await import('@inlay/database/postgres-pool')).openPool(options);
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  };
  const db = connect(maxConnections, statementTimeoutMs);
  const transaction: Store['transaction'] = (work) =>
    begin(db, { statementMs: statementTimeoutMs, lockMs: lockTimeoutMs }, work);
  const probed = { probeWrites: () => transaction(takeRoomInPostgres) };
  storage?.add(probed);
  return {
    kind: 'postgres',
    db,
    transaction,
    async exclusively(work, patienceMs = 60_000) {
      // A separate connection, on which a statement may take as long as the caller's patience.
      const patient = connect(1, patienceMs);
      try {
        return await begin(patient, { statementMs: patienceMs, lockMs: patienceMs }, async (tx) => {
          await sql`select pg_advisory_xact_lock(${sql.lit(exclusiveLock)})`.execute(tx);
          return await work(tx);
        });
      } finally {
        await patient.destroy();
      }
    },
    async learnSizes() {
      await sql`analyze workspaces, name_claims`.execute(db);
    },
    now: () => databaseTime(db),
    async close() {
      storage?.remove(probed);
      await db.destroy();
    },
  };
}

async function begin<T>(
  db: Db,
  limits: { statementMs: number; lockMs: number },
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  let cause: { error: unknown } | undefined;
  const run = async (tx: Transaction<Tables>) => {
    // Set for this transaction only: a transaction pooler keeps no other setting.
    await sql`select set_config('statement_timeout', ${String(limits.statementMs)}, true),
                     set_config('lock_timeout', ${String(limits.lockMs)}, true)`.execute(tx);
    return await work(tx);
  };
  const noting = (tx: Transaction<Tables>) =>
    run(tx).catch((error: unknown) => {
      cause = { error };
      throw error;
    });
  try {
    return await db.transaction().execute(noting);
  } catch (error) {
    // Where the rollback fails as well, on a connection that broke for instance, Kysely throws only that failure.
    throw cause ? cause.error : error;
  }
}
