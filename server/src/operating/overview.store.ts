/**
 * The SQL of the overview. Its cost does not grow with the number of workspaces, connections and jobs:
 * - `health_counts` is kept by triggers, in a few rows for each state (db/migrations.ts);
 * - `workspaces_unwell` and `jobs_open_of_organization` are indexes of what is unwell and what has not ended, and of
 *   nothing else;
 * - `connections_by_cause` and `connections_stale` are such indexes too, and only so many entries of them are counted;
 * - `job_hours` has three rows for an hour, found by their key; days are summed up by the database.
 */
import type { HealthState } from '@inlay/contract/pipelines/health';
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { ConnectionRow, JobRow } from '../kernel/db/tables.ts';
import { isStaleNow, notLeaving } from '../pipelines/row-conditions.ts';

export interface HealthCount {
  kind: 'connections' | 'sources' | 'workspaces';
  health: HealthState;
  count: number;
}

export async function countByHealth(db: Db, organizationId: string): Promise<HealthCount[]> {
  const rows = await db
    .selectFrom('health_counts')
    .select(({ fn }) => ['kind', 'health', fn.sum<number>('count').as('count')])
    .where('organization_id', '=', organizationId)
    .groupBy(['kind', 'health'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export interface Unwell {
  id: string;
  name: string;
  health: 'failing' | 'needs_attention';
  unwell_since: number;
}

/** The longest unwell first. */
export async function listUnwell(
  db: Db,
  organizationId: string,
  health: Unwell['health'],
  limit: number,
): Promise<Unwell[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'unwell_since'])
    .where('organization_id', '=', organizationId)
    .where('health', '=', health)
    .where('unwell_since', 'is not', null)
    .where('lifecycle', '<>', sql.lit('deleted'))
    .orderBy('unwell_since')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, name, unwell_since }) => ({ id, name, health, unwell_since: unwell_since ?? 0 }));
}

const unwellColumns = [
  'connections.id',
  'connections.workspace_id',
  'connections.health',
  'connections.health_detail',
  'connections.unwell_since',
  'connections.source_id',
  'sources.name as source_name',
] as const;

export type UnwellConnection = Pick<
  ConnectionRow,
  'id' | 'workspace_id' | 'health' | 'health_detail' | 'unwell_since' | 'source_id'
> & { source_name: string; job_id: string | null };

/** The latest job that failed, or is running after a failed attempt. */
const jobThatFailed = sql<string | null>`coalesce(
  (select case when newest.ended_at is null and newest.failed_attempts > 0 then newest.id end
    from jobs as newest where newest.connection_id = connections.id
    order by newest.started_at desc, length(newest.platform_id) desc, newest.platform_id desc limit 1),
  (select failed.id from jobs as failed where failed.connection_id = connections.id and failed.status = 'failed'
    order by failed.started_at desc, length(failed.platform_id) desc, failed.platform_id desc limit 1))`.as('job_id');

/** One unwell connection per workspace: the oldest failing one or, if none fails, the oldest that needs attention. */
export async function findFirstUnwell(db: Db, workspaceIds: readonly string[]): Promise<UnwellConnection[]> {
  if (workspaceIds.length === 0) return [];
  const first = sql<string>`(
    select first.id from connections as first
    where first.workspace_id = workspaces.id and first.deleted_at is null and first.is_leaving = 0
      and first.health in ('failing', 'needs_attention')
    order by first.health, first.created_at, first.id limit 1)`;
  return await db
    .selectFrom('workspaces')
    .innerJoin('connections', (join) => join.on('connections.id', '=', first))
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .select(unwellColumns)
    .select(jobThatFailed)
    .where('workspaces.id', 'in', workspaceIds)
    .execute();
}

/** No more is counted at once, so that an overview costs the same in the worst of outages. */
export const countedAtMost = 100_000;

export interface CauseCount {
  cause: string;
  attention_by: ConnectionRow['attention_by'];
  count: number;
  since: number | null;
}

