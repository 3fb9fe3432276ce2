/** The outcome of the events that endpoints want, and sending them once more on request. */
import type {
  ListDeliveriesQuery,
  RecoverRequest,
  Recovery,
  Redelivery,
  WebhookDelivery,
  WebhookTestResult,
} from '@inlay/contract/log/webhook-endpoints';
import { decodePosition, encodePosition } from '../../kernel/db/list-cursor.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { isForCustomers } from '../events/catalogue.ts';
import type { WebhooksContext } from './context.ts';
import * as deliveries from './deliveries.store.ts';
import * as endpoints from './endpoints.store.ts';
import { filterOf, getRow, type Owner } from './endpoints.ts';
import * as keys from './keys.ts';
import { matches, type Surroundings } from './matching.ts';
import { type Attempt, send, type Target } from './sending.ts';

const scanned = 1_000;

export interface DeliveryPage {
  data: WebhookDelivery[];
  next: string | undefined;
}

export async function listDeliveries(
  ctx: WebhooksContext,
  owner: Owner,
  endpointId: string,
  { status, limit = 20, cursor }: ListDeliveriesQuery,
): Promise<DeliveryPage> {
  const { id } = await getRow(ctx, owner, endpointId);
  const filter = { state: status, before: cursor === undefined ? undefined : decodePosition(cursor) };
  const rows = await deliveries.listDeliveries(ctx.store.db, owner.organizationId, id, filter, limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = rows.length > limit && last ? encodePosition({ time: last.created_at, id: last.event_id }) : undefined;
  return { data: page.map(present), next };
}

/** Redelivers to every enabled endpoint that the event matches. */
export async function redeliver(ctx: WebhooksContext, owner: Owner, eventId: string): Promise<Redelivery> {
  const { organizationId } = owner;
  const { db } = ctx.store;
  const event = await deliveries.findEvent(db, organizationId, eventId);
  if (!event) throw new AppError('event_not_found');
  const around = await surroundingsOf(ctx, organizationId);
  const all = await endpoints.listEndpoints(db, owner);
  const wanted = all.filter((row) => row.enabled === 1 && isWanted(row, event, around));
  await ctx.store.transaction(async (tx) => {
    for (const { id } of wanted) await deliveries.queueDeliveries(tx, organizationId, id, [event]);
  });
  ctx.wake();
  return { webhook_id: event.id, webhook_endpoint_ids: wanted.map(({ id }) => id) };
}

/** Counts the events of a period that an endpoint wants, and sends them unless only the count is requested. */
export async function recover(
  ctx: WebhooksContext,
  owner: Owner,
  endpointId: string,
  { since, until, only_failed = true, dry_run = false }: RecoverRequest,
): Promise<Recovery> {
  const { organizationId } = owner;
  const row = await getRow(ctx, owner, endpointId);
  if (row.enabled === 0 && !dry_run) throw new AppError('webhook_endpoint_disabled');
  const around = await surroundingsOf(ctx, organizationId);
  const end = until === undefined ? await ctx.store.now() : Date.parse(until);
  const begin = Date.parse(since);
  let count = 0;
  for (let after = await deliveries.findPositionBefore(ctx.store.db, organizationId, begin); ; ) {
    const period = { since: begin, until: end, after };
    const page = await deliveries.listEventsOf(ctx.store.db, organizationId, row.id, period, scanned);
    // Events the endpoint has not reached yet, or is retrying, are already on their way.
    const wanted = page.filter(
      (event) =>
        event.position <= row.read_until &&
        isWanted(row, event, around) &&
        (!only_failed || (event.state !== 'delivered' && event.state !== 'pending')),
    );
    count += wanted.length;
    if (!dry_run && wanted.length > 0) {
      await ctx.store.transaction((tx) => deliveries.queueDeliveries(tx, organizationId, row.id, wanted));
    }
    const last = page.at(-1);
    if (page.length < scanned || !last) break;
    after = last.position;
  }
  if (!dry_run) ctx.wake();
  return { count, queued: dry_run ? 0 : count };
}

/** Sends a test event immediately and returns the outcome. Nothing is stored. */
export async function sendTest(ctx: WebhooksContext, owner: Owner, endpointId: string): Promise<WebhookTestResult> {
  const row = await getRow(ctx, owner, endpointId);
  const id = ctx.runtime.newId();
  const now = await ctx.store.now();
  const data = { webhook_endpoint: { id: row.id }, message: 'This is a test.' };
  const body = JSON.stringify({ type: 'webhook_endpoint.test', timestamp: isoTime(now), data });
  const attempt = await send(ctx.network, ctx.runtime, targetOf(ctx.sealer, row, now), { id, body });
  return { webhook_id: id, delivered: attempt.isDelivered, ...presentAttempt(keptAttempt(attempt)) };
}

export function targetOf(sealer: Sealer, row: WebhookEndpointRow, now: number): Target {
  return {
    url: row.url,
    headers: keys.openHeaders(sealer, row),
    keys: keys.keysAt(keys.openKeys(sealer, row), now).map(({ key }) => key),
  };
}

async function surroundingsOf({ store }: WebhooksContext, organizationId: string): Promise<Surroundings> {
  const tags = await endpoints.tagsByTemplate(store.db, organizationId);
  return { isForCustomers, tagsOf: (id) => tags.get(id) ?? [] };
}

function isWanted(row: WebhookEndpointRow, event: deliveries.LoggedEvent, around: Surroundings): boolean {
  const { type, workspace_id: workspaceId, data } = event;
  return matches(filterOf(row), { type, workspaceId, data: JSON.parse(data) }, around);
}

/** As it is stored. */
export interface KeptAttempt {
  at: number;
  status: number | null;
  ms: number;
  response: string | null;
  error: string | null;
}

export function keptAttempt({ at, status, durationMs, response, error }: Attempt): KeptAttempt {
  return { at, status, ms: durationMs, response, error };
}

function presentAttempt({ at, status, ms, response, error }: KeptAttempt) {
  return { at: isoTime(at), status_code: status, duration_ms: ms, response, error };
}

function present(row: WebhookDeliveryRow): WebhookDelivery {
  return {
    webhook_id: row.event_id,
    event_id: row.event_id,
    type: row.event_type,
    position: row.position,
    status: row.state,
    attempts: row.attempts,
    next_attempt_at: row.next_at === null ? null : isoTime(row.next_at),
    created_at: isoTime(row.created_at),
    delivered_at: row.delivered_at === null ? null : isoTime(row.delivered_at),
    attempt_list: (JSON.parse(row.attempt_list) as KeptAttempt[]).map(presentAttempt),
  };
}
