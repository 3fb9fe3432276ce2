/**
 * Connections: what carries a source's data to a destination. They come with their source; this file shows them and
 * their jobs, and starts syncs. Only the platform knows the state of a connection, so the platform is asked each time.
 * A connection that somebody has deleted on the platform is not made again: it is shown as inactive, with a message,
 * and cannot be synced.
 */
import type { Connection, Job, JobStream } from '@inlay/contract/connections';
import { nextRuns } from '@inlay/schedule/quartz';
import { AppError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { PlatformJob, PlatformJobStream } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { findLiveWorkspace } from '../workspaces/live-workspaces.ts';
import { delayOf } from '../workspaces/operations.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext, Scope } from './context.ts';

const goneFromPlatform =
  'The platform no longer has this connection. To have it again, delete its source and connect it again.';

export async function listConnections(ctx: PipelinesContext, scope: Scope): Promise<Connection[]> {
  const { organizationId, workspaceId } = scope;
  const rows = await connections.listConnections(ctx.store.db, workspaceId);
  if (rows.length === 0) return [];
  const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
  return await callPlatform(async () => {
    const onPlatform = await statusesOnPlatform(ctx, workspaceId);
    return await Promise.all(
      rows.map(async (row) => {
        const id = row.platform_id ?? '';
        const [last] = onPlatform.has(id) ? await ctx.platform.listJobs(id, { limit: 1, offset: 0 }) : [];
        const isRunning = onPlatform.get(id) === 'active' && workspace?.status === 'active';
        return present(ctx, row, { isRunning, isGone: !onPlatform.has(id), last });
      }),
    );
  });
}

/** The statuses by connection id; empty when the platform no longer has the workspace. */
async function statusesOnPlatform(ctx: PipelinesContext, workspaceId: string): Promise<Map<string, string>> {
  try {
    const listed = await ctx.platform.listConnections(workspaceId);
    return new Map(listed.map(({ id, status }) => [id, status]));
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return new Map();
    throw error;
  }
}

export async function startSync(ctx: PipelinesContext, scope: Scope, id: string): Promise<Job> {
  const row = await getConnection(ctx, scope, id);
  const workspace = await findLiveWorkspace(ctx.workspaces, scope.organizationId, scope.workspaceId);
  if (workspace?.status !== 'active') throw new AppError('workspace_inactive');
  const platformId = madeOnPlatform(row);
  return await callPlatform(async () => {
    const job = await ctx.platform.startSync(platformId).catch(unlessRefused);
    if (job instanceof PlatformError || job === undefined) {
      // A platform gives the same answer for a deleted connection, for a busy one, and for a connection of somebody
      // else.
      const onPlatform = await statusesOnPlatform(ctx, scope.workspaceId);
      if (!onPlatform.has(platformId)) throw new AppError('platform_lost_connection');
      throw job ?? new AppError('sync_already_running');
    }
    return presentJob(job);
  });
}

function unlessRefused(error: unknown): PlatformError {
  if (error instanceof PlatformError && (error.failure === 'not_found' || error.failure === 'unauthorised'))
    return error;
  throw error;
}

export async function listJobs(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  page: { limit: number; offset: number },
): Promise<Job[]> {
  const row = await getConnection(ctx, scope, id);
  const { platform_id } = row;
  if (platform_id === null) return [];
  return (await callPlatform(() => ctx.platform.listJobs(platform_id, page))).map(presentJob);
}

async function getConnection(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
): Promise<connections.ConnectionWithNames> {
  const row = await connections.findConnection(ctx.store.db, scope.workspaceId, id);
  if (row) return row;
  const isElsewhere = await connections.existsConnection(ctx.store.db, scope.organizationId, id);
  throw new AppError(isElsewhere ? 'forbidden' : 'connection_not_found');
}

function madeOnPlatform({ platform_id }: connections.ConnectionWithNames): string {
  if (platform_id === null) throw new AppError('connection_pending');
  return platform_id;
}

async function callPlatform<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.isQueueFull) throw new AppError('queue_full', retryAfterOf(error), { cause: error });
    throw new AppError('platform_does_not_answer', { delay: delayOf(error) }, { cause: error });
  }
}

function retryAfterOf({ retryAfterSeconds }: PlatformError) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}

function present(
  { runtime }: PipelinesContext,
  row: connections.ConnectionWithNames,
  { isRunning, isGone, last }: { isRunning: boolean; isGone: boolean; last: PlatformJob | undefined },
): Connection {
  const failure = row.failure ?? row.destination_failure;
  const isMade = row.is_set_up === 1;
  const next =
    isRunning && row.cron_expression ? nextRuns(row.cron_expression, new Date(runtime.now()), 1)[0] : undefined;
  return {
    id: row.id,
    name: `${row.source_name} → ${row.destination_name}`,
    source_id: row.source_id,
    destination_name: row.destination_name,
    status: isMade ? (isRunning ? 'active' : 'inactive') : failure === null ? 'pending' : 'failed',
    status_message: isMade ? (isGone ? goneFromPlatform : null) : failure,
    cron_expression: row.cron_expression,
    last_run: last ? presentJob(last) : null,
    next_run_at: next?.toISOString() ?? null,
    created_at: isoTime(row.created_at),
  };
}

function presentJob(job: PlatformJob): Job {
  const { id, status, startedAt, endedAt, rows, bytes, error, streams, moreStreams } = job;
  const tookMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  return {
    id,
    status,
    started_at: startedAt,
    ended_at: endedAt,
    duration_seconds: tookMs === null || Number.isNaN(tookMs) ? null : Math.max(0, tookMs / 1000),
    rows,
    bytes,
    error,
    ...(streams && { streams: streams.map(presentJobStream) }),
    ...(moreStreams > 0 && { more_streams: moreStreams }),
  };
}

function presentJobStream(stream: PlatformJobStream): JobStream {
  const { name, namespace, recordsWritten, recordsDeleted, moreChanged } = stream;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    records_emitted: stream.recordsEmitted,
    ...(recordsWritten !== undefined && { records_written: recordsWritten }),
    ...(recordsDeleted !== undefined && { records_deleted: recordsDeleted }),
    ...(stream.notReplaced && { not_replaced: true }),
    values_changed: stream.valuesChanged,
    ...(moreChanged && { more_values_changed: moreChanged }),
  };
}
