/**
 * Rows that a statement is given, to insert them from. As a list of values each would add its parameters to the text of
 * the statement, which then takes longer to put together, to parse and to plan than to run.
 */
import { type AliasedRawBuilder, SqliteAdapter, sql } from 'kysely';
import type { Db } from './open.ts';

type ColumnType = 'uuid' | 'text';

/** Texts without NUL and lone surrogates. */
export function givenRows<Column extends string>(
  db: Db,
  types: Record<Column, ColumnType>,
  rows: Record<Column, string>[],
): AliasedRawBuilder<Record<Column, string>, 'given'> {
  const columns = Object.keys(types) as Column[];
  if (db.getExecutor().adapter instanceof SqliteAdapter) {
    const json = JSON.stringify(rows.map((row) => columns.map((column) => row[column])));
    const values = columns.map((column, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(column)}`);
    return sql<Record<Column, string>>`(select ${sql.join(values)} from json_each(${json}))`.as('given');
  }
  const lists = columns.map((column) => sql`${rows.map((row) => row[column])}::${sql.raw(types[column])}[]`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  return sql<Record<Column, string>>`unnest(${sql.join(lists)})`.as<'given'>(sql`given(${names})`);
}
