/** Endpoints, events and deliveries of all organizations, for the worker that sends. */
import { sql } from 'kysely';
import { insertionOf } from '../../kernel/db/given-rows.ts';
import { leaseFor, noLease } from '../../kernel/db/leases.ts';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../../kernel/db/tables.ts';
import { eventColumns, type LoggedEvent } from './deliveries.store.ts';

/** Endpoints for which there is something to do, and which nobody has. The longest waiting first. */
export async function listWithWork(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select endpoint.id from webhook_endpoints endpoint
    left join log_heads head on head.organization_id = endpoint.organization_id
    where endpoint.enabled = 1 and endpoint.not_before <= now_ms() and endpoint.lease_until <= now_ms()
      and (coalesce(head.position, 0) > endpoint.read_until or exists (
        select 1 from webhook_deliveries delivery
        where delivery.endpoint_id = endpoint.id and delivery.state = 'pending' and delivery.next_at <= now_ms()))
    order by endpoint.lease_until limit ${sql.lit(limit)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Undefined when another replica was faster. */
export async function leaseEndpoint(
  db: Db,
  id: string,
  leaseId: string,
  leaseMs: number,
): Promise<WebhookEndpointRow | undefined> {
  return await db
    .updateTable('webhook_endpoints')
    .set(leaseFor(leaseId, leaseMs))
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('lease_until', '<=', now)
    .returningAll()
    .executeTakeFirst();
}

/** Renews every lease of this process, and gives the endpoints that it still has, as they are now. */
export async function renewLeases(db: Db, leaseId: string, leaseMs: number): Promise<WebhookEndpointRow[]> {
  return await db
    .updateTable('webhook_endpoints')
    .set({ lease_until: fromNow(leaseMs) })
    .where('lease_id', '=', leaseId)
    .where('enabled', '=', 1)
    .where('lease_until', '>', now)
    .returningAll()
    .execute();
}

/** Other events may continue after the pause. */
export async function releaseEndpoint(db: Db, id: string, leaseId: string, pauseMs: number): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ ...noLease, ...(pauseMs > 0 && { not_before: fromNow(pauseMs) }) })
    .where('id', '=', id)
    .where('lease_id', '=', leaseId)
    .execute();
}

export async function readEvents(db: Db, organizationId: string, after: number, limit: number): Promise<LoggedEvent[]> {
  const rows = await db
    .selectFrom('log_entries')
    .select(eventColumns)
    .where('organization_id', '=', organizationId)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows as LoggedEvent[];
}

/** Positions that are settled although they are behind the one up to which all are. */
export async function listSettledAfter(db: Db, endpointId: string, position: number): Promise<number[]> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select('position')
    .where('endpoint_id', '=', endpointId)
    .where('position', '>', position)
    .execute();
  return rows.map((row) => row.position);
}

export interface Waiting {
  delivery: WebhookDeliveryRow;
  /** Undefined when the log has forgotten it. */
  event: LoggedEvent | undefined;
  isDue: boolean;
  /** Until it is due. */
  inMs: number;
}

/** Deliveries that are to be tried again: those that are due first, or in the order of the log. */
export async function listWaiting(
  db: Db,
  { id, organization_id }: WebhookEndpointRow,
  inOrder: boolean,
  limit: number,
): Promise<Waiting[]> {
  const query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .select(now.as('now'))
    .where('endpoint_id', '=', id)
    .where('state', '=', 'pending');
  const sorted = inOrder
    ? query.orderBy('position').limit(1)
    : query.where('next_at', '<=', now).orderBy('next_at').limit(limit);
  const rows = await sorted.execute();
  if (rows.length === 0) return [];
  const events = await db
    .selectFrom('log_entries')
    .select(eventColumns)
    .where('organization_id', '=', organization_id)
    .where(
      'position',
      'in',
      rows.map(({ position }) => position),
    )
    .execute();
  const byPosition = new Map(events.map((event) => [event.position, event as LoggedEvent]));
  return rows.map(({ now: at, ...delivery }) => ({
    delivery,
    event: byPosition.get(delivery.position),
    isDue: (delivery.next_at ?? 0) <= at,
    inMs: Math.max(0, (delivery.next_at ?? 0) - at),
  }));
}

/** What a try has come to. */
export interface Settled {
  event_id: string;
  position: number;
  event_type: string;
  state: WebhookDeliveryRow['state'];
  attempts: number;
  /** Until the next try; null without one. */
  pauseMs: number | null;
  attempt_list: string;
}

export interface Progress {
  readUntil: number;
  wasDelivered: boolean;
  hasFailed: boolean;
}

/**
 * Writes how far an endpoint has got, if this process still has it, and gives the endpoint as it was before and the time.
 * The row stays locked until the transaction ends.
 */
