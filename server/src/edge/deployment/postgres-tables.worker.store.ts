/**
 * All tables of a PostgreSQL database as lines of JSON, one file for each table, and back. PostgreSQL itself writes and reads the
 * JSON, so every value survives, whatever the order of columns. Not with COPY: it needs a connection of its own, and a restore is
 * one transaction with the migrations and everything else.
 */
import { createReadStream, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { applyPending, readHistory, type SchemaDefinition } from '@inlay/database/schema-history';
import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';

/** Job logs have parts of a megabyte. */
const batch = 100;
/** Migrations write these themselves. */
const ofHistory = ['migrations', 'kysely_migration', 'schema_versions'];

/** Which of the two stores that a database may have. */
export interface TablesOf<Tables> {
  definition: SchemaDefinition<Kysely<Tables>>;
  /** The PostgreSQL schema that its tables are in; undefined for that of the connection. */
  schema?: string;
}

/** Returns the applied migrations. All tables in one snapshot, while others write. */
export async function writeTables<Tables>(
  db: Kysely<Tables>,
  folder: string,
  { definition, schema }: TablesOf<Tables>,
  stopping?: AbortSignal,
): Promise<string[]> {
  mkdirSync(folder, { mode: 0o700 });
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return await snapshot.execute(async (tx) => {
    if (schema !== undefined) await sql`select set_config('search_path', ${`"${schema}"`}, true)`.execute(tx);
    for (const table of await listTables(tx)) {
      const file = await open(fileOf(folder, table), 'wx', 0o600);
      await sql`declare rows no scroll cursor for select row_to_json(t)::text as row from ${sql.table(table)} as t`.execute(
        tx,
      );
      const next = sql<{ row: string }>`fetch ${sql.lit(batch)} from rows`;
      try {
        for (let rows = await next.execute(tx); rows.rows.length > 0; rows = await next.execute(tx)) {
          stopping?.throwIfAborted();
          await file.write(rows.rows.map(({ row }) => `${row}\n`).join(''));
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await sql`close rows`.execute(tx);
    }
    return (await readHistory(tx, definition)).applied;
  });
}

/** Into a database without data: makes the tables as they were then, fills them, and migrates them. */
export async function readTables<Tables>(
  tx: Kysely<Tables>,
  folder: string,
  applied: readonly string[],
  { definition: schema }: Pick<TablesOf<Tables>, 'definition'>,
): Promise<void> {
  const migrations = Object.fromEntries(Object.entries(schema.migrations).filter(([name]) => applied.includes(name)));
  const baseline = applied.includes(schema.baseline.through) ? schema.baseline : { ...schema.baseline, through: '' };
  await applyPending(tx, { ...schema, migrations, baseline });
  const tables = await listTables(tx);
  // Triggers have done their work on these rows, and counters would count them again.
  for (const table of tables) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
  await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))}`.execute(tx);
  for (const table of tables) {
    await readTable(tx, folder, table);
    // Otherwise PostgreSQL checks each reference to this table with the plan of an empty table, which reads all of it.
    await sql`analyze ${sql.table(table)}`.execute(tx);
  }
  for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
  await applyPending(tx, schema);
}

async function readTable(tx: QueryExecutorProvider, folder: string, table: string): Promise<void> {
  const columns = await sql<{ name: string; identity: boolean }>`
    select attname as name, attidentity <> '' as identity from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped and attgenerated = ''`.execute(tx);
  const names = sql.join(columns.rows.map(({ name }) => sql.ref(name)));
  const insert = async (lines: string[]) => {
    if (lines.length === 0) return;
    const given = sql`json_populate_recordset(null::${sql.table(table)}, ${`[${lines.splice(0).join()}]`}::json)`;
    await sql`insert into ${sql.table(table)} (${names}) overriding system value select ${names} from ${given}`.execute(
      tx,
    );
  };
  const lines: string[] = [];
  for await (const line of linesOf(fileOf(folder, table))) {
    lines.push(line);
    if (lines.length === batch) await insert(lines);
  }
  await insert(lines);
  for (const { name } of columns.rows.filter(({ identity }) => identity)) {
    await sql`select setval(pg_get_serial_sequence(${table}, ${name}), max(${sql.ref(name)})) from ${sql.table(table)}
      having max(${sql.ref(name)}) is not null`.execute(tx);
  }
}

/** Not with `readline`, which also ends a line at U+2028. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const fileOf = (folder: string, table: string) => join(folder, `${table}.jsonl`);

/** A table that others refer to comes before them. */
async function listTables(tx: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string; parents: string[] }>`
    select relname as name, array(
      select confrelid::regclass::text from pg_constraint
      where contype = 'f' and conrelid = pg_class.oid and confrelid <> conrelid) as parents
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname`.execute(tx);
  const ordered: string[] = [];
  const add = (name: string) => {
    if (ordered.includes(name)) return;
    for (const parent of rows.find((row) => row.name === name)?.parents ?? []) add(parent);
    ordered.push(name);
  };
  for (const { name } of rows.filter(({ name }) => !ofHistory.includes(name))) add(name);
  return ordered;
}
