/** The SQL of `jobs`, and of the health that follows from them. */
import type { HealthState } from '@inlay/contract/pipelines/health';
import { type SelectQueryBuilder, sql } from 'kysely';
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, JobRow, Tables } from '../kernel/db/tables.ts';

/** In one order, so that two transactions do not wait for each other. What refers to a workspace may still be added. */
export async function lockWorkspaces(tx: Db, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  await tx
    .selectFrom('workspaces')
    .select('id')
    .where('id', 'in', workspaceIds)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Until the transaction ends, nobody else works out the health of these. On SQLite a transaction is alone anyway. */
export async function lockConnections(
  tx: Db,
  workspaceIds: readonly string[],
  which: { ids?: readonly string[]; sourceId?: string; isPostgres: boolean },
): Promise<ConnectionRow[]> {
  if (workspaceIds.length === 0 || which.ids?.length === 0) return [];
  let found = tx
    .selectFrom('connections')
    .selectAll()
    .where('workspace_id', 'in', workspaceIds)
    .where('deleted_at', 'is', null)
    .orderBy('id');
  if (which.ids) found = found.where('id', 'in', which.ids);
  if (which.sourceId !== undefined) found = found.where('source_id', '=', which.sourceId);
  return await (which.isPostgres ? found.forNoKeyUpdate() : found).execute();
}

/** By their ids on the platform. */
export async function findJobs(tx: Db, workspaceId: string, connectionId: string, ids: string[]): Promise<JobRow[]> {
  return await tx
    .selectFrom('jobs')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('platform_id', 'in', ids)
    .execute();
}

type ToldJob = Omit<JobRow, 'organization_id' | 'workspace_id' | 'seen_at'>;

export async function putJob(tx: Db, organizationId: string, workspaceId: string, job: ToldJob): Promise<void> {
  const { id, ...rest } = job;
  const told = { ...rest, organization_id: organizationId, workspace_id: workspaceId, seen_at: now };
  await tx
    .insertInto('jobs')
    .values({ id, ...told })
    .onConflict((conflict) => conflict.columns(['connection_id', 'platform_id']).doUpdateSet(told))
    .execute();
}

/** A sync of the workspace has started or ended. */
export async function putActivity(tx: Db, workspaceId: string, at: number): Promise<void> {
  await tx
    .updateTable('workspaces')
    .set({ active_at: at })
    .where('id', '=', workspaceId)
    .where('active_at', '<', at)
    .execute();
}

export async function putAsker(
  tx: Db,
  workspaceId: string,
  { connectionId, jobId }: { connectionId: string; jobId: string },
  { requestId, traceId }: { requestId: string | null; traceId: string | null },
): Promise<void> {
  await tx
    .updateTable('jobs')
    .set({ request_id: requestId, trace_id: traceId })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('platform_id', '=', jobId)
    .execute();
}

/**
 * Keeps the sums of hours right: the job counts as it is now, and no longer as it was before. A platform may report an
 * ended job again, with another number of rows.
 */
export async function countEnded(
  tx: Db,
  organizationId: string,
  after: CountedJob,
  before: CountedJob | undefined,
): Promise<void> {
  const isSame =
    before !== undefined &&
    (['status', 'ended_at', 'row_count', 'byte_count'] as const).every((column) => before[column] === after[column]);
  if (isSame) return;
  if (before && before.ended_at !== null) await addToHour(tx, organizationId, before, -1);
  if (after.ended_at !== null) await addToHour(tx, organizationId, after, 1);
}

type CountedJob = Pick<JobRow, 'status' | 'ended_at' | 'row_count' | 'byte_count'>;

async function addToHour(tx: Db, organizationId: string, job: CountedJob, times: 1 | -1): Promise<void> {
  const { status, ended_at, row_count, byte_count } = job;
  await tx
    .insertInto('job_hours')
    .values({
      organization_id: organizationId,
      hour: Math.floor((ended_at ?? 0) / 3_600_000) * 3_600_000,
      status,
      jobs: times,
      row_count: times * (row_count ?? 0),
      byte_count: times * (byte_count ?? 0),
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'hour', 'status']).doUpdateSet({
        jobs: sql<number>`job_hours.jobs + excluded.jobs`,
        row_count: sql<number>`job_hours.row_count + excluded.row_count`,
        byte_count: sql<number>`job_hours.byte_count + excluded.byte_count`,
      }),
    )
    .execute();
}

function ofConnection(db: Db, workspaceId: string, connectionId: string) {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId);
}

/**
 * Platforms report start times in whole seconds, so several jobs may share one. Ids are numbers that count up, kept as text:
 * 10 comes after 9.
 */
function inOrder<T>(jobs: SelectQueryBuilder<Tables, 'jobs', T>, direction: 'asc' | 'desc') {
  return jobs
    .orderBy('started_at', direction)
    .orderBy(sql`length(platform_id)`, direction)
    .orderBy('platform_id', direction);
}

