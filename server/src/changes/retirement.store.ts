/** The SQL for ending what was made from a template. */
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';
import { mayBeOnPlatform } from '../pipelines/row-conditions.ts';

type Retirement = 'pause' | 'delete';

const templateColumn = { source: 'source_template_id', connection: 'connection_template_id' } as const;

/**
 * Live workspaces with something of the template that is not yet paused or deleted, as requested. `rollout`: the
 * rollout that requested it, which skips what was created in the meantime.
 */
export async function listWorkspaces(
  tx: Db,
  { organizationId, kind, templateId }: TemplateRef,
  how: Retirement,
  rollout?: { id: string; since: number },
): Promise<string[]> {
  const table = kind === 'source' && how === 'delete' ? 'sources' : 'connections';
  const column = sql.ref<string>(`${table}.${templateColumn[kind]}`);
  let query = tx
    .selectFrom(table)
    .innerJoin('workspaces', 'workspaces.id', `${table}.workspace_id`)
    .select('workspaces.id as id')
    .distinct()
    .where('workspaces.organization_id', '=', organizationId)
    .where('workspaces.lifecycle', '=', 'live')
    .where(column, '=', templateId)
    .where(sql.ref(`${table}.deleted_at`), 'is', null);
  if (table === 'sources') query = query.where(sql.ref('sources.lifecycle'), '=', 'live');
  // Without this, the connections of a source that is being deleted would count for ever.
  else {
    query = query.where(
      sql<boolean>`exists (
        select 1 from sources where sources.id = connections.source_id and sources.lifecycle = 'live')`,
    );
  }
  if (how === 'pause') query = query.where(sql.ref('connections.paused'), '=', 0);
  if (rollout) query = query.where(sql.ref(`${table}.created_at`), '>=', rollout.since);
  if (kind === 'connection' && how === 'delete')
    query = query.union(withDestination(tx, organizationId, templateId, rollout));
  const rows = await query.orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** A destination outlives its connections, with the credentials in it. Where a rollout has failed, it is not repeated. */
function withDestination(tx: Db, organizationId: string, templateId: string, rollout?: { id: string }) {
  let query = tx
    .selectFrom('destinations')
    .innerJoin('workspaces', 'workspaces.id', 'destinations.workspace_id')
    .select('workspaces.id as id')
    .distinct()
    .where('workspaces.organization_id', '=', organizationId)
    .where('workspaces.lifecycle', '=', 'live')
    .where('destinations.connection_template_id', '=', templateId)
    .where('destinations.deleted_at', 'is', null)
    .where(mayBeOnPlatform);
  if (rollout) {
    const failed = tx
      .selectFrom('rollout_items')
      .select('workspace_id')
      .where('organization_id', '=', organizationId)
      .where('rollout_id', '=', rollout.id)
      .where('state', '=', 'failed');
    query = query.where('workspaces.id', 'not in', failed);
  }
  return query;
}

/** Something in a workspace that the platform still has, or does not have as it should. */
export interface Open {
  workspace_id: string;
  /** 0 or 1: the set-up worker has still something to do. */
  pending: number;
  failure: string | null;
}

export async function listOpen(
  db: Db,
  { organizationId, kind, templateId }: TemplateRef,
  how: Retirement,
  workspaceIds: string[],
): Promise<Open[]> {
  if (workspaceIds.length === 0) return [];
  const pending = sql<number>`max(case when sources.due_at is not null then 1 else 0 end)`.as('pending');
  if (kind === 'source' && how === 'delete') {
    return await db
      .selectFrom('sources')
      .select(['workspace_id', pending, sql<string | null>`max(failure)`.as('failure')])
      .where('organization_id', '=', organizationId)
      .where('source_template_id', '=', templateId)
      .where('lifecycle', '=', 'deleting')
      .where('workspace_id', 'in', workspaceIds)
      .groupBy('workspace_id')
      .execute();
  }
  const isOpen =
    how === 'delete'
      ? sql<boolean>`connections.removal_due = 1`
      : // The platform never had it: then there is nothing that could run.
        sql<boolean>`connections.deleted_at is null and connections.paused = 1
          and connections.applied_status_version <> connections.status_version
          and (connections.platform_id is not null or sources.due_at is not null)`;
  return await db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .select('connections.workspace_id')
    .select([pending, sql<string | null>`max(coalesce(connections.failure, sources.failure))`.as('failure')])
    .where('connections.organization_id', '=', organizationId)
    .where(`connections.${templateColumn[kind]}`, '=', templateId)
    .where('connections.workspace_id', 'in', workspaceIds)
    .where('sources.lifecycle', '=', 'live')
    .where(isOpen)
    .groupBy('connections.workspace_id')
    .execute();
}

/** The workspace has another turn, or its first one. */
export async function waitAgain(tx: Db, organizationId: string, rolloutId: string, workspaceId: string): Promise<void> {
  await tx
    .insertInto('rollout_items')
    .values({
      rollout_id: rolloutId,
      organization_id: organizationId,
      workspace_id: workspaceId,
      stage: 1,
      state: 'waiting',
      reason: null,
      failed_before: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(['rollout_id', 'workspace_id']).doUpdateSet({ state: 'waiting', reason: null }),
    )
    .execute();
}
