/** The SQL that gives positions to entries of all organizations, and hides the oldest events. */
import { type Selectable, sql } from 'kysely';
import { insertionOf } from '../../kernel/db/given-rows.ts';
import { isFreeFor, leaseFor, noLease } from '../../kernel/db/leases.ts';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import type { LogEntryRow, LogHeadRow, LogPendingRow, LogPersonalRow } from '../../kernel/db/tables.ts';

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
    .set(leaseFor(leaseId, leaseMs))
    .where('id', '=', 1)
    .where(isFreeFor(leaseId))
    .returning(now.as('now'))
    .executeTakeFirst();
}

export async function releaseSequencer(db: Db, leaseId: string): Promise<void> {
  await db.updateTable('log_sequencer').set(noLease).where('id', '=', 1).where('lease_id', '=', leaseId).execute();
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

export interface Chained {
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
export async function chain(tx: Db, chained: readonly Chained[], personal: readonly LogPersonalRow[]): Promise<void> {
  const types = {
    number: 'text',
    trail_position: 'text',
    position: 'text',
    sequenced_at: 'text',
    commitments: 'text',
    hash: 'text',
  } as const;
  const rows = chained.map((one) => ({
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
      chained.map(({ number }) => number),
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

/** Ends the readability of events that got their position before the given age. */
export async function hideEventsBefore(tx: Db, organizationId: string, ageMs: number): Promise<void> {
  const last = await lastEventBefore(tx, organizationId, ageMs);
  if (!last) return;
  await tx
    .updateTable('log_heads')
    .set({ events_after: last.position ?? 0 })
    .where('organization_id', '=', organizationId)
    .where('events_after', '<', last.position ?? 0)
    .execute();
}

/** The last event that got its position longer ago. These times never go back. */
async function lastEventBefore(tx: Db, organizationId: string, ageMs: number) {
  return await tx
    .selectFrom('log_entries')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('sequenced_at', '<', sql<number>`now_ms() - ${sql.lit(ageMs)}`)
    .where('position', 'is not', null)
    .orderBy('sequenced_at', 'desc')
    .orderBy('trail_position', 'desc')
    .limit(1)
    .executeTakeFirst();
}
