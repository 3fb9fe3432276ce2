/*
 * The table of a stream: it is there, with a column for each property that holds every value the property may have,
 * and with a unique index on the key where duplicates are to be removed. Columns are added and widened, never removed
 * or narrowed. A table that this connector did not make is refused: an overwrite would empty it.
 */

import type { JsonSchema } from '@inlay/contract/connector-configuration';
import pg from 'pg';
import type { ConfiguredStream } from '../../src/protocol.ts';
import { ConnectorError } from '../kit/connector.ts';
import { type ColumnType, columnTypeOf, conversion, isColumnType, widerType } from './column-types.ts';
import { columnName, digestOf, ownColumns, tableName } from './identifiers.ts';

export interface Column {
  property: string;
  /** Quoted, as everything that goes into SQL. */
  name: string;
  type: ColumnType;
}

export interface Table {
  /** Quoted, with its schema. */
  name: string;
  columns: Column[];
  key: Column[];
  cursor: Column | undefined;
}

const ownColumnTypes: [name: string, type: ColumnType][] = [
  [ownColumns.emittedAt, 'timestamp with time zone'],
  [ownColumns.syncId, 'bigint'],
  [ownColumns.generation, 'bigint'],
  [ownColumns.meta, 'jsonb'],
];

export function addressOf({ stream }: ConfiguredStream, defaultSchema: string): { schema: string; table: string } {
  return { schema: tableName(stream.namespace ?? defaultSchema), table: tableName(stream.name) };
}

/** Needs an open transaction; the schema is there. */
export async function prepareTable(
  client: pg.Client,
  configured: ConfiguredStream,
  defaultSchema: string,
): Promise<Table> {
  const { schema, table } = addressOf(configured, defaultSchema);
  const name = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;
  const wanted = wantedColumns(configured);
  const existing = await findColumns(client, schema, table);
  const columns = existing ? await evolve(client, name, wanted, existing) : await create(client, name, wanted);
  const key = keyOf(configured, columns);
  await ensureKeyIndex(client, { schema, table, name }, key, cursorOf(configured, columns));
  return { name, columns, key, cursor: cursorOf(configured, columns) };
}

/** Looked for first: "create schema if not exists" asks for a permission even where there is nothing to create. */
export async function ensureSchema(client: pg.Client, schema: string): Promise<void> {
  if (await hasSchema(client, schema)) return;
  // Two syncs that create the same schema at once would both find it missing, and one would fail.
  await client.query('select pg_advisory_xact_lock(hashtext($1))', [`inlay: create schema ${schema}`]);
  if (!(await hasSchema(client, schema))) await client.query(`create schema ${pg.escapeIdentifier(schema)}`);
}

async function hasSchema(client: pg.Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_catalog.pg_namespace where nspname = $1', [schema]);
  return rowCount !== 0;
}

function wantedColumns({ stream }: ConfiguredStream): Column[] {
  const properties = (stream.json_schema.properties ?? {}) as Record<string, JsonSchema>;
  const columns = Object.entries(properties).map(([property, schema]) => ({
    property,
    name: pg.escapeIdentifier(columnName(property)),
    type: columnTypeOf(schema),
  }));
  const names = new Set(columns.map(({ name }) => name));
  if (names.size < columns.length) {
    throw new ConnectorError(`Two fields of the stream ${stream.name} would be the same column. Leave one out.`);
  }
  return columns;
}

/** By quoted name; undefined if there is no such table. */
async function findColumns(client: pg.Client, schema: string, table: string) {
  const { rows } = await client.query<{ kind: string; name: string | null; type: string }>(
    `select class.relkind as kind, attname as name, format_type(atttypid, atttypmod) as type
     from pg_catalog.pg_class class
     join pg_catalog.pg_namespace namespace on namespace.oid = relnamespace
     left join pg_catalog.pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
     where nspname = $1 and relname = $2`,
    [schema, table],
  );
  if (rows.length === 0) return undefined;
  const columns = new Map(rows.map(({ name, type }) => [name ?? '', type]));
  const isOurs = ownColumnTypes.every(([name, type]) => columns.get(name) === type);
  if (!isOurs || !['r', 'p'].includes(rows[0]?.kind ?? '')) {
    throw new ConnectorError(
      `${schema}.${table} exists already and was not made by this connector. ` +
        'Rename it, or send the stream to another schema or under another name.',
    );
  }
  return new Map([...columns].map(([name, type]) => [pg.escapeIdentifier(name), type]));
}

