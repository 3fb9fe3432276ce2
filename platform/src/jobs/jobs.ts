/**
 * Jobs as callers see them: asking for one, looking at them, cancelling. Which job runs when is left to scheduler.ts, and
 * what a job does to attempts/attempt.ts.
 *
 * Invariants: a connection has at most one open job. Cancelling only changes the row; the process that runs the job
 * notices and stops.
 */
import { readTraceContext } from '@inlay/contract/text/trace-context';
import { databaseTime } from '@inlay/database/open-database';
import { getAnyConnection } from '../connections/connections.ts';
import { refreshStreams } from '../connections/stream-states.ts';
import type { Db } from '../db/open.ts';
import type { ConnectionRow, JobAttemptRow, JobRow } from '../db/tables.ts';
import { workspaceIdsOf } from '../fields.ts';
import { isoTime } from '../iso-time.ts';
import { Problem, resourceNotFound } from '../problems.ts';
import type { StreamsMoved } from '../runner/runner.ts';
import { traceparentOfJob } from '../tracing.ts';
import { deletesRows, findNamedStreams, readStreams } from './clear-requests.ts';
import type { JobsContext } from './context.ts';
import * as jobs from './jobs.store.ts';
import type { JobCreate, JobListQuery } from './requests.ts';
import type { RowPoints } from './row-points.ts';

/** A refresh is a sync that begins a new generation of the streams; their old rows go when it is complete. */
export async function createJob(ctx: JobsContext, request: JobCreate, query: unknown): Promise<JobRow> {
  const { connectionId, jobType } = request;
  const asked = deletesRows(request) ? readStreams(request, query) : undefined;
  const job = await ctx.store.transaction(async (tx) => {
    const connection = await getAnyConnection(tx, connectionId);
    if (connection.status === 'deprecated') {
      throw new Problem('try-again-later', { message: 'The connection has been deleted.' });
    }
    if (connection.status === 'inactive') {
      throw new Problem('state-conflict', { message: 'The connection is inactive. Activate it first.' });
    }
    const open = await jobs.findOpenJob(tx, connection.workspace_id, connection.connection_id);
    if (open) {
      throw new Problem('try-again-later', {
        message: `Job ${open.job_id} of this connection is still running or queued.`,
      });
    }
    if ((await jobs.countWaitingJobs(tx, connection.workspace_id)) >= ctx.maxWaitingPerWorkspace) {
      throw new Problem('queue-full', null, { retryAfterSeconds: 60 });
    }
    // No job of the connection runs, so nobody else relies on the states.
    if (jobType === 'refresh') {
      await refreshStreams(tx, { workspaceId: connection.workspace_id, connectionId }, asked);
    }
    return await jobs.insertJob(tx, connection.workspace_id, {
      connectionId: connection.connection_id,
      jobType: jobType === 'refresh' ? 'sync' : jobType,
      clearedStreams:
        asked && jobType !== 'refresh' ? JSON.stringify(await findNamedStreams(tx, connection, asked)) : null,
      triggerKind: 'manual',
      traceparent: traceparentOfJob(ctx.runtime),
      now: await databaseTime(tx),
    });
  });
  ctx.wake();
  return job;
}

/** For the schedule: does nothing while an earlier job is open. */
export async function createScheduledJob(
  { runtime }: Pick<JobsContext, 'runtime'>,
  tx: Db,
  { workspace_id, connection_id }: ConnectionRow,
  now: number,
): Promise<void> {
  if (await jobs.findOpenJob(tx, workspace_id, connection_id)) return;
  await jobs.insertJob(tx, workspace_id, {
    connectionId: connection_id,
    jobType: 'sync',
    triggerKind: 'schedule',
    traceparent: traceparentOfJob(runtime),
    now,
  });
}

export async function getJob(db: Db, jobId: number): Promise<JobRow> {
  const job = await jobs.findJobById(db, jobId);
  if (!job) throw resourceNotFound('job', String(jobId));
  return job;
}

/** Oldest first unless asked otherwise. Without a connection or workspaces, the jobs of all living workspaces. */
export async function listJobs(ctx: JobsContext, query: JobListQuery): Promise<JobRow[]> {
  const { limit, offset, connectionId, jobType, status } = query;
  // This platform starts pending jobs automatically and has no other queue. Its refreshes are syncs.
  if (status === 'queued' || jobType === 'refresh') return [];
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return await jobs.listJobs(ctx.store.db, {
    workspaceIds: workspaceIdsOf(query),
    connectionId: connectionId?.toLowerCase(),
    jobType,
    status,
    createdFrom: time(query.createdAtStart),
    createdUntil: time(query.createdAtEnd),
    updatedFrom: time(query.updatedAtStart),
    updatedUntil: time(query.updatedAtEnd),
    ...readOrder(query.orderBy ?? 'createdAt|ASC'),
    limit,
    offset,
  });
}

function readOrder(orderBy: string) {
  const [, field, direction] = /^(createdAt|updatedAt)\|(ASC|DESC)$/.exec(orderBy) ?? [];
  if (field === undefined) {
    throw new Problem('bad-request', { message: 'orderBy must be createdAt or updatedAt, followed by |ASC or |DESC.' });
  }
  return {
    column: field === 'createdAt' ? ('created_at' as const) : ('updated_at' as const),
    direction: direction === 'ASC' ? ('asc' as const) : ('desc' as const),
  };
}

