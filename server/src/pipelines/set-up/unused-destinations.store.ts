/** The SQL of destinations that no connection writes to any more. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { DestinationRow } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import { isUsed, mayBeOnPlatform } from '../row-conditions.ts';

/** Those of the template that no source's set-up leads to, and that the platform does not have as they should be. */
export async function listUnusedBehind(
  db: Db,
  { organizationId, templateId }: TemplateRef,
  workspaceIds: string[],
): Promise<DestinationRow[]> {
  if (workspaceIds.length === 0) return [];
  return await db
    .selectFrom('destinations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('connection_template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .where(mayBeOnPlatform)
    .where('workspace_id', 'in', workspaceIds)
    .whereRef('applied_template_version', '<', 'template_version')
    .where(({ not }) => not(isUsed))
    .execute();
}

/** `is_leaving`: a connection of a source that is being deleted writes there. Undefined while another one does. */
export async function findUnusedDestination(
  db: Db,
  workspaceId: string,
  templateId: string,
): Promise<(DestinationRow & { is_leaving: number }) | undefined> {
  const isLeaving = sql<number>`(
    select count(*) from connections
    where connections.destination_id = destinations.id and connections.workspace_id = ${workspaceId}
      and connections.deleted_at is null)`;
  return await db
    .selectFrom('destinations')
    .selectAll()
    .select(isLeaving.as('is_leaving'))
    .where('workspace_id', '=', workspaceId)
    .where('connection_template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .where(({ not }) => not(isUsed))
    .executeTakeFirst();
}

export async function recordDestinationDeleted(db: Db, workspaceId: string, id: string): Promise<void> {
  await db
    .updateTable('destinations')
    .set({ deleted_at: sql<number>`now_ms()`, platform_id: null, no_post_before: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}
