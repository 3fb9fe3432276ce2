/* Tables of our own beside those of the streams, one of each kind in a schema. */
import pg from 'pg';

/** Needs an open transaction; the schema is there. Returns the quoted name. */
export async function ensureOwnTable(
  client: pg.Client,
  schema: string,
  name: `_inlay_${string}`,
  columns: string,
): Promise<string> {
  const table = `${pg.escapeIdentifier(schema)}.${name}`;
  const isThere = async () =>
    (await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [table])).rows[0]?.found;
  if (await isThere()) return table;
  // Two syncs that create it at once would both find it missing, and one would fail.
  await client.query('select pg_advisory_xact_lock(hashtext($1))', [`inlay: create ${name} of ${schema}`]);
  if (!(await isThere())) await client.query(`create table ${table} (${columns})`);
  return table;
}
