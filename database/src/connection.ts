/**
 * The only file that knows the SQLite driver. The driver has the interface of `node:sqlite`; when the oldest Node that
 * we support has `node:sqlite`, the import below changes and nothing else does.
 *
 * What the connection promises to its users, whatever the driver does: the same settings on every connection, rows as
 * plain objects, and every failure of SQLite as a `SqliteError` that has SQLite's own code. A connection and a
 * statement have the shape that Kysely's dialect for SQLite asks for.
 */
import { chmodSync } from 'node:fs';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from '@photostructure/sqlite';
import { SqliteError } from './sqlite-error.ts';

type DriverStatement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>;
export type SqliteValue = string | number | bigint | null | Uint8Array;
export type SqliteRow = Record<string, SqliteValue>;

export interface SqliteOptions {
  readOnly?: boolean;
  /** How long a statement waits for a lock of another connection. Waiting blocks the event loop. */
  busyTimeoutMs?: number;
  /** Called for every failure of a statement, before it is thrown. */
  onFailure?: (error: unknown) => void;
}

/** More than the number of our statements. Without a limit, statements with lists of different length would add up. */
const maxKeptStatements = 500;

export class SqliteConnection {
  readonly file: string;
  readonly #database: InstanceType<typeof DatabaseSync>;
  readonly #kept = new Map<string, SqliteStatement>();
  readonly #onFailure: SqliteOptions['onFailure'];

