/*
 * What the catalog says about how the values of a stream are read: labels of enums, attributes of composite types,
 * types of columns. If these change, existing rows read differently without being written, and nothing else would
 * notice (changes.ts). Stored in the stream's state; a stream is read from its start if a stored definition has
 * changed. Definitions that the state lacks are not a change: an added label, a newly selected column, a state of an
 * earlier version.
 */
import type pg from 'pg';

export interface Definition {
  key: string;
  value: string;
  /** Message for the log. */
  subject: string;
}

/** As stored in a state. */
export type SavedDefinitions = Record<string, string>;

export function savedDefinitions(definitions: readonly Definition[]): SavedDefinitions {
  return Object.fromEntries(definitions.map(({ key, value }) => [key, value]));
}

/** Why rows that were sent before would read differently now. */
export function changedDefinition(saved: SavedDefinitions | undefined, now: readonly Definition[]): string | undefined {
  const changed = now.find(({ key, value }) => saved?.[key] !== undefined && saved[key] !== value);
  return changed && `earlier rows now have different values because ${changed.subject}`;
}

/** @param tableId the object id of the table. */
export async function definitionsOf(
  client: pg.Client,
  tableId: string,
  columns: readonly { number: number; name: string; reading: string }[],
): Promise<Definition[]> {
  const ofColumns = columns.map(({ number, name, reading }) => ({
    key: `column ${number}`,
    value: reading,
    subject: `the type of the column ${name} changed`,
  }));
  const { rows } = await client.query<{ key: string; value: string; type: string }>(listDefinitions, [
    tableId,
    columns.map(({ number }) => number),
  ]);
  const ofTypes = rows.map(({ key, value, type }) => ({ key, value, subject: `the type ${type} changed` }));
  return [...ofColumns, ...ofTypes];
}

/**
 * A label has an object id, which distinguishes a renamed label from a new one. Composite values do not contain
 * attribute names. The subtype of a range and the expression of a virtual column are in columns that older servers do
 * not have.
 */
const listDefinitions = `
  with recursive used as (
    select atttypid as oid from pg_catalog.pg_attribute where attrelid = $1 and attnum = any($2)
    union
    select part.oid from used cross join lateral (
      select typbasetype as oid from pg_catalog.pg_type where pg_type.oid = used.oid and typtype = 'd'
      union all select typelem from pg_catalog.pg_type where pg_type.oid = used.oid and typelem <> 0
      union all select rngsubtype from pg_catalog.pg_range
        where rngtypid = used.oid or (to_jsonb(pg_range) ->> 'rngmultitypid')::oid = used.oid
      union all select atttypid from pg_catalog.pg_type join pg_catalog.pg_attribute on attrelid = typrelid
        where pg_type.oid = used.oid and typtype = 'c' and attnum > 0 and not attisdropped
    ) part
  )
  select 'label ' || pg_enum.oid as key, enumlabel::text as value, format_type(enumtypid, null) as type
  from used join pg_catalog.pg_enum on enumtypid = used.oid
  union all
  select 'type ' || used.oid, string_agg(attnum || ' ' || atttypid, ', ' order by attnum), format_type(used.oid, null)
  from used join pg_catalog.pg_type on pg_type.oid = used.oid and typtype = 'c'
  join pg_catalog.pg_attribute on attrelid = typrelid and attnum > 0 and not attisdropped
  group by used.oid
  union all
  select 'expression ' || adnum, pg_get_expr(adbin, adrelid), attname || ' (a generated column)'
  from pg_catalog.pg_attrdef join pg_catalog.pg_attribute on attrelid = adrelid and attnum = adnum
  where adrelid = $1 and adnum = any($2) and to_jsonb(pg_attribute) ->> 'attgenerated' = 'v'`;
