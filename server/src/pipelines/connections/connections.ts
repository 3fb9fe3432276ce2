/**
 * Connections: what carries a source's data to a destination. They come with their source; this file shows them and
 * their jobs, and starts syncs; connection-changes.ts changes them. What its jobs did is in our own tables (jobs.ts). The platform is asked whether it still has it.
 * A connection that someone has deleted on the platform is not made again: it is shown as inactive, with a message,
 * and cannot be synced.
 */
import type { Connection, Job } from '@inlay/contract/pipelines/connections';
import type { Audience } from '@inlay/contract/pipelines/health';
import { sayReason } from '@inlay/contract/reason-words';
import type { Reason } from '@inlay/contract/reasons';
import { nextRuns } from '@inlay/schedule/quartz';
import { mayChangeIn } from '../../catalog/forms/customer-choice.ts';
import type { Cause } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { JobRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { PlatformConnection } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { assertNotHeld, type WaitReasons } from '../../tenancy/quotas/holds.ts';
import { acceptSync, endStart } from '../../tenancy/quotas/quotas.ts';
import { findLiveWorkspace, readSettledWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { delayOf } from '../../tenancy/workspaces/operations.ts';
import { statusOf } from '../connection-status.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext, Scope } from '../context.ts';
import { healthIn, presentHealth, presentJob, readWaitReasons } from '../jobs/job-words.ts';
import { findLastJob, holdHealth, recordStarted, refreshHealth } from '../jobs/jobs.ts';
import * as jobs from '../jobs.store.ts';
import { presentRunning } from '../set-up/apply-version.ts';
import { scheduleOf } from '../slowed-schedules.ts';
import { storedReasons } from '../two-texts.ts';

const freshMs = 60_000;

export async function listConnections(ctx: PipelinesContext, scope: Scope): Promise<Connection[]> {
  const { organizationId, workspaceId } = scope;
  const rows = await connections.listConnections(ctx.store.db, workspaceId);
  if (rows.length === 0) return [];
  const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
  if (workspace) await callPlatform(() => lookAtConnections(ctx, workspace));
  return await presentAll(ctx, await connections.listConnections(ctx.store.db, workspaceId), {
    audience: scope.audience,
    isActive: () => workspace?.status === 'active',
  });
}

/** The page that rows are of, with their last jobs. */
export async function presentAll(
  ctx: PipelinesContext,
  rows: readonly connections.ConnectionWithNames[],
  { audience, isActive }: { audience: Audience; isActive: (row: connections.ConnectionWithNames) => boolean },
): Promise<Connection[]> {
  const workspaceIds = [...new Set(rows.map(({ workspace_id }) => workspace_id))];
  const last = await jobs.findLastJobs(
    ctx.store.db,
    workspaceIds,
    rows.map(({ id }) => id),
  );
  const lastOf = new Map(last.map((job) => [job.connection_id, job]));
  const waitReasons = await readWaitReasons(ctx.store.db, last);
  return rows.map((row) =>
    present(ctx, row, { audience, isActive: isActive(row), last: lastOf.get(row.id), waitReasons }),
  );
}

/**
 * Writes down what the platform says of a workspace's connections: which of them are gone, or were made inactive there.
 * While a workspace is being activated or deactivated this says nothing of what someone wanted.
 */
export async function lookAtConnections(ctx: PipelinesContext, workspace: WorkspaceRow): Promise<void> {
  const { organization_id: organizationId, id: workspaceId } = workspace;
  const onPlatform = await connectionsOnPlatform(ctx, workspaceId);
  const findNews = async (db: Db) => {
    const present = await readSettledWorkspace(db, organizationId, workspaceId);
    const isActive = present?.gen === workspace.gen && present.status === 'active';
    return (await connections.listConnections(db, workspaceId)).flatMap((row) => {
      if (row.platform_id === null || row.is_set_up === 0) return [];
      const look = lookOf(onPlatform.get(row.platform_id), isActive) ?? row;
      const isSame = look.platform_state === row.platform_state && look.platform_reason === row.platform_reason;
      const isFresh = ctx.runtime.now() - row.looked_at < freshMs;
      return isSame && isFresh ? [] : [{ id: row.id, ...look }];
    });
  };
  // Someone who looks again and again writes nothing as long as nothing has changed.
  if ((await findNews(ctx.store.db)).length === 0) return;
  await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx.store, tx, [workspaceId]);
    for (const { id, platform_state, platform_reason } of await findNews(tx)) {
      await jobs.putLook(tx, workspaceId, id, { platform_state, platform_reason });
    }
    await refreshHealth(ctx, tx, [workspaceId]);
  });
}

