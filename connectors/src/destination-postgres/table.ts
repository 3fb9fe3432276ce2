/*
 * Ensures the table of a stream: a column for each property that fits every value the property may have, and a unique
 * index on the key if duplicates are removed. Columns are added and widened, never removed or narrowed. A table that
 * this connector did not create is refused: an overwrite would empty it.
 *
 * A row of PostgreSQL has about 8,000 bytes and 1,600 columns. The properties for which that leaves no room are kept
 * together in the column `_inlay_more`, as one JSON object, which PostgreSQL stores outside the row.
 */

import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { ConnectorError } from '@inlay/protocol/connector';
import type { ConfiguredStream } from '@inlay/protocol/protocol';
import pg from 'pg';
import { ColumnHistories } from './column-histories.ts';
import {
  type ColumnType,
  columnTypeOf,
  conversion,
  isColumnType,
  losesSigns,
  widerType,
  widthOf,
} from './column-types.ts';
import { highestFirst } from './cursor-order.ts';
import { commentedColumn, giveId, idIn, isEmptiedByHand } from './holdings.ts';
import { columnName, deletedAtField, digestOf, moreColumn, ownColumns, tableName } from './identifiers.ts';
import { type Column, type Place, placeSql } from './place.ts';

export interface Table {
  /** Quoted, with its schema. */
  name: string;
  columns: Column[];
  /** Properties that share the column `_inlay_more`. */
  more: Set<string>;
  /** All columns of the table, in order, by quoted name. */
  types: Map<string, ColumnType>;
  histories: ColumnHistories;
  /** How many values of a property have lost their sign as its column was widened. */
  lostSigns: Map<string, number>;
  key: Place[];
  cursor: Place | undefined;
  /** Identifies the table in the next sync; undefined if the user may not comment on it. */
  id: string | undefined;
  /** As the sync found it. */
  isEmpty: boolean;
  isEmptiedByHand: boolean;
  /**
   * A new generation starts, and the old rows lack its key: they are unchanged until the generation is complete and are
   * then replaced at once.
   */
  isReplaced: boolean;
  /** How many rows were removed because another row has their key. */
  removed: number;
  /** Creates the index of the key; returns how many duplicate rows had to be removed. */
  ensureKeyIndex(): Promise<number>;
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
  const isEmpty = !existing || (await client.query(`select from ${name} limit 1`)).rowCount === 0;
  const found = { isThere: existing !== undefined, id: existing?.id, isEmpty };
  const wasEmptied = isEmptiedByHand(configured, found);
  const types = new Map<string, ColumnType>(existing?.types ?? ownColumnTypes);
  const histories = existing ? await ColumnHistories.read(client, name) : new ColumnHistories(name);
  const changes: string[] = [];
  const comments: string[] = [];
  const lostSigns = new Map<string, number>();
  const columns = new Map<string, Column>();
  const more = new Set<string>();
  // Key fields need a column and come first.
  const roles = new Set([...keyFieldsOf(configured), deletedAtField]);
  const ordered = [...wanted].sort((a, b) => Number(roles.has(b.property)) - Number(roles.has(a.property)));
  for (const column of ordered) {
    const before = types.get(column.name);
    if (before === undefined && !hasRoomFor(types, column.type) && !roles.has(column.property)) {
      more.add(column.property);
      continue;
    }
    const type = before === undefined ? column.type : widerType(known(before, column, name), column.type);
    if (before === undefined) changes.push(addition(column));
    else if (type !== before) {
      if (losesSigns(before, type)) lostSigns.set(column.property, await countNegativeZeros(client, name, column.name));
      changes.push(widening(column, before, type));
      comments.push(histories.add(column.name, before));
    }
    types.set(column.name, type);
    columns.set(column.name, { ...column, type, was: histories.of(column.name) });
  }
  if (more.size > 0 && !types.has(moreColumn)) {
    types.set(moreColumn, 'jsonb');
    changes.push(moreAddition);
  }
  if (!existing)
    await client.query(`create table ${name} (${ownColumnTypes.map((column) => column.join(' ')).join(', ')})`);
  if (changes.length > 0) await client.query(`alter table ${name} ${changes.join(', ')}`);
  for (const comment of comments) await client.query(comment);
  const inOrder = wanted.flatMap((column) => columns.get(column.name) ?? []);
  const key = keyOf(configured, inOrder);
  const cursor = cursorOf(configured, inOrder);
  const id = existing?.id ?? (existing?.isOwn === false ? undefined : await giveId(client, name));
  const index = await findKeyIndex(client, { schema, table, name }, key);
  const isReplaced = key.length > 0 && !isEmpty && !index.isThere && (await isAllOld(client, configured, name));
  const ensureKeyIndex = () => makeKeyIndex(client, name, key, cursor, index);
  const removed = isReplaced ? 0 : await ensureKeyIndex();
  const state = { id, isEmpty, isEmptiedByHand: wasEmptied, isReplaced, removed };
  return { name, columns: inOrder, more, types, histories, lostSigns, key, cursor, ...state, ensureKeyIndex };
}

