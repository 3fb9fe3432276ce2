/**
 * What operators see of all their customers: connections, sources and jobs of every workspace, page by page, and single
 * jobs. Everything comes from our own tables: no list asks the platform.
 */

import { healthStates } from '@inlay/contract/pipelines/health';
import type {
  JobDetail,
  ListAllJobsQuery,
  ListConnectionsQuery,
  ListSourcesQuery,
  OperatorConnection,
  OperatorJob,
  WorkspaceHealth,
} from '@inlay/contract/pipelines/operating';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { decodePosition, encodePosition, type Position } from '../../kernel/db/list-cursor.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { WaitReasons } from '../../tenancy/quotas/holds.ts';
import { getWorkspace } from '../../tenancy/workspaces/workspaces.ts';
import { listConnections, presentAll } from '../connections/connections.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import {
  attemptsIn,
  failureIn,
  firstErrorIn,
  healthIn,
  presentFailure,
  presentHealth,
  presentJob,
  readWaitReasons,
  rowPointsIn,
} from '../jobs/job-words.ts';
import * as lists from './lists.store.ts';
import { presentSummaries } from './sources.ts';

/** What jobs are read with: the command line has no more. */
interface ListContext {
  store: Store;
}

export interface Page<T> {
  data: T[];
  /** The cursor of the next page. */
  next: string | undefined;
}

export async function listAllConnections(
  ctx: PipelinesContext,
  organizationId: string,
  query: ListConnectionsQuery,
): Promise<Page<OperatorConnection>> {
  await assertWorkspace(ctx, organizationId, query.workspace_id);
  const { connection_template_id: connectionTemplateId, health, status, cause, attention_by: attentionBy } = query;
  const isStale = query.stale === 'true';
  const filter = { ...filterOf(query), connectionTemplateId, health, status, cause, attentionBy, isStale };
  const slice = sliceOf(
    query,
    { from: query.created_after, until: query.created_before },
    query.sort === '-created_at' && !isStale,
  );
  const rows = await lists.listConnectionPage(ctx.store.db, organizationId, filter, slice);
  const page = pageOf(rows, slice.limit, ({ created_at, stale_at, id }) => ({
    time: isStale ? (stale_at ?? 0) : created_at,
    id,
  }));
  return { ...page, data: await presentConnections(ctx, page.data) };
}

/** All at once, as the platform has them now. */
export async function listConnectionsOfWorkspace(
  ctx: PipelinesContext,
  organizationId: string,
  workspaceId: string,
): Promise<OperatorConnection[]> {
  await listConnections(ctx, { organizationId, workspaceId, audience: 'operator' });
  const everything = {
    after: undefined,
    isNewestFirst: false,
    limit: maxOfWorkspace,
    from: undefined,
    until: undefined,
  };
  const rows = await lists.listConnectionPage(ctx.store.db, organizationId, { workspaceId }, everything);
  return await presentConnections(ctx, rows);
}

/** A platform takes no more. */
const maxOfWorkspace = 10_000;

async function presentConnections(
  ctx: PipelinesContext,
  rows: readonly lists.ListedConnection[],
): Promise<OperatorConnection[]> {
  const now = await ctx.store.now();
  const active = new Set(rows.filter((row) => row.workspace_status === 'active').map(({ id }) => id));
  const shown = await presentAll(ctx, rows, { audience: 'operator', isActive: ({ id }) => active.has(id) });
  return rows.map((row, index) => ({
    ...(shown[index] as (typeof shown)[number]),
    workspace_id: row.workspace_id,
    workspace_name: row.workspace_name,
    source_template_id: row.source_template_id,
    connection_template_id: row.connection_template_id,
    cause: row.cause,
    stale_since: row.stale_at !== null && row.stale_at <= now ? isoTime(row.stale_at) : null,
  }));
}

