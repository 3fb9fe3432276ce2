/** The SQL of `connection_catalogs`: the streams that sources had when the platform was last asked. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionCatalogRow } from '../../kernel/db/tables.ts';

export async function putCatalog(
  db: Db,
  organizationId: string,
  workspaceId: string,
  { connectionId, streams }: { connectionId: string; streams: string },
): Promise<ConnectionCatalogRow> {
  const read = { streams, read_at: sql<number>`now_ms()` };
  return await db
    .insertInto('connection_catalogs')
    .values({ connection_id: connectionId, organization_id: organizationId, workspace_id: workspaceId, ...read })
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet(read))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findCatalog(
  db: Db,
  workspaceId: string,
  connectionId: string,
): Promise<ConnectionCatalogRow | undefined> {
  return await db
    .selectFrom('connection_catalogs')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst();
}
