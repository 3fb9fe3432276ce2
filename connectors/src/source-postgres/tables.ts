/*
 * The tables, views and foreign tables that a user may read, as streams: the namespace is the schema, the name is the
 * table. A partitioned table is one stream; columns the user may not read are omitted.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import type { Catalog, Stream } from '@inlay/protocol/protocol';
import pg from 'pg';
import { type ColumnType, type ColumnValue, columnValue, isCursorType } from '../postgres/column-values.ts';
import type { Part } from './changes.ts';

export interface Column extends ColumnValue {
  name: string;
  /** Among all columns that the table ever had. */
  number: number;
  type: ColumnType;
}

export interface Table {
  /** The object id. */
  id: string;
  schema: string;
  name: string;
  /** Whether rows show which transaction wrote them, so that changes can be found by it; see changes.ts. */
  tellsChanges: boolean;
  /** Whether it stores its own rows, or has partitions that do. A view computes them. */
  isStored: boolean;
  columns: Column[];
  primaryKey: string[];
}

interface ColumnRow {
  id: string;
  tellsChanges: boolean;
  isStored: boolean;
  schema: string;
  table: string;
  column: string;
  number: number;
  typeName: string;
  isArray: boolean;
  isNullable: boolean;
  keyPosition: number | null;
}

/** The type behind a domain, however many domains deep. */
const baseType = (oid: string) => `
  with recursive base as (
    select * from pg_catalog.pg_type where oid = ${oid}
    union all
    select pg_type.* from pg_catalog.pg_type join base on base.typtype = 'd' and pg_type.oid = base.typbasetype
  )
  select base.*, element.oid as element_oid
  from base left join pg_catalog.pg_type element on element.typarray = base.oid
  where base.typtype <> 'd'`;

/** The access method of tables, unless an extension provides another. */
const heapAccessMethod = 2;

const listColumns = `
  with recursive foreign_part as (
    select oid from pg_catalog.pg_class
    where relkind = 'f' or relkind in ('r', 'm') and relam not in (0, ${heapAccessMethod})
    union
    select inhparent from pg_catalog.pg_inherits join foreign_part on foreign_part.oid = inhrelid
  )
  select
    class.oid::text as "id",
    class.relkind in ('r', 'p', 'm') as "isStored",
    class.relkind in ('r', 'p', 'm') and has_table_privilege(class.oid, 'select')
      and class.oid not in (select oid from foreign_part) as "tellsChanges",
    attribute.attnum as "number",
    namespace.nspname as "schema", class.relname as "table", attribute.attname as "column",
    case when scalar.typnamespace = 'pg_catalog'::regnamespace then scalar.typname else 'other' end as "typeName",
    type.element_oid is not null as "isArray",
    not attribute.attnotnull as "isNullable",
    array_position(key.indkey::int2[], attribute.attnum) as "keyPosition"
  from pg_catalog.pg_class class
  join pg_catalog.pg_namespace namespace on namespace.oid = class.relnamespace
  join pg_catalog.pg_attribute attribute on attribute.attrelid = class.oid and attribute.attnum > 0
  cross join lateral (${baseType('attribute.atttypid')}) type
  cross join lateral (${baseType('coalesce(type.element_oid, type.oid)')}) scalar
  left join pg_catalog.pg_index key on key.indrelid = class.oid and key.indisprimary
  where namespace.nspname = any($1)
    and class.relkind in ('r', 'p', 'v', 'm', 'f') and not class.relispartition
    and not attribute.attisdropped
    and has_schema_privilege(namespace.oid, 'usage')
    and has_column_privilege(class.oid, attribute.attnum, 'select')
  order by namespace.nspname, class.relname, attribute.attnum`;

export async function listTables(client: pg.Client, schemas: readonly string[]): Promise<Table[]> {
  const { rows } = await client.query<ColumnRow>(listColumns, [schemas]);
  const tables = new Map<string, { table: Table; key: [position: number, name: string][] }>();
  for (const row of rows) {
    let entry = tables.get(row.id);
    if (!entry) {
      const { id, schema, table: name, tellsChanges, isStored } = row;
      entry = { table: { id, schema, name, tellsChanges, isStored, columns: [], primaryKey: [] }, key: [] };
      tables.set(row.id, entry);
    }
    const type = { name: row.typeName, isArray: row.isArray };
    entry.table.columns.push({ name: row.column, number: row.number, type, ...columnValue(type, row.isNullable) });
    if (row.keyPosition !== null) entry.key.push([row.keyPosition, row.column]);
  }
  return [...tables.values()].map(({ table, key }) => ({
    ...table,
    primaryKey: key.sort(([a], [b]) => a - b).map(([, name]) => name),
  }));
}

/**
 * The tables that contain a table's rows, locked so that nobody moves the rows while the transaction is open. Throws if
 * someone did so since it started: the transaction then sees a table without rows.
 */
export async function holdParts(client: pg.Client, { id, schema, name }: Table): Promise<Part[]> {
  await client.query(`select from ${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)} limit 0`);
  const { rows } = await client.query<Part & { currentFile: string }>(listParts, [id]);
  if (rows.some(({ file, currentFile }) => file !== currentFile)) {
    throw new ConnectorError(`The table ${name} was rewritten during the sync.`, {
      failureType: 'transient_error',
    });
  }
  return rows.map(({ id, file }) => ({ id, file }));
}

/** The first file is that of the moment which the transaction sees, the second one that of now. */
const listParts = `
  with recursive part as (
    select $1::oid as oid
    union
    select inhrelid from pg_catalog.pg_inherits join part on part.oid = inhparent
  )
  select class.oid::text as "id", class.relfilenode::text as "file",
    coalesce(pg_relation_filenode(class.oid), 0)::text as "currentFile"
  from part join pg_catalog.pg_class class on class.oid = part.oid
  where class.relkind in ('r', 'm')`;

export function catalogOf(tables: readonly Table[]): Catalog {
  return { streams: tables.map(streamOf) };
}

function streamOf({ schema, name, columns, primaryKey, tellsChanges }: Table): Stream {
  const isIncremental = tellsChanges || columns.some(({ type }) => isCursorType(type));
  return {
    name,
    namespace: schema,
    json_schema: {
      type: 'object',
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    supported_sync_modes: isIncremental ? ['full_refresh', 'incremental'] : ['full_refresh'],
    ...(tellsChanges && { source_defined_cursor: true }),
    ...(primaryKey.length > 0 && { source_defined_primary_key: primaryKey.map((column) => [column]) }),
  };
}