export async function listAllSources(
  ctx: PipelinesContext,
  organizationId: string,
  query: ListSourcesQuery,
): Promise<Page<SourceSummary>> {
  await assertWorkspace(ctx, organizationId, query.workspace_id);
  const slice = sliceOf(
    query,
    { from: query.created_after, until: query.created_before },
    query.sort === '-created_at',
  );
  const filter = { ...filterOf(query), health: query.health };
  const rows = await lists.listSourcePage(ctx.store.db, organizationId, filter, slice);
  const page = pageOf(rows, slice.limit, ({ created_at, id }) => ({ time: created_at, id }));
  return { ...page, data: await presentSummaries(ctx, page.data, 'operator') };
}

export async function listAllJobs(
  ctx: ListContext,
  organizationId: string,
  query: ListAllJobsQuery,
): Promise<Page<OperatorJob>> {
  await assertWorkspace(ctx, organizationId, query.workspace_id);
  const { connection_template_id: connectionTemplateId, source_id: sourceId, connection_id: connectionId } = query;
  const filter = {
    ...filterOf(query),
    connectionTemplateId,
    sourceId,
    connectionId,
    status: query.status,
    isFailing: query.failing === 'true',
    isWaiting: query.waiting === 'true',
  };
  const isByEnd = query.ended_after !== undefined || query.ended_before !== undefined;
  // A list has one order, and an index for it.
  if (isByEnd && (query.started_after !== undefined || query.started_before !== undefined)) {
    const msg = 'filter jobs by when they started or by when they ended, not both';
    throw invalidRequest({ loc: ['query', 'ended_after'], msg, type: 'value_error' });
  }
  const period = isByEnd
    ? { from: query.ended_after, until: query.ended_before }
    : { from: query.started_after, until: query.started_before };
  const slice = { ...sliceOf(query, period, query.sort !== 'started_at'), isByEnd };
  const rows = await lists.listJobPage(ctx.store.db, organizationId, filter, slice);
  const page = pageOf(rows, slice.limit, ({ started_at, ended_at, id }) => ({
    time: isByEnd ? (ended_at ?? 0) : started_at,
    id,
  }));
  const waitReasons = await readWaitReasons(ctx.store.db, page.data);
  return { ...page, data: page.data.map((job) => presentListedJob(job, waitReasons)) };
}

/** In a place of its own: the fields of a workspace are given. */
export async function getWorkspaceHealth(
  ctx: PipelinesContext,
  organizationId: string,
  workspaceId: string,
): Promise<WorkspaceHealth> {
  const workspace = await getWorkspace(ctx.workspaces, organizationId, workspaceId);
  const healths = await healthsOfWorkspaces(ctx, [workspace]);
  return { workspace_id: workspace.id, ...healths(workspace.id) };
}

export async function healthsOfWorkspaces(ctx: ListContext, rows: readonly { id: string }[]) {
  const ids = rows.map(({ id }) => id);
  const worst = await lists.listWorstHealths(ctx.store.db, ids);
  const counted = await lists.countHealths(ctx.store.db, ids);
  return (id: string): Omit<WorkspaceHealth, 'workspace_id'> => {
    const counts = Object.fromEntries(healthStates.map((state) => [state, 0])) as WorkspaceHealth['connections'];
    for (const { workspace_id, health, count } of counted) if (workspace_id === id) counts[health] = count;
    // Several are equally bad: take the first to fail.
    const [first] = worst
      .filter(({ workspace_id }) => workspace_id === id)
      .map(healthIn)
      .toSorted((a, b) => (a.since ?? Number.POSITIVE_INFINITY) - (b.since ?? Number.POSITIVE_INFINITY));
    return { health: presentHealth(first ?? healthIn(neverSynced), 'operator'), connections: counts };
  };
}

/** How many connections of each workspace are unwell. */
export async function countUnwell(db: Db, workspaceIds: readonly string[]) {
  const counts = await lists.countHealths(db, workspaceIds, ['failing', 'needs_attention']);
  return (id: string, state: 'failing' | 'needs_attention') =>
    counts.find(({ workspace_id, health }) => workspace_id === id && health === state)?.count ?? 0;
}