/** Whether a new generation replaces all rows and has not stored any of its own yet. */
async function isAllOld(client: pg.Client, configured: ConfiguredStream, name: string): Promise<boolean> {
  const { generation_id, minimum_generation_id: minimum } = configured;
  if (minimum === 0 || minimum < generation_id) return false;
  const { rowCount } = await client.query(`select from ${name} where ${ownColumns.generation} >= $1 limit 1`, [
    minimum,
  ]);
  return rowCount === 0;
}

/** Parts of an ALTER TABLE. */
export const moreAddition = `add column ${moreColumn} jsonb`;
export const addition = ({ name, type }: Column) => `add column ${name} ${type}`;
export const widening = ({ name, isKey = false }: Column, from: ColumnType, to: ColumnType) =>
  `alter column ${name} type ${to} using ${conversion(name, from, to, isKey)}`;

export async function countNegativeZeros(client: pg.Client, table: string, column: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int from ${table} where ${column} = 0 and ${column}::text = '-0'`,
  );
  return rows[0]?.count ?? 0;
}

/** PostgreSQL allows 1,600, and columns that were dropped count. */
const maxColumns = 1_500;
/** Out of the 8,160 bytes that PostgreSQL allows. */
const maxRowBytes = 8_000;

/** Whether every row has room for a column more, next to those that are there. */
export function hasRoomFor(types: ReadonlyMap<string, ColumnType>, added: ColumnType): boolean {
  const count = types.size + 2;
  if (count > maxColumns) return false;
  let bytes = 24 + Math.ceil(count / 8) + widthOf('jsonb').bytes;
  for (const type of [...types.values(), added]) {
    const { bytes: width, alignment } = widthOf(type);
    bytes = Math.ceil(bytes / alignment) * alignment + width;
  }
  return bytes <= maxRowBytes;
}

function known(type: string, column: Column, table: string): ColumnType {
  if (isColumnType(type)) return type;
  throw new ConnectorError(
    `The column ${column.name} of ${table} was changed to ${type}, which is not supported. ` +
      `Change it back to ${column.type}, or drop it.`,
  );
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

function wantedColumns({ stream, destination_sync_mode, primary_key = [] }: ConfiguredStream): Column[] {
  const keys = new Set(destination_sync_mode === 'append_dedup' ? primary_key.map(([field]) => field) : []);
  const properties = (stream.json_schema.properties ?? {}) as Record<string, JsonSchema>;
  const columns = Object.entries(properties).map(([property, schema]) => ({
    property,
    name: pg.escapeIdentifier(columnName(property)),
    type: columnTypeOf(schema),
    isKey: keys.has(property),
  }));
  const names = new Set(columns.map(({ name }) => name));
  if (names.size < columns.length) {
    throw new ConnectorError(`Two fields of the stream ${stream.name} map to the same column. Deselect one of them.`);
  }
  return columns;
}

const quoted = (name: string) => (ownNames.has(name) ? name : pg.escapeIdentifier(name));
const ownNames = new Set<string>([...Object.values(ownColumns), moreColumn]);

/** By quoted name, and how the table is identified; undefined if there is no such table. */
async function findColumns(client: pg.Client, schema: string, table: string) {
  const { rows } = await client.query<{
    kind: string;
    is_own: boolean;
    name: string | null;
    type: string;
    comment: string | null;
  }>(
    `select class.relkind as kind, pg_catalog.pg_has_role(relowner, 'usage') as is_own,
       attname as name, format_type(atttypid, atttypmod) as type,
       case when attname = '${commentedColumn}' then pg_catalog.col_description(class.oid, attnum) end as comment
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
      `${schema}.${table} already exists and was not created by Inlay. ` +
        'Rename that table, or write the stream to a different schema or under a different name.',
    );
  }
  // Types that others gave to their columns are distinguished where a column is written.
  const types = new Map([...columns].map(([name, type]) => [quoted(name), type as ColumnType]));
  const { comment = null } = rows.find(({ name }) => name === commentedColumn) ?? {};
  return { types, id: idIn(comment), isOwn: rows[0]?.is_own ?? false };
}

