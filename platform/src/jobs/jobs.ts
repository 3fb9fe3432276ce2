/*
 * Jobs as callers see them: asking for one, looking at them, cancelling. Which job runs when is the scheduler's to
 * say, and what it does is in attempt.ts.
 *
 * Always true: a connection has at most one job that has not ended. Cancelling is a change of the row and nothing
 * else; whoever runs the job sees that it is no longer his and stops.
 */
import Type, { type Static } from 'typebox';
import type { Platform } from '../context.ts';
import type { ConnectionRow, JobRow, Store } from '../db/open.ts';
import { pageParameters, Uuid, workspaceIdsOf, workspaceIdsParameter } from '../http/paging.ts';
import { Problem, resourceNotFound } from '../problems.ts';

export const JobCreate = Type.Object({
  connectionId: Uuid,
  jobType: Type.Enum(['sync', 'reset', 'clear', 'refresh']),
});
export type JobCreate = Static<typeof JobCreate>;

const Time = Type.Optional(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$' }),
);

export const JobListQuery = Type.Object({
  connectionId: Type.Optional(Uuid),
  ...workspaceIdsParameter,
  jobType: Type.Optional(Type.Enum(['sync', 'reset', 'clear', 'refresh'])),
  status: Type.Optional(Type.Enum(['pending', 'queued', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'])),
  createdAtStart: Time,
  createdAtEnd: Time,
  updatedAtStart: Time,
  updatedAtEnd: Time,
  orderBy: Type.Optional(Type.String()),
  ...pageParameters,
});
export type JobListQuery = Static<typeof JobListQuery>;

export async function createJob(platform: Platform, { connectionId, jobType }: JobCreate): Promise<JobRow> {
  if (jobType === 'refresh') {
    throw new Problem('unprocessable-entity', {
      message: 'A job of type refresh cannot be started. Use clear, then sync.',
    });
  }
  const job = await platform.store.transaction().execute(async (trx) => {
    const connection = await trx
      .selectFrom('connections')
      .selectAll()
      .where('connection_id', '=', connectionId.toLowerCase())
      .executeTakeFirst();
    if (!connection) throw resourceNotFound('connection', connectionId);
    if (connection.status === 'deprecated') {
      throw new Problem('try-again-later', { message: 'The connection has been deleted.' });
    }
    if (connection.status === 'inactive') {
      throw new Problem('state-conflict', { message: 'The connection is inactive. Activate it first.' });
    }
    const open = await findOpenJob(trx, connection.connection_id);
    if (open) {
      throw new Problem('try-again-later', { message: `Job ${open.job_id} of this connection has not ended yet.` });
    }
    return insertJob(trx, connection, { jobType, triggerKind: 'manual', now: platform.now() });
  });
  platform.wake();
  return job;
}

export async function findOpenJob(store: Store, connectionId: string): Promise<JobRow | undefined> {
  return store
    .selectFrom('jobs')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
}

export async function insertJob(
  trx: Store,
  { connection_id, workspace_id }: ConnectionRow,
  { jobType, triggerKind, now }: { jobType: JobRow['job_type']; triggerKind: JobRow['trigger_kind']; now: number },
): Promise<JobRow> {
  return trx
    .insertInto('jobs')
    .values({
      connection_id,
      workspace_id,
      job_type: jobType,
      trigger_kind: triggerKind,
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

export async function getJob(store: Store, jobId: number): Promise<JobRow> {
  const job = await store.selectFrom('jobs').selectAll().where('job_id', '=', jobId).executeTakeFirst();
  if (!job) throw resourceNotFound('job', String(jobId));
  return job;
}

/** Oldest first unless asked otherwise. Without a connection or workspaces, the jobs of all living workspaces. */
export async function listJobs({ store }: Platform, query: JobListQuery): Promise<JobRow[]> {
  let jobs = store.selectFrom('jobs').selectAll();
  const workspaceIds = workspaceIdsOf(query);
  if (query.connectionId !== undefined) jobs = jobs.where('connection_id', '=', query.connectionId.toLowerCase());
  else if (workspaceIds) jobs = jobs.where('workspace_id', 'in', workspaceIds);
  else {
    jobs = jobs.where('workspace_id', 'in', (eb) =>
      eb.selectFrom('workspaces').select('workspace_id').where('deleted_at', 'is', null),
    );
  }
  // This platform starts what is pending by itself and has no other kind of queue, nor refreshes.
  if (query.status === 'queued' || query.jobType === 'refresh') return [];
  if (query.jobType !== undefined) jobs = jobs.where('job_type', '=', query.jobType);
  if (query.status !== undefined) jobs = jobs.where('status', '=', query.status);
  if (query.createdAtStart !== undefined) jobs = jobs.where('created_at', '>=', Date.parse(query.createdAtStart));
  if (query.createdAtEnd !== undefined) jobs = jobs.where('created_at', '<=', Date.parse(query.createdAtEnd));
  if (query.updatedAtStart !== undefined) jobs = jobs.where('updated_at', '>=', Date.parse(query.updatedAtStart));
  if (query.updatedAtEnd !== undefined) jobs = jobs.where('updated_at', '<=', Date.parse(query.updatedAtEnd));
  const { column, direction } = readOrder(query.orderBy ?? 'createdAt|ASC');
  return jobs.orderBy(column, direction).orderBy('job_id', direction).limit(query.limit).offset(query.offset).execute();
}

function readOrder(orderBy: string) {
  const [, field, direction] = /^(createdAt|updatedAt)\|(ASC|DESC)$/.exec(orderBy) ?? [];
  if (field === undefined) {
    throw new Problem('bad-request', { message: 'orderBy must be createdAt or updatedAt, then |ASC or |DESC.' });
  }
  return {
    column: field === 'createdAt' ? ('created_at' as const) : ('updated_at' as const),
    direction: direction === 'ASC' ? ('asc' as const) : ('desc' as const),
  };
}

export async function cancelJob(platform: Platform, jobId: number): Promise<JobRow> {
  const job = await platform.store.transaction().execute(async (trx) => {
    const found = await getJob(trx, jobId);
    if (found.ended_at !== null) {
      throw new Problem('state-conflict', { message: `The job is not running: it is ${found.status}.` });
    }
    await cancelOpenJobs(trx, [found.connection_id], platform.now());
    return getJob(trx, jobId);
  });
  platform.wake();
  return job;
}

/** The caller wakes the scheduler once this is committed. */
export async function cancelOpenJobs(trx: Store, connectionIds: readonly string[], now: number): Promise<void> {
  if (connectionIds.length === 0) return;
  await trx
    .updateTable('jobs')
    .set({ status: 'cancelled', next_attempt_at: null, updated_at: now, ended_at: now })
    .where('connection_id', 'in', connectionIds)
    .where('ended_at', 'is', null)
    .execute();
}

/** The newest job of each connection that has any. */
export async function findLastJobs(store: Store, connectionIds: readonly string[]): Promise<Map<string, JobRow>> {
  if (connectionIds.length === 0) return new Map();
  const jobs = await store
    .selectFrom('jobs')
    .selectAll()
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select(({ fn }) => fn.max('job_id').as('job_id'))
        .where('connection_id', 'in', connectionIds)
        .groupBy('connection_id'),
    )
    .execute();
  return new Map(jobs.map((job) => [job.connection_id, job]));
}

/** `attempts` and `failureReason` are additions of this platform. */
export function showJob(job: JobRow, now: number) {
  return {
    jobId: job.job_id,
    status: job.status,
    jobType: job.job_type,
    startTime: showTime(job.created_at),
    connectionId: job.connection_id,
    ...(job.ended_at !== null && { lastUpdatedAt: showTime(job.updated_at) }),
    ...(job.started_at !== null && { duration: showDuration((job.ended_at ?? now) - job.started_at) }),
    bytesSynced: job.bytes,
    rowsSynced: job.records,
    attempts: job.attempts,
    ...(job.failure_message !== null && {
      failureReason: { message: job.failure_message, origin: job.failure_origin, type: job.failure_type },
    }),
  };
}

export function showTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** As in ISO 8601: PT1H2M3S, without the parts that are nothing. */
function showDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 3600), 'H'],
    [Math.floor(seconds / 60) % 60, 'M'],
    [seconds % 60, 'S'],
  ] as const;
  return `PT${parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('') || '0S'}`;
}
