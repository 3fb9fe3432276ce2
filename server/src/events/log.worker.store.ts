/** The SQL that gives positions to entries of all organizations, and forgets the oldest. */
import { sql } from 'kysely';
import { insertionOf } from '../db/given-rows.ts';
import type { Db } from '../db/open.ts';
import { prepare } from '../db/prepared.ts';
import type { LogEntryRow } from '../db/tables.ts';

const now = sql<number>`now_ms()`;

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

export interface PendingEntry {
  number: number;
  organization_id: string;
  is_event: number;
  recorded_at: number;
}

/** Those whose transactions are committed, in the order in which they were written. */
export async function listPending(tx: Db, limit: number): Promise<PendingEntry[]> {
  return await tx
    .selectFrom('log_pending')
    .select(['number', 'organization_id', 'is_event', 'recorded_at'])
    .orderBy('number')
    .limit(limit)
    .execute();
}

export type Head = Pick<LogEntryRow, 'organization_id' | 'trail_position' | 'sequenced_at'> & { position: number };

export async function readHeads(tx: Db, organizationIds: string[]): Promise<Map<string, Head>> {
  const rows = await tx
    .selectFrom('log_heads')
    .select(['organization_id', 'position', 'trail_position', 'sequenced_at'])
    .where('organization_id', 'in', organizationIds)
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row]));
}

export async function putHead(tx: Db, head: Head): Promise<void> {
  const { organization_id: _, ...positions } = head;
  await tx
    .insertInto('log_heads')
    .values({ ...head, hash: null })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(positions))
    .execute();
}

export interface Placed {
  number: number;
  trail_position: number;
  position: number | null;
  sequenced_at: number;
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
  'patch',
  'personal_commitment',
] as const;

/** Moves exactly these entries into the log: others with a lower number may be committed later. */
export async function place(tx: Db, placed: readonly Placed[]): Promise<void> {
  const types = { number: 'text', trail_position: 'text', position: 'text', sequenced_at: 'text' } as const;
  const rows = placed.map((one) => ({
    number: String(one.number),
    trail_position: String(one.trail_position),
    position: one.position === null ? '' : String(one.position),
    sequenced_at: String(one.sequenced_at),
  }));
  const bigint = (column: string) => sql`cast(${sql.ref(`given.${column}`)} as bigint)`;
  const facts = Object.fromEntries(factColumns.map((column) => [column, sql.ref(`pending.${column}`)]));
  const { columns, expression } = insertionOf(tx, types, rows, {
    ...facts,
    trail_position: bigint('trail_position'),
    position: sql`cast(nullif(given.position, '') as bigint)`,
    sequenced_at: bigint('sequenced_at'),
  });
  const joined = expression.innerJoin('log_pending as pending', (join) =>
    join.on(sql<boolean>`pending.number = ${bigint('number')}`),
  );
  await tx
    .insertInto('log_entries')
    .columns(columns as (keyof LogEntryRow)[])
    .expression(joined)
    .execute();
  await tx
    .deleteFrom('log_pending')
    .where(
      'number',
      'in',
      placed.map(({ number }) => number),
    )
    .execute();
}

export async function listOrganizationsWithLog(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('log_heads').select('organization_id').orderBy('organization_id').execute();
  return rows.map((row) => row.organization_id);
}

/**
 * Forgets the beginning of an organization's log as far as it is older, at most so many entries. Only a beginning: what is
 * kept has no gaps. Gives how many were forgotten.
 */
export async function forgetBefore(tx: Db, organizationId: string, ageMs: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('log_entries')
    .select([
      'trail_position',
      sql<number>`case when recorded_at < now_ms() - ${sql.lit(ageMs)} then 1 else 0 end`.as('is_old'),
    ])
    .where('organization_id', '=', organizationId)
    .orderBy('trail_position')
    .limit(limit)
    .execute();
  const firstKept = rows.findIndex(({ is_old }) => is_old === 0);
  const old = firstKept < 0 ? rows : rows.slice(0, firstKept);
  const last = old.at(-1);
  if (!last) return 0;
  await tx
    .deleteFrom('log_entries')
    .where('organization_id', '=', organizationId)
    .where('trail_position', '<=', last.trail_position)
    .execute();
  return old.length;
}
