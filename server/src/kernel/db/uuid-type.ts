import { isSqlite } from '@inlay/database/is-sqlite';
import { sql } from 'kysely';
import type { Db } from './open.ts';

/** The type of a column of ids: a value that a query makes itself must be cast to it. */
export const uuidOf = (db: Db) => (isSqlite(db) ? sql`text` : sql`uuid`);