/** In the index alone: it holds what is unwell and nothing else. */
export async function countCauses(db: Db, organizationId: string): Promise<CauseCount[]> {
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom('connections')
        .select(['cause', 'attention_by', 'unwell_since'])
        .where('organization_id', '=', organizationId)
        .where('cause', 'is not', null)
        .where('deleted_at', 'is', null)
        .where('is_leaving', '=', notLeaving)
        .orderBy('cause')
        .limit(countedAtMost)
        .as('unwell'),
    )
    .select(['cause', 'attention_by', ({ fn }) => fn.countAll<number>().as('count')])
    .select(({ fn }) => fn.min('unwell_since').as('since'))
    .groupBy(['cause', 'attention_by'])
    .execute();
  return rows.map(({ cause, attention_by, count, since }) => ({
    cause: cause ?? '',
    attention_by,
    count: Number(count),
    since: since === null ? null : Number(since),
  }));
}

/** As the list has them. */
export async function listOfCause(
  db: Db,
  organizationId: string,
  cause: string,
  limit: number,
): Promise<(UnwellConnection & { workspace_name: string })[]> {
  return await db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .innerJoin('workspaces', 'workspaces.id', 'connections.workspace_id')
    .select(unwellColumns)
    .select('workspaces.name as workspace_name')
    .select(jobThatFailed)
    .where('connections.organization_id', '=', organizationId)
    .where('connections.cause', '=', cause)
    .where('connections.deleted_at', 'is', null)
    .where('connections.is_leaving', '=', notLeaving)
    .orderBy('connections.created_at')
    .orderBy('connections.id')
    .limit(limit)
    .execute();
}

export async function countStale(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom((from) =>
      from
        .selectFrom('connections')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where(isStaleNow)
        .where('deleted_at', 'is', null)
        .where('is_leaving', '=', notLeaving)
        .orderBy('stale_at')
        .limit(countedAtMost)
        .as('stale'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Jobs that have not ended. */
export async function readQueue(
  db: Db,
  organizationId: string,
): Promise<{ waiting: number; running: number; oldestWaitingAt: number | null }> {
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom('jobs')
        .select(['status', 'started_at'])
        .where('organization_id', '=', organizationId)
        .where('ended_at', 'is', null)
        .limit(countedAtMost)
        .as('open'),
    )
    .select(({ fn }) => ['status', fn.countAll<number>().as('count'), fn.min('started_at').as('oldest')])
    .groupBy('status')
    .execute();
  const waiting = rows.filter(({ status }) => status !== 'running');
  const sum = (some: typeof rows) => some.reduce((total, { count }) => total + Number(count), 0);
  return {
    waiting: sum(waiting),
    running: sum(rows) - sum(waiting),
    oldestWaitingAt: waiting.length === 0 ? null : Math.min(...waiting.map(({ oldest }) => Number(oldest))),
  };
}

export interface EndedInHour {
  hour: number;
  status: JobRow['status'];
  jobs: number;
  row_count: number;
  byte_count: number;
}

export async function listHours(db: Db, organizationId: string, from: number): Promise<EndedInHour[]> {
  return await db
    .selectFrom('job_hours')
    .select(['hour', 'status', 'jobs', 'row_count', 'byte_count'])
    .where('organization_id', '=', organizationId)
    .where('hour', '>=', from)
    .execute();
}

/** The same, with the sums of whole days: `hour` is the beginning of the day, in UTC. */
export async function listDays(db: Db, organizationId: string, from: number): Promise<EndedInHour[]> {
  const day = sql<number>`hour - hour % 86400000`;
  return await db
    .selectFrom('job_hours')
    .select(({ fn }) => [
      day.as('hour'),
      'status',
      fn.sum<number>('jobs').as('jobs'),
      fn.sum<number>('row_count').as('row_count'),
      fn.sum<number>('byte_count').as('byte_count'),
    ])
    .where('organization_id', '=', organizationId)
    .where('hour', '>=', from)
    .groupBy([day, 'status'])
    .execute();
}
