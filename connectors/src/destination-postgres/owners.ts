/*
 * Which workspace owns a table, stored in the table `_inlay_owners` of each schema. The first workspace that writes to
 * a table owns it, including tables of earlier releases, and nobody else ever writes to it. The owner is a workspace
 * and not a connection: a source that was deleted and connected again continues with its tables.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import pg from 'pg';
import { ensureOwnTable } from './own-tables.ts';

/**
 * Needs an open transaction; the schema is there. A claim is committed before the first record is, so a later writer
 * finds it. Without a workspace the connector was started by hand, and takes no part.
 */
export async function claimTable(
  client: pg.Client,
  { schema, table }: { schema: string; table: string },
  workspaceId: string | undefined,
): Promise<void> {
  if (workspaceId === undefined) return;
  const owners = await ensureOwnTable(
    client,
    schema,
    '_inlay_owners',
    'table_name text primary key, owner text not null',
  );
  // A table that is gone has left nothing to protect.
  const { rows } = await client.query<{ owner: string }>(
    `insert into ${owners} as known (table_name, owner) values ($1, $2)
     on conflict (table_name) do update
     set owner = case when to_regclass($3) is null then excluded.owner else known.owner end
     returning owner`,
    [table, workspaceId, `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`],
  );
  if (rows[0]?.owner === workspaceId) return;
  throw new ConnectorError(
    `The table ${schema}.${table} belongs to another workspace, so nothing was written. ` +
      'Use a different namespace or prefix for this connection.',
  );
}