function newestFirst<T>(jobs: SelectQueryBuilder<Tables, 'jobs', T>) {
  return inOrder(jobs, 'desc');
}

const isNewerThan = ({ started_at, platform_id: id }: JobRow) =>
  sql<boolean>`started_at >= ${started_at} and (started_at > ${started_at} or length(platform_id) > ${id.length} or (length(platform_id) = ${id.length} and platform_id > ${id}))`;

/** What the health of a connection is worked out from: its open job, its last success, the failures since then. */
export async function findOutcomes(db: Db, workspaceId: string, connectionId: string) {
  const jobs = () => ofConnection(db, workspaceId, connectionId);
  const good = await newestFirst(jobs().where('status', '=', 'succeeded'))
    .limit(1)
    .executeTakeFirst();
  const failed = jobs()
    .where('status', '=', 'failed')
    .where(good ? isNewerThan(good) : sql<boolean>`1 = 1`);
  const last = await newestFirst(failed).limit(1).executeTakeFirst();
  const first = last && (await inOrder(failed, 'asc').limit(1).executeTakeFirst());
  const { count } = await failed
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const newest = await newestFirst(jobs()).limit(1).executeTakeFirst();
  const open = newest?.ended_at === null ? newest : undefined;
  return { good, failed: first && last && { first, last, count: Number(count) }, open };
}

export async function putHealth(
  tx: Db,
  workspaceId: string,
  id: string,
  health: Pick<ConnectionRow, 'health' | 'health_detail' | 'status' | 'cause' | 'attention_by' | 'stale_at'>,
  /** Since when it is unwell, where that is known. */
  since: number | null,
): Promise<void> {
  const unwellSince = since ?? sql<number>`coalesce(unwell_since, now_ms())`;
  await tx
    .updateTable('connections')
    .set({ ...health, unwell_since: health.cause === null ? null : unwellSince })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function putNeedsAttention(
  tx: Db,
  workspaceId: string,
  sourceId: string,
  needs_attention: number,
): Promise<void> {
  await tx
    .updateTable('sources')
    .set({ needs_attention })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', sourceId)
    .execute();
}

export async function putSourceHealth(
  tx: Db,
  workspaceId: string,
  sourceId: string,
  health: HealthState,
): Promise<void> {
  await tx
    .updateTable('sources')
    .set({ health })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', sourceId)
    .where('health', '!=', health)
    .execute();
}

/** Which healths the connections of a workspace have, each once. */
export async function listHealthsOfWorkspace(tx: Db, workspaceId: string): Promise<HealthState[]> {
  const rows = await tx
    .selectFrom('connections')
    .select('health')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where('is_leaving', '=', 0)
    .execute();
  return rows.map(({ health }) => health);
}

export async function putWorkspaceHealth(tx: Db, workspaceId: string, health: HealthState): Promise<void> {
  const isUnwell = health === 'failing' || health === 'needs_attention';
  await tx
    .updateTable('workspaces')
    .set({ health, unwell_since: isUnwell ? sql<number>`coalesce(unwell_since, now_ms())` : null })
    .where('id', '=', workspaceId)
    .where('health', '!=', health)
    .execute();
}

/** What the platform said of a connection; `null` when it is as it should be. */
export async function putLook(
  tx: Db,
  workspaceId: string,
  id: string,
  look: Pick<ConnectionRow, 'platform_state' | 'platform_reason'>,
): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ ...look, looked_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Platform ids of connections with a sync that began before this time and is still running. */
export async function listSyncing(db: Db, workspaceId: string, before: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('connections', 'connections.id', 'jobs.connection_id')
    .select('connections.platform_id')
    .where('jobs.workspace_id', '=', workspaceId)
    .where('jobs.ended_at', 'is', null)
    .where('jobs.status', 'in', ['running', 'incomplete'])
    .where('jobs.started_at', '<', before)
    .execute();
  return rows.flatMap(({ platform_id }) => (platform_id === null ? [] : [platform_id]));
}

/** The newest of each connection that has any. */
export async function findLastJobs(
  db: Db,
  workspaceIds: readonly string[],
  connectionIds: string[],
): Promise<JobRow[]> {
  if (connectionIds.length === 0) return [];
  const newest = sql<string>`(
    select id from jobs as newer where newer.connection_id = connections.id order by started_at desc, length(platform_id) desc, platform_id desc limit 1)`;
  return await db
    .selectFrom('connections')
    .innerJoin('jobs', (join) => join.onRef('jobs.connection_id', '=', 'connections.id').on('jobs.id', '=', newest))
    .selectAll('jobs')
    .where('connections.id', 'in', connectionIds)
    .where('connections.workspace_id', 'in', workspaceIds)
    .execute();
}

/** Newest first. */
export async function listJobsOfConnection(
  db: Db,
  workspaceId: string,
  connectionId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<JobRow[]> {
  return await newestFirst(ofConnection(db, workspaceId, connectionId))
    .limit(limit)
    .offset(offset)
    .execute();
}
