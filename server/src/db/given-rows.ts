/**
 * Rows that a statement is given, to insert them from. As a list of values each would add its parameters to the text of
 * the statement, which then takes longer to put together, to parse and to plan than to run.
 */
import { type AliasedRawBuilder, type RawBuilder, SqliteAdapter, sql } from 'kysely';
import type { Db } from './open.ts';

type ColumnType = 'uuid' | 'text';

/**
 * For an insert: its columns, and what selects them from the given rows in the same order. `row` says what goes into each,
 * where `given.…` is a column of the given rows: texts without NUL and lone surrogates.
 */
export function insertionOf<Given extends string, Column extends string>(
  db: Db,
  types: Record<Given, ColumnType>,
  rows: Record<Given, string>[],
  row: Record<Column, RawBuilder<unknown>>,
) {
  const columns = Object.keys(row) as Column[];
  const expression = db
    .selectFrom(givenRows(db, types, rows))
    .select(columns.map((column) => row[column].as(column)))
    // Without a condition SQLite would take the conflict clause for one of a join.
    .where(sql.lit(true));
  return { columns, expression };
}

function givenRows<Column extends string>(
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
