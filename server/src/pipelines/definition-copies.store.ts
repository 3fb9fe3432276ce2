/** The SQL of `definition_copies`. */
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { DefinitionCopyRow, SourceRow } from '../kernel/db/tables.ts';

export async function ensureCopy(
  db: Db,
  { id, organization_id, workspace_id: workspaceId }: Pick<SourceRow, 'id' | 'organization_id' | 'workspace_id'>,
): Promise<DefinitionCopyRow> {
  await db
    .insertInto('definition_copies')
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
      failure_reasons: null,
      created_at: sql<number>`now_ms()`,
      deleted_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return await db
    .selectFrom('definition_copies')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export async function findCopy(db: Db, workspaceId: string, id: string): Promise<DefinitionCopyRow | undefined> {
  return await db
    .selectFrom('definition_copies')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function recordCopy(db: Db, workspaceId: string, id: string, version: number): Promise<void> {
  await db
    .updateTable('definition_copies')
    .set({ applied_version: version })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function deleteCopy(db: Db, workspaceId: string, id: string): Promise<void> {
  await db.deleteFrom('definition_copies').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
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

/** Includes sources that are being deleted: the platform still has their definition. */
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
