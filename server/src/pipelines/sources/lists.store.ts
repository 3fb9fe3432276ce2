/**
 * Pages over all workspaces of an organization. Each way to narrow a list has an index that ends in the sort key, so a
 * page costs the same however long the list is.
 */

import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { ConnectionStatus } from '@inlay/contract/pipelines/connections';
import { type Audience, type HealthState, healthStates } from '@inlay/contract/pipelines/health';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Position } from '../../kernel/db/list-cursor.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, JobRow, SourceRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import type { ConnectionWithNames } from '../connections.store.ts';
import { isStaleNow, notLeaving } from '../row-conditions.ts';

export interface Slice {
  /** By the end of jobs instead of their start: only jobs that have ended, and `from` and `until` are about the end. */
  isByEnd?: boolean;
  after: Position | undefined;
  isNewestFirst: boolean;
  limit: number;
  from: number | undefined;
  until: number | undefined;
}

export interface ListFilter {
  workspaceId?: string | undefined;
  sourceTemplateId?: string | undefined;
  connectionTemplateId?: string | undefined;
  definitionId?: string | undefined;
  sourceId?: string | undefined;
  connectionId?: string | undefined;
  health?: HealthState | undefined;
  status?: JobRow['status'] | ConnectionStatus | WorkspaceStatus | undefined;
  cause?: string | undefined;
  attentionBy?: Audience | undefined;
}

type Listed = 'connections' | 'sources' | 'jobs';
const columns = {
  workspaceId: 'workspace_id',
  sourceTemplateId: 'source_template_id',
  connectionTemplateId: 'connection_template_id',
  definitionId: 'definition_id',
  sourceId: 'source_id',
  connectionId: 'connection_id',
  health: 'health',
  status: 'status',
  cause: 'cause',
  attentionBy: 'attention_by',
} as const satisfies Record<keyof ListFilter, string>;

/**
 * What has few rows, the fewest first. The list is found by this alone: SQLite does not know how many rows a condition
 * leaves, and would look for the failed jobs of a source among the failed jobs of everybody.
 */
const narrowest = ['connectionId', 'sourceId', 'workspaceId'] as const;

/** The condition and the order of a page, for any of the tables. */
function sliced<Database, Joined extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Joined, Row>,
  table: Listed,
  organizationId: string,
  filter: ListFilter,
  { after, isNewestFirst, limit, from, until, isByEnd = false }: Slice,
  sortedBy?: string,
): SelectQueryBuilder<Database, Joined, Row> {
  const column = (name: string) => sql.ref<unknown>(`${table}.${name}`);
  // In the words of `jobs_ended`, which differ from those of `jobs_ended_by_status`: so SQLite cannot mistake one for the other.
  const end = filter.status === undefined ? sql<unknown>`coalesce(${column('ended_at')}, -1)` : column('ended_at');
  const start = column(table === 'jobs' ? 'started_at' : 'created_at');
  const time = isByEnd ? end : start;
  const key = sortedBy === undefined ? time : column(sortedBy);
  const narrow = narrowest.find((name) => filter[name] !== undefined);
  const is = (name: string, value: unknown, isFound: boolean) =>
    isFound
      ? sql<boolean>`${column(name)} = ${value}`
      : sql<boolean>`coalesce(${column(name)}, ${column(name)}) = ${value}`;
  let page = query.where(is('organization_id', organizationId, narrow === undefined));
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    page = page.where(is(columns[name as keyof ListFilter], value, narrow === undefined || narrow === name));
  }
  if (isByEnd) page = page.where(sql<boolean>`${column('ended_at')} is not null`);
  // Likely, so that SQLite does not take a period for shorter than what the filter leaves, and read all of it.
  if (from !== undefined) page = page.where(sql<boolean>`likely(${time} >= ${from})`);
  if (until !== undefined) page = page.where(sql<boolean>`likely(${time} < ${until})`);
  const than = isNewestFirst ? sql`<` : sql`>`;
  if (after) page = page.where(sql<boolean>`(${key}, ${column('id')}) ${than} (${after.time}, ${after.id})`);
  const direction = isNewestFirst ? 'desc' : 'asc';
  return page.orderBy(key, direction).orderBy(column('id'), direction).limit(limit);
}

export type ListedConnection = ConnectionWithNames & {
  workspace_name: string;
  workspace_status: WorkspaceRow['status'];
};

export async function listConnectionPage(
  db: Db,
  organizationId: string,
  { isStale = false, ...filter }: ListFilter & { isStale?: boolean },
  slice: Slice,
): Promise<ListedConnection[]> {
  const query = db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .innerJoin('destinations', 'destinations.id', 'connections.destination_id')
    .innerJoin('workspaces', 'workspaces.id', 'connections.workspace_id')
    .selectAll('connections')
    .select([
      'sources.name as source_name',
      'destinations.name as destination_name',
      'destinations.failure as destination_failure',
      'destinations.customer_failure as destination_customer_failure',
      'destinations.failure_reasons as destination_failure_reasons',
      'destinations.template_version as destination_template_version',
      'destinations.applied_template_version as destination_applied_template_version',
      'workspaces.name as workspace_name',
      sql<
        WorkspaceRow['status']
      >`case when workspaces.held_since is null then workspaces.status else 'inactive' end`.as('workspace_status'),
    ])
    .where('connections.deleted_at', 'is', null)
    .where('connections.is_leaving', '=', notLeaving);
  if (!isStale) return await sliced(query, 'connections', organizationId, filter, slice).execute();
  const stale = query.where(isStaleNow);
  return await sliced(stale, 'connections', organizationId, filter, slice, 'stale_at').execute();
}