/** Undefined when nothing can be said. */
function lookOf(connection: PlatformConnection | undefined, isWorkspaceActive: boolean) {
  if (!connection) return { platform_state: 'gone', platform_reason: null } as const;
  if (connection.status === 'active') return { platform_state: null, platform_reason: null };
  return isWorkspaceActive
    ? ({ platform_state: 'inactive', platform_reason: connection.statusReason ?? null } as const)
    : undefined;
}

/** By id. A workspace that the platform no longer has has none. */
async function connectionsOnPlatform(
  ctx: PipelinesContext,
  workspaceId: string,
): Promise<Map<string, PlatformConnection>> {
  try {
    const listed = await ctx.platform.listConnections(workspaceId);
    return new Map(listed.map((connection) => [connection.id, connection]));
  } catch (error) {
    if (error instanceof PlatformError && error.failure === 'not_found') return new Map();
    throw error;
  }
}

export async function startSync(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
  /** The request behind it, where that is another one than the cause of the changes. */
  askedBy: Cause = ctx.journal.cause,
  options: { fromStart?: string } = {},
): Promise<Job> {
  const row = await getConnection(ctx, scope, id);
  const workspace = await findLiveWorkspace(ctx.workspaces, scope.organizationId, scope.workspaceId);
  if (workspace?.isDeactivated !== false) throw new AppError('workspace_inactive');
  if (row.paused === 1) throw new AppError('connection_paused');
  await assertNotHeld(ctx.workspaces, scope.workspaceId, scope.audience);
  const last = await findLastJob(ctx.store.db, scope.workspaceId, id);
  const platformId = madeOnPlatform(row);
  const isCounted = await acceptSync(ctx.workspaces, scope, id, last?.started_at);
  const start = async () => {
    const job = await ctx.platform.startSync(platformId, options).catch((error: unknown) => {
      const isRefused = error instanceof PlatformError && error.failure === 'rejected';
      if (isRefused && options.fromStart !== undefined) throw new AppError('stream_not_refreshed');
      return unlessRefused(error);
    });
    if (job instanceof PlatformError || job === undefined) {
      // A platform gives the same answer for a deleted connection, for a busy one, and for a connection of someone
      // else.
      const onPlatform = await connectionsOnPlatform(ctx, scope.workspaceId);
      const connection = onPlatform.get(platformId);
      if (!connection) throw new AppError('platform_lost_connection');
      if (connection.status !== 'active') throw new AppError('connection_paused');
      throw job ?? new AppError('sync_already_running');
    }
    const started = await recordStarted(ctx, row, job, { askedBy, isCounted });
    // It was deleted meanwhile, and its job with it.
    if (!started) throw new AppError('connection_not_found');
    return presentJob(started, scope.audience);
  };
  try {
    return await callPlatform(start);
  } catch (error) {
    const mayHaveStarted = error instanceof AppError && error.cause instanceof PlatformError && !error.cause.settled;
    if (isCounted && !mayHaveStarted) await endStart(ctx.store.db, scope.workspaceId, id);
    throw error;
  }
}

/** The sync that has not ended is cancelled, whether it runs, waits for its turn or is to be tried again. */
export async function cancelSync(ctx: PipelinesContext, scope: Scope, id: string): Promise<Job> {
  const row = await getConnection(ctx, scope, id);
  const platformId = madeOnPlatform(row);
  return await callPlatform(async () => {
    // The platform knows best what runs at this moment.
    const [newest] = await ctx.platform.listJobs(platformId, { limit: 1, offset: 0 });
    const cancelled = newest && newest.endedAt === null ? await ctx.platform.cancelJob(newest.id) : undefined;
    const job = cancelled && (await recordStarted(ctx, row, cancelled));
    if (!job) throw new AppError('no_sync_running');
    return presentJob(job, scope.audience);
  });
}

