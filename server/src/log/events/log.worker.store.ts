/** The SQL that gives positions to entries of all organizations, and forgets the oldest. */
import { type Selectable, sql } from 'kysely';
import { insertionOf } from '../db/given-rows.ts';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import { prepare } from '../db/prepared.ts';
import type { LogEntryRow, LogHeadRow, LogPendingRow, LogPersonalRow } from '../db/tables.ts';

export async function hasPending(db: Db): Promise<boolean> {
  return (await firstPending(db)).length > 0;
}

const firstPending = prepare((db) => db.selectFrom('log_pending').select('number').limit(sql.lit(1)));

export async function countPending(db: Db): Promise<number> {
  const counted = await db
    .selectFrom('log_pending')
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return Number(counted.count);
}

/**
 * Takes or renews the lease. Undefined while another process has it. The row stays locked until the transaction ends: so
 * even a process whose lease has run out meanwhile never gives a position at the same time as its successor.
 */
export async function leaseSequencer(tx: Db, leaseId: string, leaseMs: number): Promise<{ now: number } | undefined> {
  return await tx
    .updateTable('log_sequencer')
    .set({ lease_id: leaseId, lease_until: sql<number>`now_ms() + ${sql.lit(leaseMs)}` })
    .where('id', '=', 1)
    .where((when) => when.or([when('lease_id', '=', leaseId), when('lease_until', '<=', now)]))
    .returning(now.as('now'))
    .executeTakeFirst();
}

export async function releaseSequencer(db: Db, leaseId: string): Promise<void> {
  await db
    .updateTable('log_sequencer')
    .set({ lease_id: null, lease_until: 0 })
    .where('id', '=', 1)
    .where('lease_id', '=', leaseId)
    .execute();
}

export type PendingEntry = Selectable<LogPendingRow>;

/** Those whose transactions are committed, in the order in which they were written. */
export async function listPending(tx: Db, limit: number): Promise<PendingEntry[]> {
  return await tx.selectFrom('log_pending').selectAll().orderBy('number').limit(limit).execute();
}

export type Head = Pick<LogHeadRow, 'organization_id' | 'position' | 'trail_position' | 'sequenced_at' | 'hash'>;

export async function readHeads(tx: Db, organizationIds: string[]): Promise<Map<string, Head>> {
  const rows = await tx
    .selectFrom('log_heads')
    .select(['organization_id', 'position', 'trail_position', 'sequenced_at', 'hash'])
    .where('organization_id', 'in', organizationIds)
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row]));
}

export async function putHead(tx: Db, head: Head): Promise<void> {
  const { organization_id: _, ...changed } = head;
  // The first checkpoint is signed as long after the first entry as the others are after each other.
  const first = { checkpoint_position: 0, checkpoint_at: head.sequenced_at, cut_until: 0, events_after: 0 };
  await tx
    .insertInto('log_heads')
    .values({ ...head, ...first })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(changed))
    .execute();
}

export interface Placed {
  number: number;
  trail_position: number;
  position: number | null;
  sequenced_at: number;
  commitments: string | null;
  hash: string;
}

const factColumns = [
  'id',
  'organization_id',
  'type',
  'workspace_id',
  'workspace_name',
  'data',
  'recorded_at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'request_id',
  'trace_id',
  'outcome',
] as const;

/** Moves exactly these entries into the log: others with a lower number may be committed later. */
export async function place(tx: Db, placed: readonly Placed[], personal: readonly LogPersonalRow[]): Promise<void> {
  const types = {
    number: 'text',
    trail_position: 'text',
    position: 'text',
    sequenced_at: 'text',
    commitments: 'text',
    hash: 'text',
  } as const;
  const rows = placed.map((one) => ({
    number: String(one.number),
    trail_position: String(one.trail_position),
    position: one.position === null ? '' : String(one.position),
    sequenced_at: String(one.sequenced_at),
    commitments: one.commitments ?? '',
    hash: one.hash,
  }));
  const bigint = (column: string) => sql`cast(${sql.ref(`given.${column}`)} as bigint)`;
  const facts = Object.fromEntries(factColumns.map((column) => [column, sql.ref(`pending.${column}`)]));
  const { columns, expression } = insertionOf(tx, types, rows, {
    ...facts,
    trail_position: bigint('trail_position'),
    position: sql`cast(nullif(given.position, '') as bigint)`,
    sequenced_at: bigint('sequenced_at'),
    commitments: sql`nullif(given.commitments, '')`,
    hash: sql`given.hash`,
  });
  const joined = expression.innerJoin('log_pending as pending', (join) =>
    join.on(sql<boolean>`pending.number = ${bigint('number')}`),
  );
  await tx
    .insertInto('log_entries')
    .columns(columns as (keyof LogEntryRow)[])
    .expression(joined)
    .execute();
  if (personal.length > 0) await insertPersonal(tx, personal);
  await tx
    .deleteFrom('log_pending')
    .where(
      'number',
      'in',
      placed.map(({ number }) => number),
    )
    .execute();
}