export async function putProgress(
  tx: Db,
  endpointId: string,
  leaseId: string,
  { readUntil, wasDelivered, hasFailed }: Progress,
): Promise<{ before: WebhookEndpointRow; now: number } | undefined> {
  const before = await tx
    .updateTable('webhook_endpoints')
    .set({ read_until: sql<number>`case when read_until < ${readUntil} then ${readUntil} else read_until end` })
    .where('id', '=', endpointId)
    .where('lease_id', '=', leaseId)
    .where('lease_until', '>', now)
    .where('enabled', '=', 1)
    .returningAll()
    .returning(now.as('now'))
    .executeTakeFirst();
  if (!before) return undefined;
  if (wasDelivered || (hasFailed && before.failing_since === null)) {
    await tx
      .updateTable('webhook_endpoints')
      .set(wasDelivered ? { last_delivered_at: now, failing_since: null, failing_told: 0 } : { failing_since: now })
      .where('id', '=', endpointId)
      .execute();
  }
  const { now: at, ...row } = before;
  return { before: row, now: at };
}

export async function putSettled(
  tx: Db,
  { id, organization_id }: WebhookEndpointRow,
  settled: readonly Settled[],
): Promise<void> {
  if (settled.length === 0) return;
  const types = {
    endpoint_id: 'uuid',
    organization_id: 'uuid',
    event_id: 'uuid',
    position: 'text',
    event_type: 'text',
    state: 'text',
    attempts: 'text',
    pause: 'text',
    attempt_list: 'text',
  } as const;
  const rows = settled.map((one) => ({
    endpoint_id: id,
    organization_id,
    event_id: one.event_id,
    position: String(one.position),
    event_type: one.event_type,
    state: one.state,
    attempts: String(one.attempts),
    pause: one.pauseMs === null ? '' : String(one.pauseMs),
    attempt_list: one.attempt_list,
  }));
  const { columns, expression } = insertionOf(tx, types, rows, {
    endpoint_id: sql`given.endpoint_id`,
    organization_id: sql`given.organization_id`,
    event_id: sql`given.event_id`,
    position: sql`cast(given.position as bigint)`,
    event_type: sql`given.event_type`,
    state: sql`given.state`,
    attempts: sql`cast(given.attempts as integer)`,
    next_at: sql`now_ms() + cast(nullif(given.pause, '') as bigint)`,
    created_at: sql`now_ms()`,
    delivered_at: sql`case when given.state = 'delivered' then now_ms() end`,
    attempt_list: sql`given.attempt_list`,
  });
  await tx
    .insertInto('webhook_deliveries')
    .columns(columns)
    .expression(expression as never)
    .onConflict((conflict) =>
      conflict.columns(['endpoint_id', 'position']).doUpdateSet((set) => ({
        state: set.ref('excluded.state'),
        attempts: set.ref('excluded.attempts'),
        next_at: set.ref('excluded.next_at'),
        delivered_at: set.ref('excluded.delivered_at'),
        attempt_list: set.ref('excluded.attempt_list'),
      })),
    )
    .execute();
}

export async function putFailingTold(tx: Db, endpointId: string): Promise<void> {
  await tx.updateTable('webhook_endpoints').set({ failing_told: 1 }).where('id', '=', endpointId).execute();
}

/** Whatever waits is given up; it can be recovered. */
export async function disable(tx: Db, endpointId: string, reason: 'gone' | 'failing'): Promise<void> {
  await tx
    .updateTable('webhook_endpoints')
    .set({ enabled: 0, disabled_reason: reason, disabled_at: now, ...noLease })
    .where('id', '=', endpointId)
    .execute();
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', next_at: null })
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'pending')
    .execute();
}

export interface Backlog {
  /** Deliveries that are to be tried again. */
  retrying: number;
  /** How long the event that waits longest for an enabled endpoint has been waiting. */
  oldestMs: number;
}

/** Totals of the whole deployment, for metrics. */
export async function readBacklog(db: Db): Promise<Backlog> {
  const { rows } = await sql<{ retrying: number; oldest: number | null; now: number }>`
    select
      (select count(*) from webhook_deliveries where state = 'pending') as retrying,
      now_ms() as now,
      (select min(waiting.at) from (
        select entry.recorded_at as at from webhook_endpoints endpoint
        join log_entries entry
          on entry.organization_id = endpoint.organization_id and entry.position = endpoint.read_until + 1
        where endpoint.enabled = 1
        union all
        select min(created_at) as at from webhook_deliveries where state = 'pending'
      ) as waiting) as oldest`.execute(db);
  const [row] = rows;
  if (!row) return { retrying: 0, oldestMs: 0 };
  return {
    retrying: Number(row.retrying),
    oldestMs: row.oldest === null ? 0 : Math.max(0, row.now - Number(row.oldest)),
  };
}
