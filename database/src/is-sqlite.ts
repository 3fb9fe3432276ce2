import { type QueryExecutorProvider, SqliteAdapter } from 'kysely';

/** For statements that must be written differently for the two databases. */
export const isSqlite = (db: QueryExecutorProvider): boolean => db.getExecutor().adapter instanceof SqliteAdapter;
