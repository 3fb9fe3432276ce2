/**
 * The SQL of the overview. Its cost does not grow with the number of workspaces, connections and jobs:
 * - `health_counts` is kept by triggers, in a few rows for each state (db/migrations.ts);
 * - `workspaces_unwell` and `jobs_open_of_organization` are indexes of what is unwell and what has not ended, and of
 *   nothing else;
 * - `job_hours` has three rows for an hour, found by their key.
 */
import type { HealthState } from '@inlay/contract/health';
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { ConnectionRow, JobRow } from '../db/tables.ts';

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

/** Of each workspace one connection that is unwell: a failing one if there is any, and the oldest of those. */
export async function findFirstUnwell(
  db: Db,
  workspaceIds: readonly string[],
): Promise<Pick<ConnectionRow, 'workspace_id' | 'health' | 'health_detail'>[]> {
  if (workspaceIds.length === 0) return [];
  const first = sql<string>`(
    select first.id from connections as first
    where first.workspace_id = workspaces.id and first.deleted_at is null and first.health in ('failing', 'needs_attention')
    order by first.health, first.created_at, first.id limit 1)`;
  return await db
    .selectFrom('workspaces')
    .innerJoin('connections', (join) => join.on('connections.id', '=', first))
    .select(['connections.workspace_id', 'connections.health', 'connections.health_detail'])
    .where('workspaces.id', 'in', workspaceIds)
    .execute();
}

/** Jobs that have not ended. */
export async function readQueue(
  db: Db,
  organizationId: string,
): Promise<{ waiting: number; running: number; oldestWaitingAt: number | null }> {
  const rows = await db
    .selectFrom('jobs')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count'), fn.min('started_at').as('oldest')])
    .where('organization_id', '=', organizationId)
    .where('ended_at', 'is', null)
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
