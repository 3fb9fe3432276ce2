/**
 * Opens a store's database, SQLite or PostgreSQL, behind one interface. What always holds: an acknowledged write is on disk
 * (SQLite: WAL with synchronous=FULL; PostgreSQL: its default); no session state is used on PostgreSQL, so a transaction
 * pooler may stand in between; `now_ms()` is the database's clock on both.
 */
import { closeSync, fchmodSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type RawNode,
  replaceWithNoncontingentExpression,
  sql,
  type Transaction,
  WithSchemaPlugin,
} from 'kysely';
import { SqliteConnection } from './connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { isOutage } from './storage-failure.ts';
import { roomStatements, type StorageState } from './storage-state.ts';
import { transactionGuard } from './transaction-guard.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export interface Database<Tables> {
  readonly kind: DatabaseKind;
  readonly db: Kysely<Tables>;
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction while no other process runs one of this kind: for work that must happen once in a deployment.
   */
  exclusively<T>(work: (tx: Transaction<Tables>) => Promise<T>, patienceMs?: number): Promise<T>;
  /** The database's clock; also proves that the database answers. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface SqliteOptions {
  file: string;
  /** Short for the service, because waiting blocks the event loop; longer for the command line. */
  busyTimeoutMs?: number;
  storage?: StorageState | undefined;
  /** Adds the functions that the statements call and SQLite lacks, `now_ms` among them. */
  addFunctions(connection: SqliteConnection): void;
  /** Changes nothing, not even the mode of the file. */
  isReadOnly?: boolean;
  /** Whether prepared statements read on a connection of their own, and wait for no transaction. */
  hasReader?: boolean;
}

export function openSqlite<Tables>({
  file,
  busyTimeoutMs = 500,
  storage,
  addFunctions,
  isReadOnly = false,
  hasReader = false,
}: SqliteOptions): Database<Tables> {
  const onFailure = storage && { onFailure: storage.note };
  if (file !== ':memory:' && !isReadOnly) ownerOnly(file);
  const database = new SqliteConnection(file, { busyTimeoutMs, readOnly: isReadOnly, ...onFailure });
  if (!isReadOnly) database.exec('pragma journal_mode = wal; pragma synchronous = full');
  addFunctions(database);
  const reader = hasReader ? new SqliteConnection(file, { busyTimeoutMs, readOnly: true, ...onFailure }) : undefined;
  if (reader) addFunctions(reader);
  const guard = transactionGuard();
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database, reader, guard) });
  const transaction: Database<Tables>['transaction'] = (work) =>
    db.transaction().execute((tx) => guard.within(() => work(tx)));
  const probed = {
    folder: file === ':memory:' ? undefined : dirname(file),
    probeWrites: () => transaction((tx) => takeRoomInSqlite(tx)),
  };
  storage?.add(probed);
  return {
    kind: 'sqlite',
    db,
    transaction,
    exclusively: transaction,
    now: () => databaseTime(db),
    async close() {
      storage?.remove(probed);
      await db.destroy();
    },
  };
}

/** Before SQLite opens it: the side files (-wal, -shm) take their mode from the database file. */
function ownerOnly(file: string): void {
  const descriptor = openSync(file, 'a', 0o600);
  fchmodSync(descriptor, 0o600);
  closeSync(descriptor);
}

async function takeRoomInSqlite(tx: QueryExecutorProvider): Promise<void> {
  for (const statement of roomStatements) await sql.raw(statement).execute(tx);
}

/**
 * The same on PostgreSQL: the table and its file are gone at the commit. A temporary table may lie on another disk, and not
 * every user may make one. A replica that probes at the same time waits for the commit.
 */
async function takeRoomInPostgres(tx: QueryExecutorProvider): Promise<void> {
  await sql`create table storage_probe as select repeat('x', 8000) as filler from generate_series(1, 8)`.execute(tx);
  await sql`drop table storage_probe`.execute(tx);
}