export async function listSourcePage(
  db: Db,
  organizationId: string,
  filter: ListFilter,
  slice: Slice,
): Promise<SourceRow[]> {
  const query = db
    .selectFrom('sources')
    .selectAll('sources')
    .where('sources.deleted_at', 'is', null)
    .where('sources.lifecycle', '=', 'live');
  return await sliced(query, 'sources', organizationId, filter, slice).execute();
}

/** As `jobs_failing` has it: the database takes that index only for the same words. */
const failingJob = sql<boolean>`(jobs.status = 'failed' or (jobs.ended_at is null and jobs.failed_attempts > 0))`;

/** As `jobs_waiting` has it. */
const waitingJob = sql<boolean>`(jobs.ended_at is null and jobs.status <> 'running')`;

export type ListedJob = JobRow & { workspace_name: string };

export async function listJobPage(
  db: Db,
  organizationId: string,
  { isFailing, isWaiting = false, ...filter }: ListFilter & { isFailing: boolean; isWaiting?: boolean },
  slice: Slice,
): Promise<ListedJob[]> {
  const isNarrow = narrowest.some((name) => filter[name] !== undefined);
  const query = db
    .selectFrom('jobs')
    .innerJoin('workspaces', 'workspaces.id', 'jobs.workspace_id')
    .selectAll('jobs')
    .select('workspaces.name as workspace_name')
    .$if(isFailing, (jobs) => jobs.where(isNarrow ? sql<boolean>`coalesce(${failingJob}, ${failingJob})` : failingJob))
    .$if(isWaiting, (jobs) => jobs.where(isNarrow ? sql<boolean>`coalesce(${waitingJob}, ${waitingJob})` : waitingJob));
  return await sliced(query, 'jobs', organizationId, filter, slice).execute();
}

/** How many connections of each workspace have which health, of these healths. */
export async function countHealths(
  db: Db,
  workspaceIds: readonly string[],
  healths: readonly HealthState[] = healthStates,
): Promise<{ workspace_id: string; health: HealthState; count: number }[]> {
  if (workspaceIds.length === 0) return [];
  const rows = await db
    .selectFrom('connections')
    .select(['workspace_id', 'health', ({ fn }) => fn.countAll<number>().as('count')])
    .where('workspace_id', 'in', workspaceIds)
    .where('health', 'in', healths)
    .where('deleted_at', 'is', null)
    .where('is_leaving', '=', notLeaving)
    .groupBy(['workspace_id', 'health'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** The worst connections of each workspace. */
export async function listWorstHealths(
  db: Db,
  workspaceIds: readonly string[],
): Promise<Pick<ConnectionRow, 'workspace_id' | 'health' | 'health_detail' | 'unwell_since'>[]> {
  if (workspaceIds.length === 0) return [];
  return await db
    .selectFrom('workspaces')
    .innerJoin('connections', (join) =>
      join
        .onRef('connections.workspace_id', '=', 'workspaces.id')
        .onRef('connections.health', '=', 'workspaces.health')
        .on('connections.deleted_at', 'is', null)
        .on('connections.is_leaving', '=', notLeaving),
    )
    .select(['connections.workspace_id', 'connections.health', 'connections.health_detail', 'connections.unwell_since'])
    .where('workspaces.id', 'in', workspaceIds)
    .orderBy('connections.created_at')
    .orderBy('connections.id')
    .execute();
}

/** The newest of that id: a deployment that has changed its platform may have two. */
export async function findJob(db: Db, organizationId: string, id: string): Promise<ListedJob | undefined> {
  return await db
    .selectFrom('jobs')
    .innerJoin('workspaces', 'workspaces.id', 'jobs.workspace_id')
    .selectAll('jobs')
    .select('workspaces.name as workspace_name')
    .where('jobs.organization_id', '=', organizationId)
    .where('jobs.id', '=', id)
    .where('workspaces.lifecycle', '=', 'live')
    // Not the column alone: SQLite would read all jobs in this order until it meets the id.
    .orderBy(sql`coalesce(jobs.started_at, 0)`, 'desc')
    .executeTakeFirst();
}

/** The last success of the same connection that began before a job. */
export async function findGoodBefore(
  db: Db,
  organizationId: string,
  { connection_id, started_at, workspace_name }: Pick<ListedJob, 'connection_id' | 'started_at' | 'workspace_name'>,
): Promise<ListedJob | undefined> {
  const found = await db
    .selectFrom('jobs')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', connection_id)
    .where('status', '=', 'succeeded')
    .where('started_at', '<', started_at)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found && { ...found, workspace_name };
}

/** The connections of some sources: the health of a source is the worst of theirs. */
export async function listHealths(
  db: Db,
  workspaceIds: readonly string[],
  sourceIds: readonly string[],
): Promise<Pick<ConnectionRow, 'source_id' | 'health' | 'health_detail' | 'unwell_since'>[]> {
  if (sourceIds.length === 0) return [];
  return await db
    .selectFrom('connections')
    .select(['source_id', 'health', 'health_detail', 'unwell_since'])
    .where('workspace_id', 'in', workspaceIds)
    .where('source_id', 'in', sourceIds)
    .where('deleted_at', 'is', null)
    .execute();
}
