/** The SQL of changes of one connection: what is chosen for it, its status, its end. */
import { sql } from 'kysely';
import { now, nowOrAt } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, JobRow } from '../kernel/db/tables.ts';

/** Until the transaction ends nobody else changes it. */
export async function lockConnection(tx: Db, workspaceId: string, id: string): Promise<ConnectionRow | undefined> {
  return await tx
    .updateTable('connections')
    .set({ prefix: sql<string>`prefix` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

type Settings = Pick<ConnectionRow, 'cron_expression' | 'own_schedule' | 'own_streams' | 'streams_anew'>;

/** set-up.ts applies it to the platform. Clears an earlier refusal, which says nothing about the new settings. */
export async function changeSettings(
  tx: Db,
  workspaceId: string,
  id: string,
  settings: Partial<Settings>,
): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ ...settings, version: sql<number>`version + 1`, failure: null, customer_failure: null })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Earlier observations on the platform no longer count. */
export async function changeStatus(tx: Db, workspaceId: string, id: string, isPaused: boolean): Promise<void> {
  await tx
    .updateTable('connections')
    .set({
      paused: isPaused ? 1 : 0,
      status_version: sql<number>`status_version + 1`,
      platform_state: null,
      platform_reason: null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** The platform has the status that this row says. */
export async function recordStatusApplied(db: Db, workspaceId: string, row: ConnectionRow): Promise<void> {
  await db
    .updateTable('connections')
    .set({ applied_status_version: row.status_version })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', row.id)
    .execute();
}

/** The ids on the platform of connections that an activation of their workspace does not enable. */
export async function listPausedIds(db: Db, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('connections')
    .select('platform_id')
    .where('workspace_id', '=', workspaceId)
    .where('platform_id', 'is not', null)
    .where((when) => when.or([when('paused', '=', 1), when('deleted_at', 'is not', null)]))
    .execute();
  return rows.flatMap(({ platform_id }) => platform_id ?? []);
}

/** Removed from every list at once, from the platform later. Undefined if it was deleted before. */
export async function deleteConnection(tx: Db, workspaceId: string, id: string): Promise<ConnectionRow | undefined> {
  return await tx
    .updateTable('connections')
    .set({ deleted_at: now, removal_due: 1 })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export async function listConnectionsToRemove(db: Db, workspaceId: string, sourceId: string): Promise<ConnectionRow[]> {
  return await db
    .selectFrom('connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .where('removal_due', '=', 1)
    .orderBy('id')
    .execute();
}

/** The platform does not have it any more, nor its jobs. */
export async function recordRemoved(db: Db, workspaceId: string, id: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ removal_due: 0, platform_id: null, no_post_before: 0, is_set_up: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('removal_due', '=', 1)
    .execute();
}

export async function findRemoval(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<Pick<ConnectionRow, 'deleted_at' | 'removal_due'> | undefined> {
  return await db
    .selectFrom('connections')
    .select(['deleted_at', 'removal_due'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Jobs of a connection that is deleted have ended with it. */
export async function endJobs(tx: Db, workspaceId: string, connectionId: string): Promise<JobRow[]> {
  return await tx
    .updateTable('jobs')
    .set({ status: 'cancelled', ended_at: nowOrAt('started_at'), seen_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('ended_at', 'is', null)
    .returningAll()
    .execute();
}