export async function getOneConnection(ctx: PipelinesContext, scope: Scope, id: string): Promise<Connection> {
  const row = await getConnection(ctx, scope, id);
  const workspace = await findLiveWorkspace(ctx.workspaces, scope.organizationId, scope.workspaceId);
  const isActive = () => workspace?.status === 'active';
  const [shown] = await presentAll(ctx, [row], { audience: scope.audience, isActive });
  return shown as Connection;
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
  await getConnection(ctx, scope, id);
  const rows = await jobs.listJobsOfConnection(ctx.store.db, scope.workspaceId, id, page);
  const waitReasons = await readWaitReasons(ctx.store.db, rows);
  return rows.map((job) => presentJob(job, scope.audience, waitReasons));
}

/** Undefined when it is deleted, or its source is. */
export const { findConnection } = connections;

export async function getConnection(
  ctx: PipelinesContext,
  scope: Scope,
  id: string,
): Promise<connections.ConnectionWithNames> {
  const row = await findConnection(ctx.store.db, scope.workspaceId, id);
  if (row) return row;
  const elsewhere = await connections.findWorkspaceOfConnection(ctx.store.db, scope.organizationId, id);
  throw new AppError(elsewhere !== undefined ? 'forbidden' : 'connection_not_found');
}

function madeOnPlatform({ platform_id }: connections.ConnectionWithNames): string {
  if (platform_id === null) throw new AppError('connection_pending');
  return platform_id;
}

export async function callPlatform<T>(call: () => Promise<T>): Promise<T> {
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

const connectionLost: Reason = { code: 'connection_lost', parameters: {} };

function present(
  { runtime }: PipelinesContext,
  row: connections.ConnectionWithNames,
  {
    audience,
    isActive,
    last,
    waitReasons,
  }: { audience: Audience; isActive: boolean; last: JobRow | undefined; waitReasons: WaitReasons },
): Connection {
  const isGone = row.platform_state === 'gone';
  const isRunning = isActive && row.platform_state === null && row.paused === 0;
  const failure =
    audience === 'operator'
      ? (row.failure ?? row.destination_failure)
      : (row.customer_failure ?? row.destination_customer_failure);
  const reasons = row.failure === null ? row.destination_failure_reasons : row.failure_reasons;
  const isMade = row.is_set_up === 1;
  const isPaused = isMade && isActive && row.paused === 1;
  const shown: Reason | undefined =
    isMade && isGone ? connectionLost : isPaused ? { code: 'paused_by_operator', parameters: {} } : undefined;
  const isRefused = row.failure !== null || row.destination_failure !== null;
  const schedule = scheduleOf(row);
  const next = isRunning && schedule ? nextRuns(schedule, new Date(runtime.now()), 1)[0] : undefined;
  return {
    id: row.id,
    name: `${row.source_name} → ${row.destination_name}`,
    source_id: row.source_id,
    destination_name: row.destination_name,
    status: statusOf({ ...row, isWorkspaceActive: isActive, isRefused }),
    status_message: shown ? sayReason(shown, audience) : isMade ? null : failure,
    status_reason: shown ?? (isMade || failure === null ? null : (storedReasons(reasons)?.[audience] ?? null)),
    cron_expression: row.cron_expression,
    own_choice: [
      ...(row.own_schedule === 1 ? (['cron_expression'] as const) : []),
      ...(row.own_streams !== null ? (['streams'] as const) : []),
    ],
    applied: isMade && row.applied_version === row.version && row.applied_status_version === row.status_version,
    customer_may_change: mayChangeIn(row),
    slowed_cron_expression: row.slowed_cron,
    health: presentHealth(healthIn(row), audience),
    last_run: last ? presentJob(last, audience, waitReasons) : null,
    next_run_at: next?.toISOString() ?? null,
    created_at: isoTime(row.created_at),
    ...(audience === 'operator' && {
      template_version: presentRunning(row),
      destination_template_version: presentRunning({
        template_version: row.destination_template_version,
        applied_template_version: row.destination_applied_template_version,
      }),
    }),
  };
}
