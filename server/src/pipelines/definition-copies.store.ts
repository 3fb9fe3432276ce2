/** The SQL of `placed_definitions`. */
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { PlacedDefinitionRow, SourceRow } from '../kernel/db/tables.ts';

export async function ensurePlaced(
  db: Db,
  { id, organization_id, workspace_id: workspaceId }: Pick<SourceRow, 'id' | 'organization_id' | 'workspace_id'>,
): Promise<PlacedDefinitionRow> {
  await db
    .insertInto('placed_definitions')
    .values({
      id,
      organization_id,
      workspace_id: workspaceId,
      applied_version: 0,
      platform_id: null,
      no_post_before: 0,
      unconfirmed: null,
      failure: null,
      customer_failure: null,
      created_at: sql<number>`now_ms()`,
      deleted_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return await db
    .selectFrom('placed_definitions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export async function findPlaced(db: Db, workspaceId: string, id: string): Promise<PlacedDefinitionRow | undefined> {
  return await db
    .selectFrom('placed_definitions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function recordPlaced(db: Db, workspaceId: string, id: string, version: number): Promise<void> {
  await db
    .updateTable('placed_definitions')
    .set({ applied_version: version })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function deletePlaced(db: Db, workspaceId: string, id: string): Promise<void> {
  await db.deleteFrom('placed_definitions').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
}

/** Every source that is made from a definition of the organization's own, with its version. Locked. */
export async function lockSourcesOf(
  tx: Db,
  organizationId: string,
  definitionId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<SourceRow[]> {
  return await tx
    .updateTable('sources')
    .set({ definition_version: sql<number>`definition_version` })
    .where('organization_id', '=', organizationId)
    .where('id', 'in', (query) =>
      query
        .selectFrom('sources')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('definition_id', '=', definitionId)
        .where('definition_version', '>', 0)
        .where('lifecycle', '=', 'live')
        .$if(after !== undefined, (rest) => rest.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit),
    )
    .returningAll()
    .execute();
}

/** Makes setting up the sources due at once. */
export async function setDefinitionVersion(
  tx: Db,
  organizationId: string,
  ids: readonly string[],
  version: number,
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('sources')
    .set({
      definition_version: version,
      version: sql`version + 1`,
      failure: null,
      customer_failure: null,
      due_at: sql<number>`now_ms()`,
      attempts: 0,
      last_error: null,
    })
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [...ids])
    .execute();
}

/** Of sources that are being deleted as well: their definition is still on the platform. */
export async function listVersionsInUse(tx: Db, organizationId: string, definitionId: string): Promise<number[]> {
  const rows = await tx
    .selectFrom('sources')
    .select('definition_version')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('definition_id', '=', definitionId)
    .where('definition_version', '>', 0)
    .where('lifecycle', '<>', 'deleted')
    .execute();
  return rows.map((row) => row.definition_version);
}

/** How many sources have each of these versions. A version that no source has is not named. */
export async function countSourcesByVersion(
  db: Db,
  organizationId: string,
  definitionId: string,
  versions: readonly number[],
): Promise<Map<number, number>> {
  if (versions.length === 0) return new Map();
  const rows = await db
    .selectFrom('sources')
    .select(['definition_version', (each) => each.fn.countAll().as('count')])
    .where('organization_id', '=', organizationId)
    .where('definition_id', '=', definitionId)
    .where('definition_version', '>', 0)
    .where('definition_version', 'in', [...versions])
    .where('lifecycle', '=', 'live')
    .groupBy('definition_version')
    .execute();
  return new Map(rows.map((row) => [row.definition_version, Number(row.count)]));
}
