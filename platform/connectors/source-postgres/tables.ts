/*
 * The tables, views and foreign tables a user may read, as streams: namespace is the schema, name is the table. A
 * partitioned table is one stream; columns the user may not read are left out.
 */
import type pg from 'pg';
import type { Catalog, Stream } from '../../src/protocol.ts';
import { type ColumnType, type ColumnValue, columnValue, isCursorType } from './column-values.ts';

export interface Column extends ColumnValue {
  name: string;
  type: ColumnType;
}

export interface Table {
  schema: string;
  name: string;
  columns: Column[];
  primaryKey: string[];
}

interface ColumnRow {
  schema: string;
  table: string;
  column: string;
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

const listColumns = `
  select
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
    const id = JSON.stringify([row.schema, row.table]);
    let entry = tables.get(id);
    if (!entry) {
      entry = { table: { schema: row.schema, name: row.table, columns: [], primaryKey: [] }, key: [] };
      tables.set(id, entry);
    }
    const type = { name: row.typeName, isArray: row.isArray };
    entry.table.columns.push({ name: row.column, type, ...columnValue(type, row.isNullable) });
    if (row.keyPosition !== null) entry.key.push([row.keyPosition, row.column]);
  }
  return [...tables.values()].map(({ table, key }) => ({
    ...table,
    primaryKey: key.sort(([a], [b]) => a - b).map(([, name]) => name),
  }));
}

export function catalogOf(tables: readonly Table[]): Catalog {
  return { streams: tables.map(streamOf) };
}

function streamOf({ schema, name, columns, primaryKey }: Table): Stream {
  const hasCursor = columns.some(({ type }) => isCursorType(type));
  return {
    name,
    namespace: schema,
    json_schema: {
      type: 'object',
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    supported_sync_modes: hasCursor ? ['full_refresh', 'incremental'] : ['full_refresh'],
    ...(primaryKey.length > 0 && { source_defined_primary_key: primaryKey.map((column) => [column]) }),
  };
}
