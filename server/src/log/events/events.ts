/**
 * Reading the event log: pages, long polling and single events. Operators read their organization's events. Customers
 * read those of their workspace, only of types meant for customers and with their texts.
 *
 * Invariant: a reader at position n has seen everything before it exactly once. A reader whose position is no longer
 * available, or was never assigned, gets an error instead of silently missing events.
 */
import type { Event, EventPage } from '@inlay/contract/log/events';
import type { Db, Store } from '../../kernel/db/open.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Arrivals } from './arrivals.ts';
import { customerTypes, type EntryType, eventTypes, matchingTypes } from './catalogue.ts';
import * as log from './log.store.ts';
import { wasRestored } from './restored-positions.ts';

export interface EventsContext {
  store: Store;
  runtime: Runtime;
  arrivals: Arrivals;
}

/** Who reads, and which events. */
export interface Reader {
  organizationId: string;
  /** Only events about this workspace. */
  workspaceId: string | undefined;
  isCustomer: boolean;
  /** Patterns, separated by commas. Undefined: every type that the reader may see. */
  types: string | undefined;
  since: string | undefined;
}

export interface PageRequest {
  /** Undefined: from the oldest that is kept. */
  after: number | undefined;
  limit: number;
}

export async function readPage(ctx: EventsContext, reader: Reader, { after, limit }: PageRequest): Promise<EventPage> {
  const { db } = ctx.store;
  const { organizationId, workspaceId } = reader;
  // Read before the page: whatever comes meanwhile is on this page or has a later position.
  const bounds = await log.findBounds(db, organizationId);
  const { head, goneUntil } = bounds;
  if (after !== undefined) {
    assertReadable(after, bounds);
    if (wasRestored(head)) await assertNotRestored(db, organizationId, after, bounds);
  }
  const types = typesOf(reader);
  const since = reader.since === undefined ? undefined : Date.parse(reader.since);
  const from = Math.max(after ?? 0, goneUntil, await positionBefore(ctx, organizationId, since, head));
  if (types?.length === 0) return { data: [], next: Math.max(head, from) };
  const rows = await log.listEvents(db, organizationId, { after: from, workspaceId, types, since }, limit);
  const last = rows.at(-1)?.position ?? from;
  // A page that is not full has everything that there is: the next one need not look there again.
  const next = rows.length < limit ? Math.max(head, last) : last;
  return { data: rows.map((row) => present(row, reader.isCustomer)), next };
}

/**
 * For a reader that has waited: reads on from the events that this process has read for all of its readers, or from the
 * store where these do not reach. What belongs to the reader alone is worked out once.
 */
export function followerOf(
  ctx: EventsContext,
  reader: Reader,
): (request: PageRequest & { after: number }) => Promise<EventPage> {
  const { organizationId, workspaceId, isCustomer } = reader;
  const types = typesOf(reader);
  const wanted = types && new Set<string>(types);
  const since = reader.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(reader.since);
  return async (request) => {
    const { after, limit } = request;
    const tail = ctx.arrivals.tailAfter(organizationId, after);
    if (!tail) return await readPage(ctx, reader, request);
    // Nearly always the last few.
    const first = tail.rows.findLastIndex(({ position }) => position <= after) + 1;
    const rows = tail.rows
      .slice(first)
      .filter(
        (row) =>
          (wanted?.has(row.type) ?? true) &&
          (workspaceId === undefined || row.workspace_id === workspaceId) &&
          row.recorded_at >= since,
      );
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? (page.at(-1)?.position ?? after) : tail.head;
    return { data: page.map((row) => (isCustomer ? present(row, true) : presentOnce(row))), next };
  };
}

const presented = new WeakMap<log.EventRow, Event>();

/** All operators who read a row together get the same object. */
function presentOnce(row: log.EventRow): Event {
  const event = presented.get(row) ?? present(row, false);
  presented.set(row, event);
  return event;
}

