/**
 * SQLite as Kysely sees it. There is one connection that writes. Statements and transactions take turns on it; a
 * transaction keeps it until it ends. A database in a file may have a second connection that only reads. SQLite shows the
 * second connection only what is committed, so a reader does not wait for a transaction.
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import type { SqliteConnection } from './connection.ts';
import type { TransactionGuard } from './transaction-guard.ts';

export function sqliteDialect(
  database: SqliteConnection,
  reader?: SqliteConnection,
  guard?: TransactionGuard,
): Dialect {
  const config = { database };
  const dialect = new SqliteDialect(config);
  return {
    createAdapter: () => (reader ? new ReadingSqliteAdapter(reader) : new SqliteAdapter()),
    createDriver: () => new FairSqliteDriver(config, reader, guard),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

/** Carries the connection that only reads, so that db/prepared.ts finds it. */
export class ReadingSqliteAdapter extends SqliteAdapter {
  readonly #reader: SqliteConnection;

  constructor(reader: SqliteConnection) {
    super();
    this.#reader = reader;
  }

  prepare(sql: string): (parameters: unknown[]) => Record<string, unknown>[] {
    const statement = this.#reader.prepare(sql);
    return (parameters) => statement.all(parameters);
  }

  prepareMany(sql: string): (parameters: unknown[]) => Record<string, unknown>[] {
    return this.#reader.prepareMany(sql);
  }
}

class FairSqliteDriver extends SqliteDriver {
  readonly #database: SqliteConnection;
  readonly #reader: SqliteConnection | undefined;
  readonly #guard: TransactionGuard | undefined;
  #lastInLine: Promise<void> = Promise.resolve();
  #endTurn: () => void = () => {};

  constructor(
    config: { database: SqliteConnection },
    reader: SqliteConnection | undefined,
    guard: TransactionGuard | undefined,
  ) {
    super(config);
    this.#database = config.database;
    this.#reader = reader;
    this.#guard = guard;
  }

  /** Waiters get the connection one after the other. Kysely's own lock would wake all of them each time it is free. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#guard?.assertOutside();
    const before = this.#lastInLine;
    let endTurn = () => {};
    this.#lastInLine = new Promise((resolve) => {
      endTurn = resolve;
    });
    await before;
    this.#endTurn = endTurn;
    return await super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
    this.#endTurn();
  }

  /**
   * Every transaction takes the write lock first. Otherwise a transaction that reads before it writes could fail
   * half-way as busy.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite itself rolls back after some failures, such as a full disk. A second rollback would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isInTransaction) await super.rollbackTransaction(connection);
  }

  override async destroy(): Promise<void> {
    // The writing connection closes last: a reading connection cannot move the log into the file.
    this.#reader?.close();
    await super.destroy();
  }
}