async function insertPersonal(tx: Db, rows: readonly LogPersonalRow[]): Promise<void> {
  const types = { entry_id: 'uuid', field: 'text', organization_id: 'uuid', salt: 'text', value: 'text' } as const;
  const { columns, expression } = insertionOf(
    tx,
    types,
    rows.map((row) => ({ ...row })),
    {
      entry_id: sql`given.entry_id`,
      field: sql`given.field`,
      organization_id: sql`given.organization_id`,
      salt: sql`given.salt`,
      value: sql`given.value`,
    },
  );
  await tx.insertInto('log_personal').columns(columns).expression(expression).execute();
}

export async function listOrganizationsWithLog(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('log_heads').select('organization_id').orderBy('organization_id').execute();
  return rows.map((row) => row.organization_id);
}

/** Lets readers have no more events that got their position longer ago. */
export async function hideEventsBefore(tx: Db, organizationId: string, ageMs: number): Promise<void> {
  const last = await lastBefore(tx, organizationId, ageMs, true);
  if (!last) return;
  await tx
    .updateTable('log_heads')
    .set({ events_after: last.position ?? 0 })
    .where('organization_id', '=', organizationId)
    .where('events_after', '<', last.position ?? 0)
    .execute();
}

/**
 * Says that the trail begins after the last checkpoint whose entries are all older. From then on the database lets them be
 * deleted. Gives the position of that checkpoint, or of an earlier cut.
 */
export async function cutBefore(tx: Db, organizationId: string, ageMs: number): Promise<number> {
  const last = await lastBefore(tx, organizationId, ageMs, false);
  const checkpoint =
    last &&
    (await tx
      .selectFrom('audit_checkpoints')
      .select('position')
      .where('organization_id', '=', organizationId)
      .where('position', '<=', last.trail_position)
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirst());
  if (checkpoint) {
    await tx
      .updateTable('log_heads')
      .set({ cut_until: checkpoint.position })
      .where('organization_id', '=', organizationId)
      .where('cut_until', '<', checkpoint.position)
      .execute();
  }
  const head = await tx
    .selectFrom('log_heads')
    .select('cut_until')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return head?.cut_until ?? 0;
}

/** The last entry that got its position longer ago. These times never go back. */
async function lastBefore(tx: Db, organizationId: string, ageMs: number, isEvent: boolean) {
  return await tx
    .selectFrom('log_entries')
    .select(['trail_position', 'position'])
    .where('organization_id', '=', organizationId)
    .where('sequenced_at', '<', sql<number>`now_ms() - ${sql.lit(ageMs)}`)
    .$if(isEvent, (query) => query.where('position', 'is not', null))
    .orderBy('sequenced_at', 'desc')
    .orderBy('trail_position', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Deletes the first entries of a trail up to a cut, at most so many, and what belongs to them. Gives how many. */
export async function deleteUntil(tx: Db, organizationId: string, cut: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('log_entries')
    .select(['id', 'trail_position'])
    .where('organization_id', '=', organizationId)
    .where('trail_position', '<=', cut)
    .orderBy('trail_position')
    .limit(limit)
    .execute();
  const last = rows.at(-1);
  if (!last) return 0;
  await tx
    .deleteFrom('log_personal')
    .where('organization_id', '=', organizationId)
    .where(
      'entry_id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  await tx
    .deleteFrom('log_entries')
    .where('organization_id', '=', organizationId)
    .where('trail_position', '<=', last.trail_position)
    .execute();
  await tx
    .deleteFrom('audit_checkpoints')
    .where('organization_id', '=', organizationId)
    .where('position', '<', cut)
    .execute();
  return rows.length;
}
