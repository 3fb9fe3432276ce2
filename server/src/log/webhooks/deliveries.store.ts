/** The SQL of `webhook_deliveries`, for the requests of an organization. */

import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { LogEntryRow, WebhookDeliveryRow } from '../../kernel/db/tables.ts';

export interface DeliveryFilter {
  state?: WebhookDeliveryRow['state'] | undefined;
  before?: { time: number; id: string } | undefined;
}

/** The newest first. */
export async function listDeliveries(
  db: Db,
  organizationId: string,
  endpointId: string,
  { state, before }: DeliveryFilter,
  limit: number,
): Promise<WebhookDeliveryRow[]> {
  let query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId);
  if (state !== undefined) query = query.where('state', '=', state);
  if (before) {
    query = query.where((when) =>
      when.or([
        when('created_at', '<', before.time),
        when.and([when('created_at', '=', before.time), when('event_id', '<', before.id)]),
      ]),
    );
  }
  return await query.orderBy('created_at', 'desc').orderBy('event_id', 'desc').limit(limit).execute();
}

export type LoggedEvent = Pick<
  LogEntryRow,
  'id' | 'type' | 'workspace_id' | 'workspace_name' | 'data' | 'recorded_at' | 'trace_id'
> & { position: number };

export const eventColumns = [
  'id',
  'position',
  'type',
  'workspace_id',
  'workspace_name',
  'data',
  'recorded_at',
  'trace_id',
] as const;

/** Undefined also for an event beyond retention, even if the audit trail still has it. */
export async function findEvent(db: Db, organizationId: string, id: string): Promise<LoggedEvent | undefined> {
  const row = await db
    .selectFrom('log_entries')
    .select(eventColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('position', '>', (await findEnds(db, organizationId)).goneUntil)
    .executeTakeFirst();
  return row as LoggedEvent | undefined;
}

/** The last position, and the position up to which events are no longer readable. */
async function findEnds(db: Db, organizationId: string): Promise<{ head: number; goneUntil: number }> {
  const row = await db
    .selectFrom('log_heads')
    .select(['position', 'events_after'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return { head: row?.position ?? 0, goneUntil: row?.events_after ?? 0 };
}

/** The position before the first event that was recorded at this time or later and is still readable. */
export async function findPositionBefore(db: Db, organizationId: string, time: number): Promise<number> {
  // An event gets its position after it was recorded, and the times of positions never go back.
  const first = await db
    .selectFrom('log_entries')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('sequenced_at', '>=', time)
    .where('position', 'is not', null)
    .orderBy('sequenced_at')
    .orderBy('trail_position')
    .limit(1)
    .executeTakeFirst();
  const { head, goneUntil } = await findEnds(db, organizationId);
  return Math.max(first ? Number(first.position) - 1 : head, goneUntil);
}

export interface Period {
  since: number;
  until: number;
  after: number;
}

/** Events of a period, in their order, each with whether this endpoint has confirmed it. */
export async function listEventsOf(
  db: Db,
  organizationId: string,
  endpointId: string,
  { since, until, after }: Period,
  limit: number,
): Promise<(LoggedEvent & { state: WebhookDeliveryRow['state'] | null })[]> {
  const rows = await db
    .selectFrom('log_entries')
    .leftJoin('webhook_deliveries as delivery', (join) =>
      join
        .onRef('delivery.position', '=', 'log_entries.position')
        .on('delivery.endpoint_id', '=', endpointId)
        .on('delivery.organization_id', '=', organizationId),
    )
    .select(eventColumns.map((column) => `log_entries.${column}` as const))
    .select('delivery.state')
    .where('log_entries.organization_id', '=', organizationId)
    .where('log_entries.position', '>', after)
    .where('log_entries.recorded_at', '>=', since)
    .where('log_entries.recorded_at', '<', until)
    .orderBy('log_entries.position')
    .limit(limit)
    .execute();
  return rows as unknown as (LoggedEvent & { state: WebhookDeliveryRow['state'] | null })[];
}

/** Queues the event for immediate delivery, as if for the first time. Earlier attempts stay recorded. */
export async function queueDeliveries(
  tx: Db,
  organizationId: string,
  endpointId: string,
  events: readonly Pick<LoggedEvent, 'id' | 'position' | 'type'>[],
): Promise<void> {
  if (events.length === 0) return;
  await tx
    .insertInto('webhook_deliveries')
    .values(
      events.map(({ id, position, type }) => ({
        endpoint_id: endpointId,
        organization_id: organizationId,
        event_id: id,
        position,
        event_type: type,
        state: 'pending' as const,
        attempts: 0,
        next_at: now,
        created_at: now,
        delivered_at: null,
        attempt_list: '[]',
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['endpoint_id', 'position'])
        .doUpdateSet({ state: 'pending', attempts: 0, next_at: now, delivered_at: null }),
    )
    .execute();
}
