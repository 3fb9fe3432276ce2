/** Expressions that SQLite and PostgreSQL write differently. */
import { isSqlite } from '@inlay/database/is-sqlite';
import { type Expression, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';

/** The greater of two numbers: SQLite calls it `max`, PostgreSQL `greatest`. */
export const laterOf = (one: Expression<number>, other: number): RawBuilder<number> =>
  // PostgreSQL doesn't guess the type of a parameter that stands beside no column.
  sql<number>`case when ${one} > ${other} then ${one} else cast(${other} as bigint) end`;

/** A member of a JSON object that is stored as text. */
export const jsonText = (db: QueryExecutorProvider, column: string, key: string): RawBuilder<string | null> =>
  isSqlite(db)
    ? sql<string | null>`${sql.ref(column)} ->> ${sql.lit(key)}`
    : sql<string | null>`${sql.ref(column)}::json ->> ${sql.lit(key)}`;
