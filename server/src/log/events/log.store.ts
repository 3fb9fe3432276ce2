/** The SQL of the log: entries are added to `log_pending`, and read from `log_entries` once they have a position. */

import { isSqlite } from '@inlay/database/is-sqlite';
import { sql } from 'kysely';
import { insertionOf } from '../../kernel/db/given-rows.ts';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import type { LogEntryFacts, LogEntryRow, LogPendingRow } from '../../kernel/db/tables.ts';

type About = Pick<LogPendingRow, 'actor_kind' | 'actor_id' | 'actor_name' | 'request_id' | 'trace_id' | 'personal'>;
type NewEntry = Pick<LogEntryFacts, 'id' | 'type' | 'workspace_id' | 'data' | 'outcome'> &
  Pick<LogPendingRow, 'is_event' | 'patch'>;

const insertOne = prepare(
  (
    db,
    organizationId: string,
    id: string,
    type: string,
    isEvent: number,
    workspaceId: string | null,
    data: string,
    actorKind: string,
    actorId: string | null,
    actorName: string | null,
    requestId: string | null,
    traceId: string | null,
    outcome: LogEntryFacts['outcome'],
    patch: string | null,
    personal: string | null,
  ) =>
    db.insertInto('log_pending').values({
      id,
      organization_id: organizationId,
      type,
      is_event: isEvent,
      workspace_id: workspaceId,
      workspace_name: db
        .selectFrom('workspaces')
        .select('name')
        .where('organization_id', '=', organizationId)
        .where('id', '=', workspaceId),
      data,
      recorded_at: now,
      actor_kind: actorKind,
      actor_id: actorId,
      actor_name: actorName,
      request_id: requestId,
      trace_id: traceId,
      outcome,
      patch,
      personal,
    }),
);

/** The one way into the log. */
export async function append(tx: Db, organizationId: string, about: About, entries: NewEntry[]): Promise<void> {
  if (entries.length > manyEntries) return await appendMany(tx, organizationId, about, entries);
  for (const { id, type, is_event, workspace_id, data, outcome, patch } of entries) {
    const { actor_kind, actor_id, actor_name, request_id, trace_id, personal } = about;
    await insertOne(
      tx,
      organizationId,
      id,
      type,
      is_event,
      workspace_id,
      data,
      actor_kind,
      actor_id,
      actor_name,
      request_id,
      trace_id,
      outcome,
      patch,
      personal,
    );
  }
}

/** From so many on, one statement for all is quicker than one for each. */
const manyEntries = 5;

async function appendMany(tx: Db, organizationId: string, about: About, entries: NewEntry[]): Promise<void> {
  const rows = entries.map(({ workspace_id, ...entry }, index) => ({
    ...entry,
    is_event: String(entry.is_event),
    workspace_id: workspace_id ?? '',
    patch: entry.patch ?? '',
    place: String(index),
  }));
  const types = {
    id: 'uuid',
    type: 'text',
    is_event: 'text',
    workspace_id: 'text',
    data: 'text',
    outcome: 'text',
    patch: 'text',
    place: 'text',
  } as const;
  const uuid = (value: ReturnType<typeof sql>) => sql`cast(${value} as ${sql.raw(isSqlite(tx) ? 'text' : 'uuid')})`;
  const textOf = (value: string | null) => sql`cast(${value} as text)`;
  const workspaceId = uuid(sql`nullif(given.workspace_id, '')`);
  const insertion = insertionOf(tx, types, rows, {
    id: sql`given.id`,
    organization_id: uuid(sql`${organizationId}`),
    type: sql`given.type`,
    is_event: sql`cast(given.is_event as integer)`,
    workspace_id: workspaceId,
    workspace_name: sql`(select name from workspaces where organization_id = ${organizationId} and id = ${workspaceId})`,
    data: sql`given.data`,
    recorded_at: now,
    actor_kind: textOf(about.actor_kind),
    actor_id: textOf(about.actor_id),
    actor_name: textOf(about.actor_name),
    request_id: textOf(about.request_id),
    trace_id: textOf(about.trace_id),
    outcome: sql`given.outcome`,
    patch: sql`nullif(given.patch, '')`,
    personal: textOf(about.personal),
  });
  const inOrder = insertion.expression.orderBy(sql`cast(given.place as integer)`);
  await tx.insertInto('log_pending').columns(insertion.columns).expression(inOrder).execute();
}

