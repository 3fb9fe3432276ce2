/** The SQL of `cause_retries` and `cause_retry_items`. */
import type { CauseRetryItemState, CauseRetryState } from '@inlay/contract/pipelines/cause-retries';
import { sql } from 'kysely';
import { isFreeFor, leaseFor, noLease } from '../kernel/db/leases.ts';
import { fromNow, now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { CauseRetryItemRow, CauseRetryRow, JobRow } from '../kernel/db/tables.ts';
import { uuidOf } from '../kernel/db/uuid-type.ts';
import { notLeaving } from '../pipelines/row-conditions.ts';

type NewRetry = Pick<CauseRetryRow, 'id' | 'cause' | 'message' | 'reasons' | 'request_id' | 'trace_id'>;

/** Undefined when one of the same cause runs. */
export async function insertRetry(tx: Db, organizationId: string, retry: NewRetry): Promise<CauseRetryRow | undefined> {
  return await tx
    .insertInto('cause_retries')
    .values({
      ...retry,
      organization_id: organizationId,
      state: 'running',
      state_reason: null,
      stop_code: null,
      has_more: 0,
      created_at: now,
      ended_at: null,
      due_at: 0,
      ...noLease,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Those that have the cause now, the oldest first; gives how many there are. */
export async function insertItems(
  tx: Db,
  organizationId: string,
  { id, cause }: CauseRetryRow,
  limit: number,
): Promise<number> {
  const items = tx
    .selectFrom('connections')
    .select([
      sql`cast(${id} as ${uuidOf(tx)})`.as('retry_id'),
      'organization_id',
      'workspace_id',
      'id as connection_id',
      sql`${sql.lit('waiting')}`.as('state'),
    ])
    .where('organization_id', '=', organizationId)
    .where('cause', '=', cause)
    .where('deleted_at', 'is', null)
    .where('is_leaving', '=', notLeaving)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  const inserted = await tx
    .insertInto('cause_retry_items')
    .columns(['retry_id', 'organization_id', 'workspace_id', 'connection_id', 'state'])
    .expression(items)
    .executeTakeFirst();
  return Number(inserted.numInsertedOrUpdatedRows ?? 0);
}

/** In the transaction that has made it. */
export async function putHasMore(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx
    .updateTable('cause_retries')
    .set({ has_more: 1 })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

export async function findRetry(db: Db, organizationId: string, id: string): Promise<CauseRetryRow | undefined> {
  return await db
    .selectFrom('cause_retries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function findRunning(db: Db, organizationId: string, cause: string): Promise<CauseRetryRow | undefined> {
  return await db
    .selectFrom('cause_retries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('cause', '=', cause)
    .where('state', '=', 'running')
    .executeTakeFirst();
}

/** Newest first. */
export async function listRetries(db: Db, organizationId: string, limit: number): Promise<CauseRetryRow[]> {
  return await db
    .selectFrom('cause_retries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Undefined when it has ended before. */
export async function endRetry(
  tx: Db,
  organizationId: string,
  id: string,
  end: { state: Exclude<CauseRetryState, 'running'> } & Pick<CauseRetryRow, 'state_reason' | 'stop_code'>,
): Promise<CauseRetryRow | undefined> {
  return await tx
    .updateTable('cause_retries')
    .set({ ...end, ended_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirst();
}

export interface ItemCount {
  state: CauseRetryItemState;
  /** Status of the started sync. Null if none was started or its job was removed. */
  status: JobRow['status'] | null;
  count: number;
}

export async function countItems(db: Db, organizationId: string, retryId: string): Promise<ItemCount[]> {
  const rows = await db
    .selectFrom('cause_retry_items as item')
    .leftJoin('jobs', (join) =>
      join.onRef('jobs.connection_id', '=', 'item.connection_id').onRef('jobs.id', '=', 'item.job_id'),
    )
    .select(['item.state', 'jobs.status', sql<number>`count(*)`.as('count')])
    .where('item.organization_id', '=', organizationId)
    .where('item.retry_id', '=', retryId)
    .groupBy(['item.state', 'jobs.status'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** How many syncs that it has started wait for their turn. A sync that waits for its next try keeps nobody waiting. */
export async function countQueued(db: Db, organizationId: string, retryId: string): Promise<number> {
  const row = await db
    .selectFrom('cause_retry_items as item')
    .innerJoin('jobs', (join) =>
      join.onRef('jobs.connection_id', '=', 'item.connection_id').onRef('jobs.id', '=', 'item.job_id'),
    )
    .select(sql<number>`count(*)`.as('count'))
    .where('item.organization_id', '=', organizationId)
    .where('item.retry_id', '=', retryId)
    .where('item.state', '=', 'started')
    .where('jobs.status', '=', 'pending')
    .where('jobs.failed_attempts', '=', 0)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

interface ItemPage {
  state?: CauseRetryItemState | undefined;
  after?: string | undefined;
  limit: number;
}

/** Its connection, workspace and source may be deleted by now. */
type NamedItem = CauseRetryItemRow & { workspace_name: string; source_name: string };

/** In the order of the ids of connections, which is as good as chance. */
export async function listItems(
  db: Db,
  organizationId: string,
  retryId: string,
  { state, after, limit }: ItemPage,
): Promise<NamedItem[]> {
  let query = db
    .selectFrom('cause_retry_items as item')
    .innerJoin('connections', 'connections.id', 'item.connection_id')
    .innerJoin('workspaces', 'workspaces.id', 'connections.workspace_id')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .selectAll('item')
    .select(['workspaces.name as workspace_name', 'sources.name as source_name'])
    .where('item.organization_id', '=', organizationId)
    .where('item.retry_id', '=', retryId);
  if (state !== undefined) query = query.where('item.state', '=', state);
  if (after !== undefined) query = query.where('item.connection_id', '>', after);
  return await query.orderBy('item.connection_id').limit(limit).execute();
}

/** Items whose outcome is unknown, once it can no longer arrive. */
export async function listToLookAfter(
  db: Db,
  organizationId: string,
  retryId: string,
  limit: number,
): Promise<CauseRetryItemRow[]> {
  return await db
    .selectFrom('cause_retry_items')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('retry_id', '=', retryId)
    .where('state', '=', 'starting')
    .where('look_at', '<=', now)
    .orderBy('connection_id')
    .limit(limit)
    .execute();
}

type ItemRef = Pick<CauseRetryItemRow, 'retry_id' | 'connection_id' | 'state'>;

const oneItem = (db: Db, organizationId: string, { retry_id, connection_id, state }: ItemRef) =>
  db
    .updateTable('cause_retry_items')
    .where('organization_id', '=', organizationId)
    .where('retry_id', '=', retry_id)
    .where('connection_id', '=', connection_id)
    // Nobody undoes what another has found.
    .where('state', '=', state)
    .returning('connection_id');

/** Before the platform is asked. False: someone else has done so. */
export async function claimItem(
  tx: Db,
  organizationId: string,
  item: ItemRef,
  { lastJobId, lookAfterMs }: { lastJobId: string | null; lookAfterMs: number },
): Promise<boolean> {
  const claim = { state: 'starting' as const, last_job_id: lastJobId, look_at: fromNow(lookAfterMs) };
  return (await oneItem(tx, organizationId, item).set(claim).executeTakeFirst()) !== undefined;
}

/** Only while it is in the state that is given. */
export async function changeItem(
  db: Db,
  organizationId: string,
  item: ItemRef,
  change: Partial<Pick<CauseRetryItemRow, 'state' | 'code' | 'job_id'>>,
): Promise<void> {
  await oneItem(db, organizationId, item).set(change).execute();
}

/** The retry, if it runs and no other process is at work on it; from now on this process is. */
export async function leaseRetry(
  db: Db,
  organizationId: string,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<CauseRetryRow | undefined> {
  return await db
    .updateTable('cause_retries')
    .set(leaseFor(leaseId, leaseMs))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where(isFreeFor(leaseId))
    .returningAll()
    .executeTakeFirst();
}

/** `pauseMs`: earliest time to continue. */
export async function releaseRetry(
  db: Db,
  organizationId: string,
  id: string,
  leaseId: string,
  pauseMs: number,
): Promise<void> {
  await db
    .updateTable('cause_retries')
    .set({ ...noLease, due_at: fromNow(pauseMs) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .execute();
}
