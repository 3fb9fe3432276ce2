/** The jobs of all workspaces, for the worker that reads them from the platform. */
import { sql } from 'kysely';
import { isFreeFor, leaseFor, noLease } from '../../kernel/db/leases.ts';
import { fromNow, now, nowOrAt } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, JobRow } from '../../kernel/db/tables.ts';

/** How far jobs have been read, and the time; undefined while another replica reads them. */
export async function leaseWatch(
  db: Db,
  leaseId: string,
  leaseMs: number,
): Promise<{ readUntil: number; now: number } | undefined> {
  return await db
    .updateTable('job_watch')
    .set(leaseFor(leaseId, leaseMs))
    .where('id', '=', 1)
    .where(isFreeFor(leaseId))
    .returning(['read_until as readUntil', now.as('now')])
    .executeTakeFirst();
}

/** Everything up to then is written down. */
export async function putReadUntil(db: Db, leaseId: string, readUntil: number): Promise<void> {
  await db
    .updateTable('job_watch')
    .set({ read_until: readUntil })
    .where('id', '=', 1)
    .where('lease_id', '=', leaseId)
    .execute();
}

export async function releaseWatch(db: Db, leaseId: string): Promise<void> {
  await db.updateTable('job_watch').set(noLease).where('id', '=', 1).where('lease_id', '=', leaseId).execute();
}

/** Ours, by their ids on the platform. The platform may run others, too. */
export async function findConnectionsByPlatformIds(db: Db, platformIds: readonly string[]): Promise<ConnectionRow[]> {
  if (platformIds.length === 0) return [];
  return await db
    .selectFrom('connections')
    .selectAll()
    .where('platform_id', 'in', platformIds)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Open jobs without a report from the platform for that long, the longest silent first. */
export async function listSilentJobs(
  db: Db,
  silentMs: number,
  limit: number,
): Promise<(JobRow & { is_deleted: number; now: number })[]> {
  return await db
    .selectFrom('jobs')
    .innerJoin('connections', 'connections.id', 'jobs.connection_id')
    .selectAll('jobs')
    .select([sql<number>`case when connections.deleted_at is null then 0 else 1 end`.as('is_deleted'), now.as('now')])
    .where('jobs.ended_at', 'is', null)
    .where('jobs.seen_at', '<', fromNow(-silentMs))
    .orderBy('jobs.seen_at')
    .limit(limit)
    .execute();
}

/** `isOver`: the job counts as cancelled. Otherwise it was just asked for, and is not silent. Returns what this ended. */
export async function putSilentJob(
  db: Db,
  { connection_id, id }: Pick<JobRow, 'connection_id' | 'id'>,
  isOver: boolean,
): Promise<JobRow[]> {
  const rows = await db
    .updateTable('jobs')
    .set(isOver ? { status: 'cancelled', ended_at: nowOrAt('started_at'), seen_at: now } : { seen_at: now })
    .where('connection_id', '=', connection_id)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returningAll()
    .execute();
  return isOver ? rows : [];
}

export async function listWithoutHistory(db: Db, limit: number): Promise<ConnectionRow[]> {
  return await db
    .selectFrom('connections')
    .selectAll()
    .where('history_wanted', '=', 1)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function putHistoryRead(db: Db, id: string): Promise<void> {
  await db.updateTable('connections').set({ history_wanted: 0 }).where('id', '=', id).execute();
}

/** Live workspaces whose connections were last looked at on the platform that long ago; the longest first. */
export async function listWorkspacesToLookAt(
  db: Db,
  agoMs: number,
  limit: number,
): Promise<{ organizationId: string; workspaceId: string }[]> {
  return await db
    .selectFrom(
      db
        .selectFrom('connections')
        .select(['organization_id as organizationId', 'workspace_id as workspaceId', 'looked_at'])
        .where('deleted_at', 'is', null)
        .where('looked_at', '<', fromNow(-agoMs))
        .orderBy('looked_at')
        .limit(limit)
        .as('oldest'),
    )
    .select(['organizationId', 'workspaceId'])
    .distinct()
    .execute();
}

/** Whatever became of the look: the next ones have their turn. */
export async function putLookedAt(db: Db, workspaceId: string): Promise<void> {
  await db.updateTable('connections').set({ looked_at: now }).where('workspace_id', '=', workspaceId).execute();
}

/** Jobs that have not ended: how many wait and run, and since when the first has been waiting. */
export async function readOpenJobs(
  db: Db,
): Promise<{ waiting: number; running: number; oldestWaitingMs: number | null }> {
  const row = await db
    .selectFrom('jobs')
    .select([
      sql<number>`sum(case when status = 'running' then 0 else 1 end)`.as('waiting'),
      sql<number>`sum(case when status = 'running' then 1 else 0 end)`.as('running'),
      sql<number | null>`now_ms() - min(case when status = 'running' then null else started_at end)`.as('oldest'),
    ])
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  const oldest = row?.oldest ?? null;
  return {
    waiting: Number(row?.waiting ?? 0),
    running: Number(row?.running ?? 0),
    oldestWaitingMs: oldest === null ? null : Math.max(0, Number(oldest)),
  };
}

/** Connections by how they do, of all organizations: from the counts that triggers keep (db/migrations.ts). */
export async function countByHealth(db: Db): Promise<Partial<Record<ConnectionRow['health'], number>>> {
  const rows = await db
    .selectFrom('health_counts')
    .select(['health', sql<number>`sum(count)`.as('count')])
    .where('kind', '=', 'connections')
    .groupBy('health')
    .having(sql<number>`sum(count)`, '>', 0)
    .execute();
  return Object.fromEntries(rows.map(({ health, count }) => [health, Number(count)]));
}