const neverSynced = { health: 'never_synced', health_detail: '{}', unwell_since: null } as const;

export async function getJob(ctx: ListContext, organizationId: string, id: string): Promise<lists.ListedJob> {
  const job = await lists.findJob(ctx.store.db, organizationId, id);
  if (!job) throw new AppError('job_not_found');
  return job;
}

export async function getJobDetail(ctx: ListContext, organizationId: string, id: string): Promise<JobDetail> {
  const job = await getJob(ctx, organizationId, id);
  const good = await lists.findGoodBefore(ctx.store.db, organizationId, job);
  return presentJobDetail(job, good, await readWaitReasons(ctx.store.db, [job]));
}

function presentJobDetail(
  job: lists.ListedJob,
  good: lists.ListedJob | undefined,
  waitReasons: WaitReasons,
): JobDetail {
  const first = firstErrorIn(job);
  const attempts = attemptsIn(job);
  return {
    ...presentListedJob(job, waitReasons),
    first_error: first ? presentFailure('operator', first) : null,
    attempt_list:
      attempts?.map(({ number: attempt, status, startedAt, endedAt, rows, bytes, failure }) => ({
        attempt,
        status,
        started_at: startedAt,
        ended_at: endedAt,
        rows,
        bytes,
        failure: failure ? presentFailure('operator', failure) : null,
      })) ?? null,
    row_points: rowPointsIn(job),
    last_good_job: good ? presentListedJob(good, waitReasons) : null,
  };
}

function presentListedJob(job: lists.ListedJob, waitReasons: WaitReasons): OperatorJob {
  return {
    ...presentJob(job, 'operator', waitReasons),
    workspace_id: job.workspace_id,
    workspace_name: job.workspace_name,
    connection_id: job.connection_id,
    source_id: job.source_id,
    type: job.type,
    attempts: job.attempts,
    failure: job.failure_kind === null ? null : presentFailure('operator', failureIn(job)),
    request_id: job.request_id,
    trace_id: job.trace_id,
  };
}

/** The workspace of a connection that an operator names by its id alone. */
export async function workspaceOfConnection(
  ctx: PipelinesContext,
  organizationId: string,
  connectionId: string,
): Promise<string> {
  const workspaceId = await connections.findWorkspaceOfConnection(ctx.store.db, organizationId, connectionId);
  if (workspaceId === undefined) throw new AppError('connection_not_found');
  return workspaceId;
}

async function assertWorkspace(ctx: ListContext, organizationId: string, id: string | undefined): Promise<void> {
  if (id !== undefined) await getWorkspace(ctx, organizationId, id);
}

function filterOf(query: Pick<ListSourcesQuery, 'workspace_id' | 'source_template_id' | 'definition_id'>) {
  const lower = (id: string | undefined) => id?.toLowerCase();
  return {
    workspaceId: lower(query.workspace_id),
    sourceTemplateId: lower(query.source_template_id),
    definitionId: lower(query.definition_id),
  };
}

function sliceOf(
  { limit = 20, cursor }: { limit?: number; cursor?: string },
  { from, until }: { from: string | undefined; until: string | undefined },
  isNewestFirst: boolean,
): lists.Slice {
  return {
    after: cursor === undefined ? undefined : decodePosition(cursor),
    isNewestFirst,
    // One more shows whether there is a next page.
    limit: limit + 1,
    from: from === undefined ? undefined : Date.parse(from),
    until: until === undefined ? undefined : Date.parse(until),
  };
}

function pageOf<T>(rows: T[], limit: number, positionOf: (row: T) => Position): Page<T> {
  const data = rows.slice(0, limit - 1);
  const last = data.at(-1);
  return { data, next: rows.length < limit || !last ? undefined : encodePosition(positionOf(last)) };
}
