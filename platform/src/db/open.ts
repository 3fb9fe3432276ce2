/**
 * Opens the platform's database file. Invariants: every write happens in a transaction that takes the write lock at its
 * start, commits are on disk before they are acknowledged, and only the owner of the process can read the file.
 */
import { closeSync, fchmodSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { applyPending, assertCompatible, type OnApplied, readHistory } from '@inlay/database/schema-history';
import { SqliteError } from '@inlay/database/sqlite-error';
import { roomStatements, type StorageState } from '@inlay/database/storage-state';
import { type TransactionGuard, transactionGuard } from '@inlay/database/transaction-guard';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  sql,
  type Transaction,
} from 'kysely';
import { schema } from './migrations.ts';
import type { Tables } from './tables.ts';

/** What store functions take: the database itself or an open transaction. */
export type Db = Kysely<Tables>;

export interface Store {
  readonly db: Db;
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Fails when the database does not answer. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Long enough for another process's short write, short enough that a request never seems to hang. */
const busyTimeoutMs = 500;

interface StoreOptions {
  /** The clock behind `now_ms()`, for leases. */
  now?: () => number;
  /** Notified when the database stops accepting writes. */
  storage?: StorageState;
  onApplied?: OnApplied | undefined;
  definition?: typeof schema;
}

export async function openStore(
  file: string,
  { now = Date.now, storage, onApplied, definition = schema }: StoreOptions = {},
): Promise<Store> {
  if (file !== ':memory:') ownerOnly(file);
  const database = new SqliteConnection(file, { busyTimeoutMs, ...(storage && { onFailure: storage.note }) });
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  database.define('now_ms', { isDeterministic: false }, () => BigInt(now()));

  const guard = transactionGuard();
  const db = new Kysely<Tables>({ dialect: immediateSqlite({ database }, guard) });
  const transaction: Store['transaction'] = (work) => db.transaction().execute((tx) => guard.within(() => work(tx)));
  try {
    const history = await readHistory(db, definition);
    assertCompatible(history, definition.version);
    // Nearly every start finds nothing to do, and waits for nobody.
    if (history.pending.length > 0) await transaction((tx) => applyPending(tx, definition, onApplied));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const probed = {
    folder: file === ':memory:' ? undefined : dirname(file),
    probeWrites: () => transaction(takeRoom),
  };
  storage?.add(probed);
  return {
    db,
    transaction,
    async probe() {
      await sql`select 1`.execute(db);
    },
    async close() {
      storage?.remove(probed);
      await db.destroy();
    },
  };
}

async function takeRoom(tx: Db): Promise<void> {
  for (const statement of roomStatements) await sql.raw(statement).execute(tx);
}

/** True when another process kept the write lock for longer than we were willing to wait. Nothing was written. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code === 'SQLITE_BUSY';
}

/** Before SQLite opens it: the side files (-wal, -shm) take their mode from the database file. */
function ownerOnly(file: string): void {
  const descriptor = openSync(file, 'a', 0o600);
  fchmodSync(descriptor, 0o600);
  closeSync(descriptor);
}

/**
 * A plain BEGIN takes the write lock only at the first write, where waiting for it is impossible once the transaction
 * has read: two read-then-write transactions would fail each other. IMMEDIATE waits at the start instead.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: SqliteConnection;
  readonly #guard: TransactionGuard;

  constructor(config: { database: SqliteConnection }, guard: TransactionGuard) {
    super(config);
    this.#database = config.database;
    this.#guard = guard;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#guard.assertOutside();
    return await super.acquireConnection();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite itself rolls back after some failures, such as a full disk. A second rollback would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isInTransaction) await super.rollbackTransaction(connection);
  }
}

function immediateSqlite(config: { database: SqliteConnection }, guard: TransactionGuard): Dialect {
  const dialect = new SqliteDialect(config);
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ImmediateDriver(config, guard),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