async function create(client: pg.Client, name: string, columns: Column[]): Promise<Column[]> {
  const list = [...ownColumnTypes, ...columns.map((column) => [column.name, column.type] as const)];
  await client.query(`create table ${name} (${list.map((column) => column.join(' ')).join(', ')})`);
  return columns;
}

async function evolve(
  client: pg.Client,
  table: string,
  wanted: readonly Column[],
  existing: ReadonlyMap<string, string>,
): Promise<Column[]> {
  const changes: string[] = [];
  const columns = wanted.map((column) => {
    const before = existing.get(column.name);
    if (before === undefined) {
      changes.push(`add column ${column.name} ${column.type}`);
      return column;
    }
    if (!isColumnType(before)) {
      throw new ConnectorError(
        `The column ${column.name} of ${table} has been changed to ${before}, which this connector does not write. ` +
          `Change it back to ${column.type}, or drop it.`,
      );
    }
    const type = widerType(before, column.type);
    if (type !== before) {
      changes.push(`alter column ${column.name} type ${type} using ${conversion(column.name, before, type)}`);
    }
    return { ...column, type };
  });
  if (changes.length > 0) await client.query(`alter table ${table} ${changes.join(', ')}`);
  return columns;
}

function keyOf({ stream, destination_sync_mode, primary_key }: ConfiguredStream, columns: readonly Column[]): Column[] {
  if (destination_sync_mode !== 'append_dedup') return [];
  if (!primary_key?.length) throw new ConnectorError(`Choose a primary key for the stream ${stream.name}.`);
  return primary_key.map((path) => columnAt(stream.name, columns, path, 'primary key'));
}

function cursorOf({ stream, destination_sync_mode, cursor_field }: ConfiguredStream, columns: readonly Column[]) {
  if (destination_sync_mode !== 'append_dedup' || !cursor_field?.length) return undefined;
  // A source that follows changes without a field sends the newest record last, whatever a field of the record says.
  if (stream.source_defined_cursor && !stream.default_cursor_field?.length) return undefined;
  return columnAt(stream.name, columns, cursor_field, 'cursor');
}

function columnAt(stream: string, columns: readonly Column[], path: readonly string[], role: string): Column {
  const column = path.length === 1 ? columns.find(({ property }) => property === path[0]) : undefined;
  if (column) return column;
  throw new ConnectorError(`The ${role} of the stream ${stream} must be made of its own fields, which are selected.`);
}

/** Rows may be in the table from a time when nobody removed duplicates, or by another key. */
async function ensureKeyIndex(
  client: pg.Client,
  { schema, table, name }: { schema: string; table: string; name: string },
  key: readonly Column[],
  cursor: Column | undefined,
): Promise<void> {
  const prefix = '_inlay_key_';
  const names = key.map((column) => column.name);
  const wanted = key.length > 0 ? prefix + digestOf(schema, table, ...names) : undefined;
  const { rows } = await client.query<{ index: string }>(
    `select index.relname as index from pg_catalog.pg_index
     join pg_catalog.pg_class index on index.oid = indexrelid
     where indrelid = $1::regclass and starts_with(index.relname, $2)`,
    [name, prefix],
  );
  const schemaName = pg.escapeIdentifier(schema);
  for (const { index } of rows) {
    if (index !== wanted) await client.query(`drop index ${schemaName}.${pg.escapeIdentifier(index)}`);
  }
  if (wanted === undefined || rows.some(({ index }) => index === wanted)) return;
  await client.query(
    `delete from ${name} where ctid in (select ctid from (
       select ctid, row_number() over (partition by ${names.join(', ')} order by ${newestFirst(cursor)}) as place
       from ${name}
     ) as ranked where place > 1)`,
  );
  const nulls = (await hasNullsNotDistinct(client)) ? 'nulls not distinct' : '';
  await client.query(`create unique index ${wanted} on ${name} (${names.join(', ')}) ${nulls}`);
}

function newestFirst(cursor: Column | undefined): string {
  const order = [`${ownColumns.generation} desc`, `${ownColumns.emittedAt} desc`];
  if (cursor) order.splice(1, 0, `${cursor.name} desc nulls last`);
  return order.join(', ');
}

/** Since PostgreSQL 15. Before, records without a key are not recognised as the same. */
async function hasNullsNotDistinct(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return (rows[0]?.version ?? 0) >= 150_000;
}