  constructor(file: string, { readOnly = false, busyTimeoutMs = 5_000, onFailure }: SqliteOptions = {}) {
    this.#onFailure = onFailure;
    // An absolute path: the driver reads a name that begins with "file:" as a URI.
    this.file = file === ':memory:' ? file : resolve(file);
    this.#database = translated(
      () =>
        new DatabaseSync(this.file, {
          readOnly,
          timeout: busyTimeoutMs,
          // All settings are written out, because the defaults differ between versions of `node:sqlite`.
          enableForeignKeyConstraints: true,
          enableDoubleQuotedStringLiterals: false,
          allowExtension: false,
          defensive: true,
        }),
    );
    // SQLite's own default is an eighth of this.
    this.exec('pragma cache_size = -16000');
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Runs one or more statements without parameters and ignores their rows. */
  exec(text: string): void {
    translated(() => this.#database.exec(text), this.#onFailure);
  }

  /** The prepared statement is kept and used again, because preparing a statement costs more than running it. */
  prepare(text: string): SqliteStatement {
    let statement = this.#kept.get(text);
    if (!statement) {
      if (this.#kept.size >= maxKeptStatements) this.#kept.clear();
      statement = translated(
        () => new SqliteStatement(this.#database, this.#database.prepare(text), this.#onFailure),
        this.#onFailure,
      );
      this.#kept.set(text, statement);
    }
    return statement;
  }

  /**
   * For a query of many rows of text, numbers and null. The driver takes longer to pass a value than SQLite to write it, so
   * all values come as one text.
   */
  prepareMany(text: string): (parameters: readonly unknown[]) => SqliteRow[] {
    const { names } = this.prepare(text);
    const values = names.map((name) => `json_quote("${name}")`).join("||','||");
    // The rows keep the order of the inner query.
    const all = this.prepare(`select '['||group_concat(${values})||']' as "values" from (${text})`);
    const makeRow = rowMaker(names);
    return (parameters) => {
      const [row] = all.all(parameters);
      const list = JSON.parse((row?.values as string | null) ?? '[]') as SqliteValue[];
      const rows: SqliteRow[] = [];
      for (let at = 0; at < list.length; at += names.length) rows.push(makeRow(list, at));
      return rows;
    };
  }

  /** Makes a function that statements and triggers can call. */
  define(
    name: string,
    { isDeterministic }: { isDeterministic: boolean },
    run: (...values: SqliteValue[]) => SqliteValue,
  ): void {
    this.#database.function(name, { deterministic: isDeterministic }, run);
  }

  /** SQLite's online backup: a whole, consistent copy in one file, while others write. */
  async copyTo(file: string): Promise<void> {
    // All pages in one step: otherwise each write of another process starts the copy over.
    await backup(this.#database, file, { rate: -1 }).catch((error) => {
      throw SqliteError.from(error);
    });
    chmodSync(file, 0o600);
    const copy = new SqliteConnection(file);
    copy.exec('pragma journal_mode = delete');
    copy.close();
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#kept.clear();
    this.#moveLogIntoFile();
    translated(() => this.#database.close());
  }

  /**
   * SQLite does this when a connection closes. But this driver releases statements only when they are collected as
   * garbage, at any time later, and until then SQLite keeps the connection half open. Who copies the file after
   * `close()` must find everything in it, and nobody writing to it. `node:sqlite` releases them.
   */
  #moveLogIntoFile(): void {
    try {
      // Waits for nobody. A transaction that is still open ends with the connection, without a trace. Not by `exec`, which
      // would report the failure.
      this.#database.exec(`${this.isInTransaction ? 'rollback; ' : ''}pragma wal_checkpoint(passive)`);
    } catch {
      // As when SQLite does it: a connection that only reads, or a disk that is full, leaves the log where it is, and the
      // next connection reads it there.
    }
  }
}

export class SqliteStatement {
  /** A reference that is only held: the driver closes a database without references, even if statements are left. */
  readonly database: unknown;
  readonly #statement: DriverStatement;
  readonly #onFailure: SqliteOptions['onFailure'];
  #names: string[];
  /** Made with the first rows. */
  #makeRow: RowMaker | undefined;

  constructor(database: unknown, statement: DriverStatement, onFailure?: SqliteOptions['onFailure']) {
    this.database = database;
    this.#onFailure = onFailure;
    this.#statement = statement;
    this.#names = namesOf(statement);
    // Passing a column's name from the driver costs as much as its value. So rows come as arrays, and names are added
    // here.
    statement.setReturnArrays(true);
  }

  /** The names of the columns. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Whether the statement returns rows. */
  get reader(): boolean {
    return this.#names.length > 0;
  }

  /** An integer beyond 2^53 cannot be read: cast it to text. */
  all(parameters: readonly unknown[] = []): SqliteRow[] {
    const rows: SqliteValue[][] = translated(() => this.#statement.all(...bindable(parameters)), this.#onFailure);
    // After a schema change, SQLite re-prepares a statement, and `select *` may then have other columns.
    if (rows[0] && rows[0].length !== this.#names.length) {
      this.#names = namesOf(this.#statement);
      this.#makeRow = undefined;
    }
    if (rows.length === 0) return [];
    this.#makeRow ??= rowMaker(this.#names);
    const makeRow = this.#makeRow;
    return rows.map((values) => makeRow(values, 0));
  }

  run(parameters: readonly unknown[] = []): { changes: number; lastInsertRowid: number | bigint } {
    return translated(() => this.#statement.run(...bindable(parameters)), this.#onFailure);
  }

  *iterate(parameters: readonly unknown[] = []): IterableIterator<SqliteRow> {
    // Read all rows at once: the statement is shared, and another use would end an iteration half-way.
    yield* this.all(parameters);
  }
}

function namesOf(statement: DriverStatement): string[] {
  return statement.columns().map(({ name }) => name);
}

/** Makes a row of the values from a place in the list on. */
type RowMaker = (values: SqliteValue[], at: number) => SqliteRow;

/** Generated, because V8 makes an object with known names several times as fast as one that gets them in a loop. */
function rowMaker(names: readonly string[]): RowMaker {
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[at + ${index}]`);
  return new Function('values', 'at', `return { ${members.join(', ')} };`) as RowMaker;
}

/**
 * The driver refuses `undefined`. PostgreSQL's driver takes it as null, and our statements rely on that. The driver
 * cuts a text at its first U+0000, when it writes and when it reads. Refusing such a text, as PostgreSQL does, is
 * better than cutting it.
 */
function bindable(parameters: readonly unknown[]): readonly unknown[] {
  if (parameters.some((value) => typeof value === 'string' && value.includes('\0')))
    throw new SqliteError('SQLITE_MISMATCH', 'Text with the character U+0000 cannot be stored or searched for.');
  return parameters.includes(undefined) ? parameters.map((value) => value ?? null) : parameters;
}

function translated<T>(work: () => T, onFailure?: SqliteOptions['onFailure']): T {
  try {
    return work();
  } catch (error) {
    const translation = SqliteError.from(error);
    onFailure?.(translation);
    throw translation;
  }
}
