/**
 * Writes down what the platform's jobs do, of all workspaces, as it happens. The bundled platform gives a sign at every
 * change; any platform is asked now and then for what has changed since. Runs in every replica; a lease lets one of them
 * read at a time.
 *
 * What always holds: how far was read is on disk, and only moves on once everything before is. So a process that is
 * killed leaves nothing out, and what it wrote twice is the same. A job that a list does not name proves nothing: a job that
 * has been silent for long is looked up by its id.
 */
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { ConnectionRow } from '../../kernel/db/tables.ts';
import type { PlatformJob } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { findLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import type { PipelinesContext } from '../context.ts';
import { keepLogs } from '../jobs/job-logs.worker.ts';
import { failureIn } from '../jobs/job-words.ts';
import {
  countEnded,
  holdHealth,
  type JobNews,
  recordJobs,
  refreshHealth,
  reviewQuotas,
  tellOfQuotas,
  type WordedJob,
  wordJobs,
} from '../jobs/jobs.ts';
import { recordSyncsEnded } from '../jobs/sync-entries.ts';
import { lookAtConnections } from './connections.ts';
import * as watch from './job-watch.worker.store.ts';

const leaseMs = 30_000;
const betweenSignsMs = 200;
const silentMs = 60_000;
/** A job that the platform does not have any more has ended somehow. */
const lostAfterMs = 3_600_000;
const lookEveryMs = 600_000;
const atATime = 20;
const historyLength = 100;

export interface JobWatch extends Repetition {
  /** Reads everything that has changed, unless another replica is reading. */
  pass(): Promise<void>;
  /** The platform has given a sign. */
  soon(): void;
}

export interface WatchOptions {
  everyMs: number;
  /** How far the clocks of the platform and of the database may differ, and how late a change may show in a list. */
  overlapMs: number;
}

export function createJobWatch(ctx: PipelinesContext, { everyMs, overlapMs }: WatchOptions): JobWatch {
  const stopping = new AbortController();
  let reading: Promise<void> | undefined;
  let isWanted = false;

  /** One read at a time, and one more after a sign that came meanwhile. Resolves when nothing more is wanted. */
  function read(): Promise<void> {
    isWanted = true;
    reading ??= readWhileWanted().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function readWhileWanted(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false;
      await readChanges(ctx, overlapMs);
      await keepLogs(ctx);
      // However many signs come, each look is worth some jobs.
      if (isWanted) await ctx.runtime.sleep(betweenSignsMs, stopping.signal);
    }
  }

  async function pass(): Promise<void> {
    try {
      await read();
      await readSilent(ctx);
      await readHistories(ctx);
      await look(ctx);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      ctx.log.debug({ err: error }, 'Failed to read jobs from the platform; will retry');
    }
  }

  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  const repetition = repeatedly(ctx, { what: 'Job watch', pauseMs, work: pass });
  return {
    pass,
    soon() {
      if (stopping.signal.aborted) return;
      ctx.background.run('Job watch', async () => {
        try {
          await read();
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
        }
      });
    },
    start: repetition.start,
    async stop() {
      stopping.abort();
      await repetition.stop();
    },
  };
}

async function readChanges(ctx: PipelinesContext, overlapMs: number): Promise<void> {
  const { db } = ctx.store;
  const leaseId = ctx.runtime.newId();
  const lease = await watch.leaseWatch(db, leaseId, leaseMs);
  if (!lease) return;
  try {
    // The clock may have been set back.
    const since = Math.min(lease.readUntil, lease.now) - overlapMs;
    for await (const page of ctx.platform.listChangedJobs(since)) {
      await record(ctx, page);
      if (!(await watch.leaseWatch(db, leaseId, leaseMs))) return;
    }
    await watch.putReadUntil(db, leaseId, lease.now);
  } finally {
    await watch.releaseWatch(db, leaseId);
  }
}

async function record(ctx: PipelinesContext, told: readonly PlatformJob[]): Promise<void> {
  const platformIds = [...new Set(told.map(({ connectionId }) => connectionId))];
  const found = await watch.findConnectionsByPlatformIds(ctx.store.db, platformIds);
  if (found.length === 0) return;
  tell(ctx, await recordOf(ctx, found, told));
}

async function recordOf(
  ctx: PipelinesContext,
  found: readonly ConnectionRow[],
  told: readonly PlatformJob[],
  isHistory = false,
): Promise<JobNews[]> {
  const worded = new Map<ConnectionRow, WordedJob[]>();
  for (const connection of found) {
    const ofConnection = told.filter(({ connectionId }) => connectionId === connection.platform_id);
    worded.set(connection, await wordJobs(ctx, connection, ofConnection));
  }
  const workspaceIds = [...new Set(found.map(({ workspace_id }) => workspace_id))];
  const { news, told: toTell } = await ctx.store.transaction(async (tx) => {
    await holdHealth(ctx.store, tx, workspaceIds);
    const news: JobNews[] = [];
    for (const [connection, jobs] of worded) {
      news.push(...(await recordJobs(ctx, tx, connection, jobs, isHistory)));
    }
    const told = await reviewQuotas(ctx, tx, news);
    await refreshHealth(ctx, tx, workspaceIds, { ids: found.map(({ id }) => id) });
    return { news, told };
  });
  tellOfQuotas(ctx, toTell);
  return news;
}

/** A line for each attempt that failed and for each job that ended, and the counts. */
function tell({ log, metrics }: PipelinesContext, news: readonly JobNews[]): void {
  for (const { connection, job, failedAttempts, hasEnded } of news) {
    const about = {
      workspaceId: connection.workspace_id,
      connectionId: connection.id,
      sourceId: connection.source_id,
      jobId: job.id,
    };
    for (const { number: attempt, failure } of failedAttempts) {
      const { kind, origin, message: error } = failure ?? {};
      log.warn({ ...about, attempt, kind, origin, error }, 'Sync attempt failed');
    }
    if (!hasEnded || job.ended_at === null) continue;
    const seconds = Math.max(0, (job.ended_at - job.started_at) / 1000);
    const { status, type, attempts, row_count: rows, byte_count: bytes, failure_kind, failure_origin, error } = job;
    const failure = status === 'failed' ? { kind: failure_kind, origin: failure_origin, error } : {};
    log.info({ ...about, type, status, seconds, attempts, rows, bytes, ...failure }, 'Sync ended');
    if (type !== 'sync' || (status !== 'failed' && status !== 'succeeded' && status !== 'cancelled')) continue;
    metrics.syncEnded(status, seconds, rows ?? 0);
  }
}

/** Asks for open jobs that were not reported for long. */
async function readSilent(ctx: PipelinesContext): Promise<void> {
  const { db } = ctx.store;
  for (const job of await watch.listSilentJobs(db, silentMs, atATime)) {
    const told = job.is_deleted === 1 ? undefined : await ctx.platform.findJob(job.platform_id);
    // A connection that is deleted takes its jobs along.
    const isOver = job.is_deleted === 1 || (told === undefined && job.now - job.started_at > lostAfterMs);
    await ctx.store.transaction(async (tx) => {
      const ended = await watch.putSilentJob(tx, job, isOver);
      for (const over of ended) await countEnded(tx, job.organization_id, over, job);
      const of = { organization_id: job.organization_id, workspace_id: job.workspace_id, id: job.connection_id };
      await recordSyncsEnded(ctx.journal, tx, of, ended, failureIn);
    });
    if (told) await record(ctx, [told]);
    else if (isOver) await refreshAll(ctx, job.workspace_id, job.connection_id);
  }
}

async function refreshAll(ctx: PipelinesContext, workspaceId: string, connectionId: string): Promise<void> {
  await ctx.store.transaction((tx) => refreshHealth(ctx, tx, [workspaceId], { ids: [connectionId] }));
}

/** What ran before this service kept jobs itself. It is no news. */
async function readHistories(ctx: PipelinesContext): Promise<void> {
  for (const connection of await watch.listWithoutHistory(ctx.store.db, atATime)) {
    const { platform_id } = connection;
    if (platform_id !== null && connection.deleted_at === null) {
      const told = await ctx.platform.listJobs(platform_id, { limit: historyLength, offset: 0 });
      await recordOf(ctx, [connection], told.toReversed(), true);
    }
    await watch.putHistoryRead(ctx.store.db, connection.id);
  }
}

/** Whether the platform still has what it should, and nobody has disabled it there. */
async function look(ctx: PipelinesContext): Promise<void> {
  const { db } = ctx.store;
  for (const { organizationId, workspaceId } of await watch.listWorkspacesToLookAt(db, lookEveryMs, atATime)) {
    const workspace = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
    await watch.putLookedAt(db, workspaceId);
    if (workspace) await lookAtConnections(ctx, workspace);
  }
}

export interface SyncState {
  waiting: number;
  running: number;
  oldestWaitingMs: number | null;
  byHealth: Partial<Record<string, number>>;
}

/** For the whole deployment: metrics and the command line show it. */
export async function readSyncState({ db }: Pick<Store, 'db'>): Promise<SyncState> {
  return { ...(await watch.readOpenJobs(db)), byHealth: await watch.countByHealth(db) };
}
