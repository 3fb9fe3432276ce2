import { SqliteAdapter } from 'kysely';
import type { Db } from './open.ts';

/** For statements that must be written differently for the two databases. */
export const isSqlite = (db: Db): boolean => db.getExecutor().adapter instanceof SqliteAdapter;
