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
import type { ConnectorFailure, PlatformJob, PlatformJobStream } from '../platform/pipelines-port.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { findLiveWorkspace } from '../workspaces/live-workspaces.ts';
import { delayOf } from '../workspaces/operations.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext, Scope } from './context.ts';
import { type ConfigurationParts, failureTexts, showsDefaults } from './failure-texts.ts';
import { configurationParts } from './source-template.ts';
import * as sources from './sources.store.ts';

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
        const job = last && (await presentJob(ctx, scope, row, last));
        return present(ctx, scope, row, { isRunning, isGone: !onPlatform.has(id), job });
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
    return await presentJob(ctx, scope, row, job);
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
  const jobs = await callPlatform(() => ctx.platform.listJobs(platform_id, page));
  const words = jobWords(ctx, scope, row);
  return await Promise.all(jobs.map((job) => presentJob(ctx, scope, row, job, words)));
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
  { audience }: Scope,
  row: connections.ConnectionWithNames,
  { isRunning, isGone, job }: { isRunning: boolean; isGone: boolean; job: Job | undefined },
): Connection {
  const failure =
    audience === 'operator'
      ? (row.failure ?? row.destination_failure)
      : (row.customer_failure ?? row.destination_customer_failure);
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
    last_run: job ?? null,
    next_run_at: next?.toISOString() ?? null,
    created_at: isoTime(row.created_at),
  };
}

/** How what a job tells is put for who reads it. */
interface JobWords {
  errorOf(failure: ConnectorFailure): Promise<string>;
  /** Where a value is that did not arrive; empty where that is the operator's to know. */
  exampleOf(example: string): Promise<string>;
}

/** The configuration is opened once, and only when there is something to say. */
function jobWords(ctx: PipelinesContext, scope: Scope, row: connections.ConnectionWithNames): JobWords {
  let known: Promise<ConfigurationParts> | undefined;
  const parts = () => {
    known ??= partsOf(ctx, row);
    return known;
  };
  return {
    errorOf: async (failure) => failureTexts(failure, await parts())[scope.audience],
    exampleOf: async (example) =>
      example === '' || scope.audience === 'operator' || !showsDefaults(example, await parts()) ? example : '',
  };
}

async function partsOf(
  ctx: PipelinesContext,
  { workspace_id, source_id }: connections.ConnectionWithNames,
): Promise<ConfigurationParts> {
  const source = await sources.findAnySource(ctx.store.db, workspace_id, source_id);
  if (!source) throw new AppError('source_not_found');
  return await configurationParts(ctx, source);
}

async function presentJob(
  ctx: PipelinesContext,
  scope: Scope,
  row: connections.ConnectionWithNames,
  job: PlatformJob,
  words = jobWords(ctx, scope, row),
): Promise<Job> {
  const { id, status, startedAt, endedAt, rows, bytes, failure, streams, moreStreams } = job;
  const tookMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  return {
    id,
    status,
    started_at: startedAt,
    ended_at: endedAt,
    duration_seconds: tookMs === null || Number.isNaN(tookMs) ? null : Math.max(0, tookMs / 1000),
    rows,
    bytes,
    error: failure && (await words.errorOf(failure)),
    ...(streams && { streams: await Promise.all(streams.map((stream) => presentJobStream(stream, words))) }),
    ...(moreStreams > 0 && { more_streams: moreStreams }),
  };
}

async function presentJobStream(stream: PlatformJobStream, words: JobWords): Promise<JobStream> {
  const { name, namespace, recordsWritten, recordsDeleted, moreChanged } = stream;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    records_emitted: stream.recordsEmitted,
    ...(recordsWritten !== undefined && { records_written: recordsWritten }),
    ...(recordsDeleted !== undefined && { records_deleted: recordsDeleted }),
    ...(stream.notReplaced && { not_replaced: true }),
    values_changed: await Promise.all(
      stream.valuesChanged.map(async (change) => ({ ...change, example: await words.exampleOf(change.example) })),
    ),
    ...(moreChanged && { more_values_changed: moreChanged }),
  };
}