export async function cancelJob(ctx: JobsContext, jobId: number): Promise<JobRow> {
  const job = await ctx.store.transaction(async (tx) => {
    const found = await getJob(tx, jobId);
    if (found.ended_at !== null) {
      throw new Problem('state-conflict', { message: `The job is not running; its status is ${found.status}.` });
    }
    await jobs.cancelOpenJobs(tx, found.workspace_id, [found.connection_id], await databaseTime(tx));
    return await getJob(tx, jobId);
  });
  ctx.wake();
  return job;
}

/** The caller wakes the scheduler once this is committed. */
export async function cancelOpenJobs(
  tx: Db,
  workspaceId: string,
  connectionIds: readonly string[],
  now: number,
): Promise<void> {
  if (connectionIds.length > 0) await jobs.cancelOpenJobs(tx, workspaceId, connectionIds, now);
}

/** The newest job of each connection that has any, by connection. */
export async function presentLastJobs(
  ctx: JobsContext,
  connections: readonly ConnectionRow[],
): Promise<Map<string, object>> {
  if (connections.length === 0) return new Map();
  const last = await jobs.findLastJobs(
    ctx.store.db,
    [...new Set(connections.map(({ workspace_id }) => workspace_id))],
    connections.map(({ connection_id }) => connection_id),
  );
  const shown = await presentJobs(ctx, last);
  return new Map(shown.map((job) => [job.connectionId, job]));
}

export async function presentOne(ctx: JobsContext, job: JobRow): Promise<object> {
  const [shown] = await presentJobs(ctx, [job]);
  return shown as object;
}

export async function presentJobs(ctx: JobsContext, rows: readonly JobRow[]) {
  if (rows.length === 0) return [];
  const attempts = await jobs.listAttempts(
    ctx.store.db,
    [...new Set(rows.map(({ workspace_id }) => workspace_id))],
    rows.map(({ job_id }) => job_id),
  );
  const now = ctx.runtime.now();
  return rows.map((job) => {
    const ofJob = attempts.filter(({ job_id }) => job_id === job.job_id);
    return presentJob(job, ofJob, now);
  });
}

/** A platform that keeps restarting creates many. The first ones show how it started. */
const maxAttemptsShown = 20;

/** `attempts`, `failedAttempts`, `attemptList`, `rowPoints`, `streams` and `failureReason` are additions of this platform. */
function presentJob(job: JobRow, attempts: readonly JobAttemptRow[], now: number) {
  return {
    jobId: job.job_id,
    status: job.status,
    jobType: job.job_type,
    startTime: isoTime(job.created_at),
    connectionId: job.connection_id,
    ...(job.ended_at !== null && { lastUpdatedAt: isoTime(Math.max(job.updated_at, job.ended_at)) }),
    ...(job.started_at !== null && { duration: isoDuration(Math.max(0, (job.ended_at ?? now) - job.started_at)) }),
    bytesSynced: job.bytes,
    rowsSynced: job.records,
    attempts: job.attempts,
    failedAttempts: job.failed_attempts,
    ...presentTrace(job),
    attemptList: attempts.slice(0, maxAttemptsShown).map(presentAttempt),
    ...(job.row_points !== null && { rowPoints: (JSON.parse(job.row_points) as RowPoints).points }),
    ...(job.streams !== null && presentStreams(JSON.parse(job.streams))),
    ...presentFailure(job),
  };
}

/** Jobs of earlier versions have none. */
function presentTrace({ traceparent }: JobRow) {
  const trace = readTraceContext(traceparent ?? undefined);
  return trace ? { traceId: trace.traceId } : {};
}

function presentAttempt(attempt: JobAttemptRow) {
  return {
    attempt: attempt.attempt,
    status: attempt.status,
    startTime: isoTime(attempt.started_at),
    ...(attempt.ended_at !== null && { endTime: isoTime(attempt.ended_at) }),
    bytesSynced: attempt.bytes,
    rowsSynced: attempt.records,
    ...presentFailure(attempt),
  };
}

function presentFailure(failed: JobAttemptRow | JobRow) {
  const { failure_message: message, failure_origin: origin, failure_type: type, failure_fields: fields } = failed;
  if (message === null) return {};
  return { failureReason: { message, origin, type, ...(fields !== null && { fields: JSON.parse(fields) }) } };
}

function presentStreams({ streams, moreStreams }: StreamsMoved) {
  const shown = streams.map(({ stream: { name, namespace }, ...outcome }) => ({
    streamName: name,
    ...(namespace && { streamNamespace: namespace }),
    ...outcome,
  }));
  return { streams: shown, ...(moreStreams > 0 && { moreStreams }) };
}

/** As in ISO 8601: PT1H2M3S, without the parts that are nothing. */
function isoDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 3600), 'H'],
    [Math.floor(seconds / 60) % 60, 'M'],
    [seconds % 60, 'S'],
  ] as const;
  return `PT${parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('') || '0S'}`;
}
