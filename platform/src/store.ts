/*
 * The platform's database file: how it is opened and what its tables hold.
 *
 * Always true: every write goes through a transaction that takes the write lock at its start, commits are on disk
 * before they are acknowledged, and only the owner of the process may read the file (connector configurations hold
 * secrets). Times are milliseconds since the epoch; JSON is kept as text. What the rows mean is left to the rules.
 */
import { closeSync, fchmodSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Generated,
  Kysely,
  Migrator,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';
import { migrations } from './migrations.ts';

/** `seq` gives lists their order: creation order, also within one millisecond. */
interface Row {
  seq: number;
  created_at: number;
  deleted_at: number | null;
}

export interface WorkspaceRow extends Row {
  workspace_id: string;
  organization_id: string;
  name: string;
  /** The name in Unicode normal form C, only for looking it up: `name` itself stays as it was sent. */
  name_nfc: string;
  data_residency: string;
  notifications: string;
}

export interface ConnectorRow extends Row {
  connector_id: string;
  kind: 'source' | 'destination';
  workspace_id: string;
  definition_id: string;
  name: string;
  configuration: string;
  resource_allocation: string | null;
}

export interface ConnectionRow extends Row {
  connection_id: string;
  workspace_id: string;
  source_id: string;
  destination_id: string;
  name: string;
  status: 'active' | 'inactive' | 'deprecated';
  /** Quartz expression, in UTC; null means the connection runs only when asked. */
  cron_expression: string | null;
  configurations: string;
  namespace_definition: string;
  namespace_format: string | null;
  prefix: string;
  schema_updates_behavior: string;
  tags: string;
}

type Numbered<R extends Row> = Omit<R, 'seq'> & { seq: Generated<number> };

export interface Tables {
  organizations: { seq: Generated<number>; organization_id: string; created_at: number };
  workspaces: Numbered<WorkspaceRow>;
  connectors: Numbered<ConnectorRow>;
  connections: Numbered<ConnectionRow>;
}

export type Store = Kysely<Tables>;

/** Long enough for another process's short write, short enough that a request never seems to hang. */
const BUSY_TIMEOUT_MS = 500;

export async function openStore(file: string): Promise<Store> {
  if (file !== ':memory:') ownerOnly(file);
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');

  const store = new Kysely<Tables>({ dialect: immediateSqlite({ database }) });
  const { error } = await new Migrator({
    db: store,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest();
  if (error) {
    await store.destroy();
    throw error;
  }
  return store;
}

/** True when another process kept the write lock for longer than we were willing to wait. Nothing was written. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
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
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** SQLite can roll back DDL; saying so makes the migrator run all pending migrations in one transaction. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): true {
    return true;
  }
}

function immediateSqlite(config: SqliteDialectConfig): Dialect {
  const dialect = new SqliteDialect(config);
  return {
    createAdapter: () => new TransactionalDdlAdapter(),
    createDriver: () => new ImmediateDriver(config),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
