/** The SQL of `discovered_catalogs`: what each source has said of its streams. A row is found through its source. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

export async function findCatalog(
  db: Db,
  workspaceId: string,
  sourceId: string,
  madeFrom: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('discovered_catalogs')
    .innerJoin('connectors', 'connectors.connector_id', 'discovered_catalogs.source_id')
    .select('discovered_catalogs.catalog')
    .where('connectors.workspace_id', '=', workspaceId)
    .where('discovered_catalogs.source_id', '=', sourceId)
    .where('discovered_catalogs.made_from', '=', madeFrom)
    .executeTakeFirst();
  return row?.catalog;
}

/** Nothing is kept for a source that has been deleted. */
export async function putCatalog(
  db: Db,
  workspaceId: string,
  sourceId: string,
  { madeFrom, catalog }: { madeFrom: string; catalog: string },
): Promise<void> {
  await db
    .insertInto('discovered_catalogs')
    .columns(['source_id', 'made_from', 'catalog'])
    .expression((eb) =>
      eb
        .selectFrom('connectors')
        .select(['connector_id', sql<string>`${madeFrom}`.as('made_from'), sql<string>`${catalog}`.as('catalog')])
        .where('workspace_id', '=', workspaceId)
        .where('connector_id', '=', sourceId)
        .where('deleted_at', 'is', null),
    )
    .onConflict((conflict) => conflict.column('source_id').doUpdateSet({ made_from: madeFrom, catalog }))
    .execute();
}

export async function deleteCatalog(tx: Db, workspaceId: string, sourceId: string): Promise<void> {
  await tx
    .deleteFrom('discovered_catalogs')
    .where('source_id', 'in', (eb) =>
      eb
        .selectFrom('connectors')
        .select('connector_id')
        .where('workspace_id', '=', workspaceId)
        .where('connector_id', '=', sourceId),
    )
    .execute();
}
