/**
 * Opens the platform's store: a SQLite file that only the owner of the process can read, or its schema in a PostgreSQL
 * database, which may be the database of the service. Beside what database/src/open-database.ts promises, a transaction behaves
 * as if it ran alone: SQLite lets one at a time write, PostgreSQL runs one again that others got in the way of.
 */
import { type Database, openPostgres, openSqlite } from '@inlay/database/open-database';
import { applyPending, assertCompatible, type OnApplied, readHistory } from '@inlay/database/schema-history';
import type { StorageState } from '@inlay/database/storage-state';
import { type Kysely, sql } from 'kysely';
import { type schema, schemaOf } from './migrations.ts';
import type { Tables } from './tables.ts';

/** What store functions take: the database itself or an open transaction. */
export type Db = Kysely<Tables>;

export type Store = Database<Tables>;

/** On PostgreSQL, the schema of all of the platform's tables and functions. */
export const postgresSchema = 'inlay_platform';
/** As long as a migration may take. */
const migrationPatienceMs = 600_000;

/** A SQLite file, `:memory:`, or the URL of a PostgreSQL database. */
export type StorePlace = { file: string } | { url: string };

interface StoreOptions {
  /** The clock behind `now_ms()` on SQLite, for leases. */
  now?: () => number;
  busyTimeoutMs?: number;
  maxConnections?: number;
  /** Only for SQLite, whose file would be changed by opening it. */
  isReadOnly?: boolean;
  /** Notified when the database stops accepting writes. */
  storage?: StorageState;
  onApplied?: OnApplied | undefined;
  definition?: typeof schema;
}

/** Opens the store and applies what migrations it lacks. */
export async function openStore(place: string | StorePlace, options: StoreOptions = {}): Promise<Store> {
  const store = openStoreAsItIs(place, options);
  try {
    await migrate(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Without a look at its schema. */
export function openStoreAsItIs(
  place: string | StorePlace,
  {
    now = Date.now,
    storage,
    busyTimeoutMs,
    maxConnections,
    isReadOnly = false,
  }: Omit<StoreOptions, 'onApplied' | 'definition'> = {},
): Store {
  const at = typeof place === 'string' ? { file: place } : place;
  if ('url' in at) {
    return openPostgres<Tables>({
      ...at,
      storage,
      schema: postgresSchema,
      isSerializable: true,
      exclusiveLock: 7_391_846_202,
      ...(maxConnections !== undefined && { maxConnections }),
    });
  }
  return openSqlite<Tables>({
    ...at,
    storage,
    isReadOnly,
    addFunctions: (connection) => connection.define('now_ms', { isDeterministic: false }, () => BigInt(now())),
    ...(busyTimeoutMs !== undefined && { busyTimeoutMs }),
  });
}

/** In a transaction: on PostgreSQL, only there are bare names looked up in the schema of the platform. */
export const readStoreHistory = (store: Store, definition = schemaOf(store.kind)) =>
  store.kind === 'sqlite' ? readHistory(store.db, definition) : store.transaction((tx) => readHistory(tx, definition));

async function migrate(
  store: Store,
  { onApplied, definition = schemaOf(store.kind) }: Pick<StoreOptions, 'onApplied' | 'definition'>,
): Promise<void> {
  const history = await readStoreHistory(store, definition);
  assertCompatible(history, definition.version);
  // Nearly every start finds nothing to do, and waits for nobody.
  if (history.pending.length === 0) return;
  await store.exclusively(async (tx) => {
    if (store.kind === 'postgres') await makeSchema(tx);
    await applyPending(tx, definition, onApplied);
  }, migrationPatienceMs);
}

/** An administrator may have made the schema for a user who may not make any. */
export async function makeSchema(tx: Db): Promise<void> {
  const { rows } = await sql`select 1 where to_regnamespace(${postgresSchema}) is not null`.execute(tx);
  if (rows.length === 0) await sql`create schema ${sql.id(postgresSchema)}`.execute(tx);
}