function keyFieldsOf({ destination_sync_mode, primary_key = [], cursor_field = [] }: ConfiguredStream): string[] {
  if (destination_sync_mode !== 'append_dedup') return [];
  return [...primary_key, cursor_field].flatMap(([field]) => (field === undefined ? [] : [field]));
}

function keyOf({ stream, destination_sync_mode, primary_key }: ConfiguredStream, columns: readonly Column[]): Place[] {
  if (destination_sync_mode !== 'append_dedup') return [];
  if (!primary_key?.length) throw new ConnectorError(`Choose a primary key for the stream ${stream.name}.`);
  return primary_key.map((path) => placeAt(stream.name, columns, path, 'primary key'));
}

function cursorOf(
  { stream, destination_sync_mode, cursor_field }: ConfiguredStream,
  columns: readonly Column[],
): Place | undefined {
  if (destination_sync_mode !== 'append_dedup' || !cursor_field?.length) return undefined;
  // A source that follows changes without a field sends the newest record last, whatever a field of the record says.
  if (stream.source_defined_cursor && !stream.default_cursor_field?.length) return undefined;
  return placeAt(stream.name, columns, cursor_field, 'cursor');
}

function placeAt(stream: string, columns: readonly Column[], path: readonly string[], role: string): Place {
  const [property, ...inner] = path;
  const column = columns.find((one) => one.property === property);
  if (column && (inner.length === 0 || column.type === 'jsonb')) return { column, path: inner };
  throw new ConnectorError(`The ${role} of the stream ${stream} must consist of its selected fields.`);
}

interface KeyIndex {
  /** Never without a key. */
  isThere: boolean;
  wanted: string | undefined;
  /** Indexes on other keys; quoted, with their schema. */
  others: string[];
}

async function findKeyIndex(
  client: pg.Client,
  { schema, table, name }: { schema: string; table: string; name: string },
  key: readonly Place[],
): Promise<KeyIndex> {
  const prefix = '_inlay_key_';
  const wanted = key.length > 0 ? prefix + digestOf(schema, table, ...key.map((place) => placeSql(place))) : undefined;
  const { rows } = await client.query<{ index: string }>(
    `select index.relname as index from pg_catalog.pg_index
     join pg_catalog.pg_class index on index.oid = indexrelid
     where indrelid = $1::regclass and starts_with(index.relname, $2)`,
    [name, prefix],
  );
  const others = rows.filter(({ index }) => index !== wanted);
  return {
    isThere: rows.length > others.length,
    wanted,
    others: others.map(({ index }) => `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(index)}`),
  };
}

/** Rows may be in the table from a time when nobody removed duplicates, or by another key. */
async function makeKeyIndex(
  client: pg.Client,
  name: string,
  key: readonly Place[],
  cursor: Place | undefined,
  { isThere, wanted, others }: KeyIndex,
): Promise<number> {
  for (const index of others) await client.query(`drop index ${index}`);
  if (wanted === undefined || isThere) return 0;
  const names = key.map((place) => placeSql(place)).join(', ');
  const { rowCount } = await client.query(
    `delete from ${name} where ctid in (select ctid from (
       select ctid, row_number() over (partition by ${names} order by ${newestFirst(cursor)}) as place
       from ${name}
     ) as ranked where place > 1)`,
  );
  const nulls = (await hasNullsNotDistinct(client)) ? 'nulls not distinct' : '';
  await client.query(`create unique index ${wanted} on ${name} (${names}) ${nulls}`);
  return rowCount ?? 0;
}

/** Among rows that are otherwise equal, the one stored last is usually physically last. */
function newestFirst(cursor: Place | undefined): string {
  const order = [ownColumns.generation, ownColumns.emittedAt, ownColumns.syncId, 'ctid'].map((name) => `${name} desc`);
  if (cursor) order.splice(1, 0, ...highestFirst(cursor));
  return order.join(', ');
}

/** Since PostgreSQL 15. Before, records without a key are not recognized as the same. */
export async function hasNullsNotDistinct(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return (rows[0]?.version ?? 0) >= 150_000;
}
