/**
 * The SQL of `jobs` for requests. The API names a job by its number alone, so a look-up also returns the workspace;
 * every change is bound to that workspace.
 */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import { laterOf } from '../db/portable.ts';
import type { JobAttemptRow, JobRow } from '../db/tables.ts';

interface NewJob {
  connectionId: string;
  jobType: JobRow['job_type'];
  triggerKind: JobRow['trigger_kind'];
  clearedStreams?: string | null;
  traceparent: string;
  now: number;
}

/** Due at once. */
export async function insertJob(
  tx: Db,
  workspaceId: string,
  { connectionId, jobType, triggerKind, clearedStreams = null, traceparent, now }: NewJob,
): Promise<JobRow> {
  return await tx
    .insertInto('jobs')
    .values({
      connection_id: connectionId,
      workspace_id: workspaceId,
      job_type: jobType,
      trigger_kind: triggerKind,
      cleared_streams: clearedStreams,
      traceparent,
      status: 'pending',
      next_attempt_at: now,
      failure_message: null,
      failure_origin: null,
      failure_type: null,
      created_at: now,
      started_at: null,
      updated_at: now,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findOpenJob(db: Db, workspaceId: string, connectionId: string): Promise<JobRow | undefined> {
  return await db
    .selectFrom('jobs')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
}

/** Those that have not started yet. Those that wait to be tried again do not count. */
export async function countWaitingJobs(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'pending')
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function findJobById(db: Db, jobId: number): Promise<JobRow | undefined> {
  return await db.selectFrom('jobs').selectAll().where('job_id', '=', jobId).executeTakeFirst();
}

interface JobFilter {
  workspaceIds: string[] | undefined;
  connectionId: string | undefined;
  jobType: JobRow['job_type'] | undefined;
  status: JobRow['status'] | undefined;
  createdFrom: number | undefined;
  createdUntil: number | undefined;
  updatedFrom: number | undefined;
  updatedUntil: number | undefined;
  column: 'created_at' | 'updated_at';
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

/** Jobs of one connection, of the given workspaces, or of all live workspaces. */
export async function listJobs(db: Db, filter: JobFilter): Promise<JobRow[]> {
  const { workspaceIds, connectionId, jobType, status, column, direction } = filter;
  let jobs = db.selectFrom('jobs').selectAll();
  if (connectionId !== undefined) jobs = jobs.where('connection_id', '=', connectionId);
  else if (workspaceIds) jobs = jobs.where('workspace_id', 'in', workspaceIds);
  else {
    jobs = jobs.where('workspace_id', 'in', (eb) =>
      eb.selectFrom('workspaces').select('workspace_id').where('deleted_at', 'is', null),
    );
  }
  if (jobType !== undefined) jobs = jobs.where('job_type', '=', jobType);
  if (status !== undefined) jobs = jobs.where('status', '=', status);
  if (filter.createdFrom !== undefined) jobs = jobs.where('created_at', '>=', filter.createdFrom);
  if (filter.createdUntil !== undefined) jobs = jobs.where('created_at', '<=', filter.createdUntil);
  if (filter.updatedFrom !== undefined) jobs = jobs.where('updated_at', '>=', filter.updatedFrom);
  if (filter.updatedUntil !== undefined) jobs = jobs.where('updated_at', '<=', filter.updatedUntil);
  return await jobs
    .orderBy(column, direction)
    .orderBy('job_id', direction)
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
}

/** When a job ends that ends now: the clock may have been set back since it was started. */
const notBeforeStart = (now: number) => laterOf(sql<number>`coalesce(started_at, created_at)`, now);

export async function cancelOpenJobs(
  tx: Db,
  workspaceId: string,
  connectionIds: readonly string[],
  now: number,
): Promise<void> {
  await tx
    .updateTable('jobs')
    .set({
      status: 'cancelled',
      next_attempt_at: null,
      updated_at: now,
      ended_at: notBeforeStart(now),
    })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', 'in', connectionIds)
    .where('ended_at', 'is', null)
    .execute();
  await tx
    .updateTable('job_attempts')
    .set({ status: 'cancelled', ended_at: laterOf(sql.ref<number>('started_at'), now), plan: null })
    .where('workspace_id', '=', workspaceId)
    .where('ended_at', 'is', null)
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('connection_id', 'in', connectionIds)
        .where('status', '=', 'cancelled')
        .where('updated_at', '=', now),
    )
    .execute();
}

/** In creation order. */
export async function listAttempts(
  db: Db,
  workspaceIds: readonly string[],
  jobIds: readonly number[],
): Promise<JobAttemptRow[]> {
  return await db
    .selectFrom('job_attempts')
    .selectAll()
    .where('workspace_id', 'in', workspaceIds)
    .where('job_id', 'in', jobIds)
    .orderBy('job_id')
    .orderBy('attempt')
    .execute();
}

/** The newest of each connection that has any. */
export async function findLastJobs(
  db: Db,
  workspaceIds: readonly string[],
  connectionIds: readonly string[],
): Promise<JobRow[]> {
  return await db
    .selectFrom('jobs')
    .selectAll()
    .where('workspace_id', 'in', workspaceIds)
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select(({ fn }) => fn.max('job_id').as('job_id'))
        .where('connection_id', 'in', connectionIds)
        .groupBy('connection_id'),
    )
    .execute();
}
