/*
 * The types that a table's columns had before they were widened, stored in the comment on the column: it survives a
 * dump and is neither a row nor a column that readers encounter. Comments of other authors are kept.
 */
import pg from 'pg';
import { type ColumnType, isColumnType } from './column-types.ts';

const words = 'Widened by Inlay from ';
const lastLine = new RegExp(`(?:^|\\n)${words}([a-z, ]+)$`);

interface History {
  was: ColumnType[];
  /** Text by another author. */
  comment: string;
}

export class ColumnHistories {
  private readonly table: string;
  private readonly byColumn: Map<string, History>;

  constructor(table: string, byColumn: Map<string, History> = new Map()) {
    this.table = table;
    this.byColumn = byColumn;
  }

  /** @param table quoted, with its schema. */
  static async read(client: pg.Client, table: string): Promise<ColumnHistories> {
    const { rows } = await client.query<{ name: string; comment: string }>(
      `select attname as name, description as comment from pg_catalog.pg_attribute
       join pg_catalog.pg_description on classoid = 'pg_catalog.pg_class'::regclass and objoid = attrelid and objsubid = attnum
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    return new ColumnHistories(
      table,
      new Map(rows.map(({ name, comment }) => [pg.escapeIdentifier(name), read(comment)])),
    );
  }

  /** By quoted name. The list grows as the column is widened. */
  of(column: string): readonly ColumnType[] {
    return this.entry(column).was;
  }

  /** Returns the statement that stores it. */
  add(column: string, before: ColumnType): string {
    const { was, comment } = this.entry(column);
    was.push(before);
    const text = `${comment}${comment && '\n'}${words}${was.join(', ')}`;
    return `comment on column ${this.table}.${column} is ${pg.escapeLiteral(text)}`;
  }

  private entry(column: string): History {
    const entry = this.byColumn.get(column) ?? { was: [], comment: '' };
    this.byColumn.set(column, entry);
    return entry;
  }
}

function read(comment: string): History {
  const [, list] = lastLine.exec(comment) ?? [];
  const was = list?.split(', ').filter((type) => isColumnType(type)) ?? [];
  return { was, comment: list === undefined ? comment : comment.replace(lastLine, '') };
}