/** Also within a transaction. */
export async function databaseTime(db: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{ now: number }>`select now_ms() as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the database did not tell its time');
  return row.now;
}

const statementTimeoutMs = 10_000;
const lockTimeoutMs = 5_000;

export interface PostgresOptions {
  url: string;
  maxConnections?: number;
  storage?: StorageState | undefined;
  /** Any number, the same in all versions: identifies the work that is done exclusively. */
  exclusiveLock: number;
  /** The schema of the tables; undefined for that of the connection. */
  schema?: string;
  /**
   * Whether a transaction behaves as if it ran alone, as on SQLite. One that others got in the way of is run again from its
   * start, so it must have no other effects than on the database.
   */
  isSerializable?: boolean;
}

export function openPostgres<Tables>({
  url,
  maxConnections = 20,
  storage,
  exclusiveLock,
  schema,
  isSerializable = false,
}: PostgresOptions): Database<Tables> {
  const connect = (connections: number, statementMs: number) => {
    // On the client's side: a pooler refuses time-outs sent as start-up parameters.
    const options = {
      ...{ url, maxConnections: connections, queryTimeoutMs: statementMs + 2_000 },
      onIdleError: storage?.noteLostConnection ?? (() => {}),
      onFailure: (error: unknown) => storage?.note(error, isOutage(error)),
    };
    // Loaded here and not at the start, because a service on SQLite never needs it.
    const pool = async () => (await import('./postgres-pool.ts')).openPool(options);
    if (schema === undefined) return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    return new Kysely<Tables>({
      dialect: new SchemaDialect({ pool }, schema),
      // As on SQLite, nothing is in an empty list.
      plugins: [
        new WithSchemaPlugin(schema),
        new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
      ],
    });
  };
  const db = connect(maxConnections, statementTimeoutMs);
  const usual = { statementMs: statementTimeoutMs, lockMs: lockTimeoutMs, schema, isSerializable };
  const transaction: Database<Tables>['transaction'] = (work) =>
    isSerializable ? repeatedly(() => begin(db, usual, work)) : begin(db, usual, work);
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
        const limits = { statementMs: patienceMs, lockMs: patienceMs, schema, isSerializable: false };
        return await begin(patient, limits, async (tx) => {
          await sql`select pg_advisory_xact_lock(${sql.lit(exclusiveLock)})`.execute(tx);
          return await work(tx);
        });
      } finally {
        await patient.destroy();
      }
    },
    now: () => databaseTime(db),
    async close() {
      storage?.remove(probed);
      await db.destroy();
    },
  };
}

/** Where statements outside transactions find `now_ms()`; Kysely's plugin qualifies tables only. */
class SchemaDialect extends PostgresDialect {
  readonly #schema: string;

  constructor(config: ConstructorParameters<typeof PostgresDialect>[0], schema: string) {
    super(config);
    this.#schema = schema;
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new SchemaQueryCompiler(this.#schema);
  }
}

class SchemaQueryCompiler extends PostgresQueryCompiler {
  readonly #clock: string;

  constructor(schema: string) {
    super();
    this.#clock = `"${schema}".now_ms()`;
  }

  protected override visitRaw(node: RawNode): void {
    const qualified = (text: string) => text.replaceAll(/(?<![\w."])now_ms\(\)/g, this.#clock);
    super.visitRaw({ ...node, sqlFragments: node.sqlFragments.map(qualified) });
  }
}

interface Limits {
  statementMs: number;
  lockMs: number;
  schema: string | undefined;
  isSerializable: boolean;
}

async function begin<Tables, T>(
  db: Kysely<Tables>,
  { statementMs, lockMs, schema, isSerializable }: Limits,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  let cause: { error: unknown } | undefined;
  const run = async (tx: Transaction<Tables>) => {
    // Set for this transaction only: a transaction pooler keeps no other setting.
    const path = schema === undefined ? sql`` : sql`, set_config('search_path', ${`"${schema}"`}, true)`;
    await sql`select set_config('statement_timeout', ${String(statementMs)}, true),
                     set_config('lock_timeout', ${String(lockMs)}, true)${path}`.execute(tx);
    return await work(tx);
  };
  const noting = (tx: Transaction<Tables>) =>
    run(tx).catch((error: unknown) => {
      cause = { error };
      throw error;
    });
  try {
    const transaction = isSerializable ? db.transaction().setIsolationLevel('serializable') : db.transaction();
    return await transaction.execute(noting);
  } catch (error) {
    // Where the rollback fails as well, on a connection that broke for instance, Kysely throws only that failure.
    throw cause ? cause.error : error;
  }
}

const mostTries = 30;
const longestPauseMs = 100;

/**
 * PostgreSQL ends one of two transactions that it can't put into an order. The pauses grow, so that many processes that want
 * the same rows don't end each other for ever.
 */
async function repeatedly<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (tries === mostTries || !isConflict(error)) throw error;
      if (tries > 2) await delay(Math.random() * Math.min(2 ** tries, longestPauseMs));
    }
  }
}

/** Serialization failure, or deadlock: nothing was written, and the same transaction may succeed. */
function isConflict(error: unknown): boolean {
  const code = error instanceof Error && (error as { code?: unknown }).code;
  return code === '40001' || code === '40P01';
}
