/**
 * Gives many rows to one insert statement. In a list of values each row would add its parameters to the text of the
 * statement, and making, parsing and planning such a text takes longer than running it.
 */

import { isSqlite } from '@inlay/database/is-sqlite';
import { type AliasedRawBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from './open.ts';
import type { Tables } from './tables.ts';

type ColumnType = 'uuid' | 'text';

interface Insertion<Given extends string, Column extends string> {
  columns: Column[];
  expression: SelectQueryBuilder<Tables & { given: Record<Given, string> }, 'given', Record<Column, unknown>>;
}

/**
 * For an insert: its columns, and the expressions that select them from the given rows in the same order. `row` says
 * what goes into each column; `given.…` is a column of the given rows. Texts hold no NUL and no lone surrogates.
 */
export function insertionOf<Given extends string, Column extends string>(
  db: Db,
  types: Record<Given, ColumnType>,
  rows: Record<Given, string>[],
  row: Record<Column, RawBuilder<unknown>>,
): Insertion<Given, Column> {
  const columns = Object.keys(row) as Column[];
  const expression = db
    .selectFrom(givenRows(db, types, rows))
    .select(columns.map((column) => row[column].as(column)))
    // Without a condition SQLite would read the conflict clause as a part of a join.
    .where(sql.lit(true))
    .$castTo<Record<Column, unknown>>();
  return { columns, expression };
}

function givenRows<Column extends string>(
  db: Db,
  types: Record<Column, ColumnType>,
  rows: Record<Column, string>[],
): AliasedRawBuilder<Record<Column, string>, 'given'> {
  const columns = Object.keys(types) as Column[];
  if (isSqlite(db)) {
    const json = JSON.stringify(rows.map((row) => columns.map((column) => row[column])));
    const values = columns.map((column, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(column)}`);
    return sql<Record<Column, string>>`(select ${sql.join(values)} from json_each(${json}))`.as('given');
  }
  const lists = columns.map((column) => sql`${rows.map((row) => row[column])}::${sql.raw(types[column])}[]`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  return sql<Record<Column, string>>`unnest(${sql.join(lists)})`.as<'given'>(sql`given(${names})`);
}
