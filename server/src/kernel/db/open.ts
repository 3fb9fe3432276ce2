/** The local store on SQLite or PostgreSQL, behind one interface; database/src/open-database.ts says what always holds. */
import * as database from '@inlay/database/open-database';
import type { StorageState } from '@inlay/database/storage-state';
import { type Kysely, sql } from 'kysely';
import { addFunctions } from './sqlite-functions.ts';
import type { Tables } from './tables.ts';

export type DatabaseKind = database.DatabaseKind;

/** What store functions take: the database itself or an open transaction. */
export type Db = Kysely<Tables>;

export interface Store extends database.Database<Tables> {
  /** Call it after many writes: the database learns the size of its tables now, and not a minute later. */
  learnSizes(): Promise<void>;
}

export interface SqliteOptions {
  file: string;
  now: () => number;
  busyTimeoutMs?: number;
  storage?: StorageState | undefined;
}

export function openSqlite({ now, ...options }: SqliteOptions): Store {
  return {
    ...database.openSqlite<Tables>({
      ...options,
      hasReader: true,
      addFunctions: (connection) => addFunctions(connection, now),
    }),
    // The query plans of SQLite do not depend on the size of its tables.
    learnSizes: async () => {},
  };
}

export interface PostgresOptions {
  url: string;
  maxConnections?: number;
  storage?: StorageState | undefined;
}

export function openPostgres(options: PostgresOptions): Store {
  const store = database.openPostgres<Tables>({ ...options, exclusiveLock: 7_391_846_201 });
  return {
    ...store,
    async learnSizes() {
      await sql`analyze workspaces, name_claims`.execute(store.db);
    },
  };
}