export interface Bounds {
  /** The last position that was given. */
  head: number;
  /** Events up to here are no longer readable. */
  goneUntil: number;
}

export async function findBounds(db: Db, organizationId: string): Promise<Bounds> {
  const [row] = await boundsOf(db, organizationId);
  return { head: row?.position ?? 0, goneUntil: row?.events_after ?? 0 };
}

const boundsOf = prepare((db, organizationId: string) =>
  db.selectFrom('log_heads').select(['position', 'events_after']).where('organization_id', '=', organizationId),
);

/** The first position that was given at this time or later. */
export async function findPositionAt(db: Db, organizationId: string, time: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_entries')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('sequenced_at', '>=', time)
    .where('position', 'is not', null)
    .orderBy('sequenced_at')
    .orderBy('trail_position')
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? undefined;
}

/** The position after which there are so many events. Not by subtraction: a restore leaves a gap. */
export async function findFromEnd(db: Db, organizationId: string, count: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_entries')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('position', 'is not', null)
    .orderBy('position', 'desc')
    .offset(sql.lit(count))
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row?.position ?? undefined;
}

/** The last position that an event has, up to this one. */
export async function findLastUntil(db: Db, organizationId: string, position: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_entries')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('position', '<=', position)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? undefined;
}

/** An entry that has a position among the events. */
export type EventRow = Omit<LogEntryRow, 'position'> & { position: number };

export interface EventFilter {
  after: number;
  workspaceId: string | undefined;
  /** Undefined: every type. */
  types: readonly string[] | undefined;
  /** Only entries that were recorded at this time or later. */
  since: number | undefined;
}

/**
 * Events after a position, oldest first. Every filter is answered from an index in the order of the positions, so a page
 * costs the same however long the log is. Several types are read each for itself and merged.
 */
export async function listEvents(
  db: Db,
  organizationId: string,
  filter: EventFilter,
  limit: number,
): Promise<EventRow[]> {
  const { after, workspaceId, types, since } = filter;
  let query = db.selectFrom('log_entries').selectAll().where('organization_id', '=', organizationId);
  if (types) {
    // Two statements: with one, a database that misjudges the sizes might look at every row of the log.
    const positions = await listPositions(db, organizationId, filter, limit);
    if (positions.length === 0) return [];
    query = query.where('position', 'in', positions);
  } else {
    query = query.where('position', '>', after);
    if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId);
    if (since !== undefined) query = query.where('recorded_at', '>=', since);
  }
  return (await query.orderBy('position').limit(limit).execute()) as EventRow[];
}

/** Positions of events with the filter's types. */
export async function listPositions(
  db: Db,
  organizationId: string,
  { after, workspaceId, types = [], since }: EventFilter,
  limit: number,
): Promise<number[]> {
  const ofType = (type: string) => sql`
    select * from (
      select position from log_entries
      where organization_id = ${organizationId} and type = ${type} and position > ${after}
        ${workspaceId === undefined ? sql`` : sql`and workspace_id = ${workspaceId}`}
        ${since === undefined ? sql`` : sql`and recorded_at >= ${since}`}
      order by position limit ${sql.lit(limit)}
    ) as part`;
  const { rows } = await sql<{ position: number }>`
    select position from (${sql.join(types.map(ofType), sql` union all `)}) as parts
    order by position limit ${sql.lit(limit)}`.execute(db);
  return rows.map(({ position }) => position);
}

/** Undefined also for an event beyond retention, even if the audit trail still has it. */
export async function findEvent(db: Db, organizationId: string, id: string): Promise<EventRow | undefined> {
  const { goneUntil } = await findBounds(db, organizationId);
  const row = await db
    .selectFrom('log_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('position', '>', goneUntil)
    .executeTakeFirst();
  return row as EventRow | undefined;
}
