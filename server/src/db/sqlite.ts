/**
 * SQLite as Kysely sees it. There is one connection, which everything takes in turn, a transaction for its whole length;
 * and, for a file, a second one that only reads. SQLite shows the latter what is committed and nothing else, so that
 * who only reads waits for no transaction.
 */
import type Sqlite from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { wordsOfName } from './name-parts.ts';

/** What our statements and triggers call, and SQLite does not have: to be added to every connection that writes. */
export function addFunctions(database: Sqlite.Database, now: () => number): void {
  database.function('now_ms', { deterministic: false }, () => BigInt(now()));
  database.function('name_parts', { deterministic: true }, (name) => wordsOfName(String(name)));
}

export function sqliteDialect(database: Sqlite.Database, reader?: Sqlite.Database): Dialect {
  const config = { database: withKeptStatements(database) };
  const dialect = new SqliteDialect(config);
  return {
    createAdapter: () => (reader ? new ReadingSqliteAdapter(reader) : new SqliteAdapter()),
    createDriver: () => new FairSqliteDriver(config, reader),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

/** Where db/prepared.ts finds the connection that only reads. */
export class ReadingSqliteAdapter extends SqliteAdapter {
  readonly #reader: Sqlite.Database;

  constructor(reader: Sqlite.Database) {
    super();
    this.#reader = reader;
  }

  /** Rows come as lists of values and are given names here: across the binding every name of every row costs as much as its value. */
  prepare(sql: string): (parameters: unknown[]) => Record<string, unknown>[] {
    const statement = this.#reader.prepare<unknown[], unknown[]>(sql).raw();
    const names = statement.columns().map(({ name }) => name);
    return (parameters) => statement.all(parameters).map((values) => namedRow(names, values));
  }
}

function namedRow(names: string[], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i] as string] = values[i];
  return row;
}

/** Enough for every statement we have; those with lists of varying length must not pile up. */
const maxKeptStatements = 500;

/** Preparing a statement costs more than running it, so the prepared ones are kept. */
function withKeptStatements(database: Sqlite.Database): SqliteDatabase {
  const kept = new Map<string, Sqlite.Statement>();
  return {
    close: () => void database.close(),
    prepare(text) {
      let statement = kept.get(text);
      if (!statement) {
        if (kept.size >= maxKeptStatements) kept.clear();
        statement = database.prepare(text);
        kept.set(text, statement);
      }
      return statement as unknown as ReturnType<SqliteDatabase['prepare']>;
    },
  };
}

class FairSqliteDriver extends SqliteDriver {
  readonly #reader: Sqlite.Database | undefined;
  #lastInLine: Promise<void> = Promise.resolve();
  #endTurn: () => void = () => {};

  constructor(config: ConstructorParameters<typeof SqliteDriver>[0], reader: Sqlite.Database | undefined) {
    super(config);
    this.#reader = reader;
  }

  /** One after the other: Kysely's own lock wakes everyone who waits, each time it is free. */
  override async acquireConnection(): Promise<DatabaseConnection> {
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

  /** Every transaction takes the write lock first: one that read before it wrote could otherwise fail half-way as busy. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async destroy(): Promise<void> {
    // The other one goes last: whoever only reads cannot move the log into the file.
    this.#reader?.close();
    await super.destroy();
  }
}
