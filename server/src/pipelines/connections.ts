/**
 * Connections: what carries a source's data to a destination. They come with their source; this file shows them and their
 * jobs, and starts syncs. How a connection does is the platform's to know, so it is asked each time.
 */
import type { Connection, Job } from '@inlay/contract/connections';
import { nextRuns } from '@inlay/schedule/quartz';
import { AppError } from '../errors.ts';
import type { PlatformJob } from '../platform/pipelines.ts';
import { PlatformError } from '../platform/platform.ts';
import { findLiveWorkspace } from '../workspaces/connections.ts';
import { delayOf } from '../workspaces/operations.ts';
import * as connections from './connections.store.ts';
import type { PipelinesContext, Scope } from './context.ts';

export async function listConnections(ctx: PipelinesContext, scope: Scope): Promise<Connection[]> {
  const { organizationId, workspaceId } = scope;
  const rows = await connections.listConnections(ctx.store.db, workspaceId);
  if (rows.length === 0) return [];
  const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
  return await asking(async () => {
    const onPlatform = new Map(
      (await ctx.platform.listConnections(workspaceId)).map(({ id, status }) => [id, status] as const),
    );
    return await Promise.all(
      rows.map(async (row) => {
        const [last] =
          row.platform_id === null ? [] : await ctx.platform.listJobs(row.platform_id, { limit: 1, offset: 0 });
        const isRunning = onPlatform.get(row.platform_id ?? '') === 'active' && workspace?.status === 'active';
        return present(ctx, row, isRunning, last);
      }),
    );
  });
}

export async function startSync(ctx: PipelinesContext, scope: Scope, id: string): Promise<Job> {
  const row = await getConnection(ctx, scope, id);
  const workspace = await findLiveWorkspace(ctx.workspaces, scope.organizationId, scope.workspaceId);
  if (workspace?.status !== 'active') throw new AppError('workspace_inactive');
  const platformId = madeOnPlatform(row);
  const job = await asking(() => ctx.platform.startSync(platformId));
  if (!job) throw new AppError('sync_already_running');
  return presentJob(job);
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
  return (await asking(() => ctx.platform.listJobs(platform_id, page))).map(presentJob);
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

async function asking<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new AppError('platform_does_not_answer', { delay: delayOf(error) }, { cause: error });
  }
}

function present(
  { runtime }: PipelinesContext,
  row: connections.ConnectionWithNames,
  isRunning: boolean,
  last: PlatformJob | undefined,
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
    status_message: isMade ? null : failure,
    cron_expression: row.cron_expression,
    last_run: last ? presentJob(last) : null,
    next_run_at: next?.toISOString() ?? null,
    created_at: new Date(row.created_at).toISOString(),
  };
}

function presentJob({ id, status, startedAt, endedAt, rows, bytes, error }: PlatformJob): Job {
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
  };
}