/** As readPage. If there is nothing yet, it waits for the next event, or until the time is over. */
export async function awaitPage(
  ctx: EventsContext,
  reader: Reader,
  { waitMs, ended, ...request }: PageRequest & { waitMs: number; ended: AbortSignal },
): Promise<EventPage> {
  const deadline = ctx.runtime.elapsed() + waitMs;
  const follow = followerOf(ctx, reader);
  let page = await readPage(ctx, reader, request);
  while (page.data.length === 0 && !ended.aborted) {
    const leftMs = deadline - ctx.runtime.elapsed();
    if (leftMs <= 0) break;
    await ctx.arrivals.wait(reader.organizationId, page.next, leftMs, ended);
    if (!ended.aborted) page = await follow({ ...request, after: page.next });
  }
  return page;
}

function assertReadable(after: number, { head, goneUntil }: log.Bounds): void {
  if (after > head) throw new AppError('events_ahead', { head });
  if (after < goneUntil) throw new AppError('events_gone', { begin: goneUntil });
}

/** The reader has read events that the restored data doesn't have. */
async function assertNotRestored(
  db: Db,
  organizationId: string,
  after: number,
  { head, goneUntil }: log.Bounds,
): Promise<void> {
  // A reader that has read up to the restore stands beside the first event after it.
  const last = (await log.findLastUntil(db, organizationId, after + 1)) ?? goneUntil;
  if (last < after && after < head) throw new AppError('events_ahead', { head: last });
}

/** The position from which a reader gets the last so many events, and all that come then. */
export async function positionFromEnd(
  { store: { db } }: EventsContext,
  { organizationId }: Reader,
  count: number,
): Promise<number> {
  const { goneUntil } = await log.findBounds(db, organizationId);
  return Math.max((await log.findFromEnd(db, organizationId, count)) ?? 0, goneUntil);
}

/** The last position before this time. */
async function positionBefore(
  { store }: EventsContext,
  organizationId: string,
  since: number | undefined,
  head: number,
): Promise<number> {
  if (since === undefined) return 0;
  const first = await log.findPositionAt(store.db, organizationId, since);
  return first === undefined ? head : first - 1;
}

/** Undefined: every type. */
function typesOf({ types, isCustomer }: Reader): EntryType[] | undefined {
  const visible = isCustomer ? customerTypes : eventTypes;
  const wanted =
    types === undefined
      ? visible
      : matchingTypes(
          types.split(',').map((part) => part.trim()),
          visible,
        );
  return wanted.length === eventTypes.length ? undefined : wanted;
}

export async function getEvent(ctx: EventsContext, organizationId: string, id: string): Promise<Event> {
  const row = await log.findEvent(ctx.store.db, organizationId, id);
  if (!row) throw new AppError('event_not_found');
  return present(row, false);
}

function present(row: log.EventRow, isCustomer: boolean): Event {
  const { id, position, type, workspace_id } = row;
  return { id, position, type, timestamp: isoTime(row.recorded_at), workspace_id, data: dataOf(row, isCustomer) };
}

/** The data of an event as its readers get it, with the workspace that it is about. */
export function dataOf(
  { workspace_id, workspace_name, data }: Pick<log.EventRow, 'workspace_id' | 'workspace_name' | 'data'>,
  isCustomer: boolean,
): Record<string, unknown> {
  const workspace = workspace_id === null ? {} : { workspace: { id: workspace_id, name: workspace_name ?? '' } };
  const all = { ...workspace, ...JSON.parse(data) };
  return isCustomer ? (forCustomers(all) as Record<string, unknown>) : all;
}

/** Customers get what is theirs, named `customer_…`, under the plain name; and nothing of the operator's templates. */
function forCustomers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forCustomers);
  if (typeof value !== 'object' || value === null) return value;
  const all = value as Record<string, unknown>;
  const { connection_template_id: _, customer_message, customer_code, customer_parameters, ...rest } = all;
  const own = Object.entries({ message: customer_message, code: customer_code, parameters: customer_parameters });
  const shown = Object.entries(rest).map(([name, member]) => [name, forCustomers(member)]);
  return Object.fromEntries([...shown, ...own.filter(([, member]) => member !== undefined)]);
}
