/** What a database consists of, as texts to compare: independent of white space and of the order of columns. */
import type { SqliteConnection } from '@inlay/database/connection';
import type { SchemaDefinition } from '@inlay/database/schema-history';
import type { Store as PlatformStore } from '@inlay/platform/db/open';
import { type QueryExecutorProvider, sql } from 'kysely';
import type pg from 'pg';

/** The same schema by its migrations alone, up to a certain one if it is given. */
export function withoutBaseline<Tx extends QueryExecutorProvider>(
  definition: SchemaDefinition<Tx>,
  last = '9999',
): SchemaDefinition<Tx> {
  const migrations = Object.entries(definition.migrations).filter(([name]) => name <= last);
  return {
    ...definition,
    migrations: Object.fromEntries(migrations),
    baseline: { through: '', load: async () => [] },
  };
}

/** What a baseline leaves to the runner of migrations. */
const ofHistory = /^(migrations|kysely_migration|schema_versions)$/;

export function describeSqlite(file: SqliteConnection): string[] {
  const rows = file
    .prepare(`select type, name, tbl_name, sql from sqlite_master where name not like 'sqlite_%'`)
    .all()
    .filter(({ tbl_name }) => !ofHistory.test(String(tbl_name)));
  const contents = rows
    .filter(({ type, name }) => type === 'table' && !/^workspace_names(?!_config)/.test(String(name)))
    .flatMap(({ name }) => rowsOf(String(name), file.prepare(`select * from "${name}"`).all()));
  return [...rows.map(({ sql }) => plain(String(sql))), ...contents].toSorted();
}

const plain = (text: string) =>
  text
    // Quotes of names go, those within a string stay.
    .replaceAll(/'(?:[^']|'')*'|"(\w+)"/g, (whole, name?: string) => name ?? whole)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .replace(/^CREATE [A-Z ]+/, (words) => words.toLowerCase())
    .trim();

export async function describePostgres(client: pg.Client): Promise<string[]> {
  const texts: string[] = [];
  for (const query of postgresQueries) {
    const { rows } = await client.query<{ table: string | null; text: string }>(query);
    texts.push(...rows.filter(({ table }) => !ofHistory.test(table ?? '')).map(({ text }) => text));
  }
  const { rows: tables } = await client.query(`select tablename as name from pg_tables where schemaname = 'public'`);
  for (const { name } of tables) {
    if (!ofHistory.test(name)) texts.push(...rowsOf(name, (await client.query(`select * from ${name}`)).rows));
  }
  return texts
    .map((text) => text.replaceAll(/\s+/g, ' ').replaceAll(/ ?([()]|\$function\$) ?/g, (_, sign) => sign))
    .toSorted();
}

const inPublic = `(select oid from pg_namespace where nspname = 'public')`;
const postgresQueries = [
  `select relname as table, concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attcollation::regcollation,
     attnotnull, attidentity, attgenerated, pg_get_expr(adbin, adrelid)) as text
   from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relnamespace = ${inPublic} and relkind in ('r', 'v', 'S') and attnum > 0 and not attisdropped`,
  // Those of columns that are not null have names from PostgreSQL 18 on.
  `select relname as table, concat_ws(' ', relname, conname, pg_get_constraintdef(pg_constraint.oid)) as text
   from pg_constraint join pg_class on pg_class.oid = conrelid where connamespace = ${inPublic} and contype <> 'n'`,
  `select tablename as table, indexdef as text from pg_indexes where schemaname = 'public'`,
  `select null as table, pg_get_functiondef(oid) as text from pg_proc where pronamespace = ${inPublic}`,
  `select null as table, pg_get_triggerdef(oid) as text from pg_trigger where not tgisinternal`,
];

/** Times differ from one database to the next. */
const rowsOf = (table: string, rows: object[]) =>
  rows.map((row) => `${table} ${JSON.stringify(row).replaceAll(/\d{10,}/g, 'now')}`);

/** What both databases must have in common: columns, keys, indexes and references. */
export async function describeTables(store: PlatformStore): Promise<string[]> {
  const query = store.kind === 'sqlite' ? sqliteShape : postgresShape;
  const { rows } = await sql<{ text: string }>`${sql.raw(query)}`.execute(store.db);
  return [...new Set(rows.map(({ text }) => text))].toSorted();
}

const sqliteShape = `
  with tables as (
    select name from sqlite_master
    where type = 'table' and name not like 'sqlite_%' and name not in ('kysely_migration', 'schema_versions'))
  select concat_ws(' ', tables.name, c.name, case lower(c.type) when 'text' then 'text' else 'bigint' end,
    case when c."notnull" or c.pk then 'required' end, c.dflt_value) as text
  from tables, pragma_table_info(tables.name) as c
  union all
  select concat_ws(' ', tables.name, 'unique', group_concat(c.name order by c.pk), 'f') as text
  from tables, pragma_table_info(tables.name) as c where c.pk group by tables.name
  union all
  select concat_ws(' ', tables.name, case when i."unique" then 'unique' else 'index' end,
    (select group_concat(name order by seqno) from pragma_index_info(i.name)),
    case when i.partial then 't' else 'f' end) as text
  from tables, pragma_index_list(tables.name) as i
  union all
  select concat_ws(' ', tables.name, f."from", 'in', f."table", lower(f.on_delete)) as text
  from tables, pragma_foreign_key_list(tables.name) as f`;

const postgresShape = `
  with tables as (
    select oid, relname as name from pg_class
    where relkind = 'r' and relnamespace = 'inlay_platform'::regnamespace
      and relname not in ('kysely_migration', 'schema_versions'))
  select concat_ws(' ', tables.name, attname, format_type(atttypid, atttypmod),
    case when attnotnull then 'required' end, pg_get_expr(adbin, adrelid)) as text
  from tables join pg_attribute on attrelid = oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attnum > 0 and not attisdropped
  union all
  select concat_ws(' ', tables.name, case when indisunique then 'unique' else 'index' end,
    (select string_agg(attname, ',' order by place) from unnest(indkey) with ordinality as k(number, place)
     join pg_attribute on attrelid = indrelid and attnum = k.number),
    case when indpred is null then 'f' else 't' end) as text
  from tables join pg_index on indrelid = oid
  union all
  select concat_ws(' ', tables.name, attname, 'in', (select relname from pg_class where pg_class.oid = confrelid),
    case confdeltype when 'c' then 'cascade' else 'no action' end) as text
  from tables join pg_constraint on conrelid = tables.oid join pg_attribute on attrelid = conrelid and attnum = conkey[1]
  where contype = 'f'`;
