/* Where a record's value is in its table: in a column, or within a column's JSON. */
import pg from 'pg';
import type { ColumnType } from './column-types.ts';
import type { Spelled } from './spelling.ts';

export interface Column extends Spelled {
  property: string;
  /** Quoted, as everything that goes into SQL. */
  name: string;
  type: ColumnType;
}

/** A part of a key, or a cursor: a column, or a place within the JSON of a column. */
export interface Place {
  column: Column;
  /** Within the column. Empty: the whole column. */
  path: readonly string[];
}

/** @param row the statement's alias for the row, if any. */
export function placeSql({ column, path }: Place, row?: string): string {
  const name = row === undefined ? column.name : `${row}.${column.name}`;
  if (path.length === 0) return name;
  return `(${name} #> array[${path.map((part) => pg.escapeLiteral(part)).join(', ')}])`;
}
