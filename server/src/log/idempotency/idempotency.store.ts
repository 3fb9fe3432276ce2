/** The SQL of `idempotency_keys`. */
import type { UpdateObject } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { IdempotencyKeyRow, Tables } from '../../kernel/db/tables.ts';

/** Who works on the request of a key. */
export interface Claim {
  organizationId: string;
  id: string;
  claim: string;
}

interface NewKey extends Claim {
  slot: string;
  sealed: string;
  leaseMs: number;
  keptMs: number;
}

/** False when the slot is taken. An expired row makes room. */
export async function insertKey(
  db: Db,
  { organizationId, id, claim, slot, sealed, leaseMs, keptMs }: NewKey,
): Promise<boolean> {
  const row = await db
    .insertInto('idempotency_keys')
    .values({
      id,
      organization_id: organizationId,
      slot,
      claim,
      lease_until: fromNow(leaseMs),
      applied_at: null,
      answered_at: null,
      sealed_record: sealed,
      expires_at: fromNow(keptMs),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'slot'])
        .doUpdateSet((excluded) => ({
          id: excluded.ref('excluded.id'),
          claim: excluded.ref('excluded.claim'),
          lease_until: excluded.ref('excluded.lease_until'),
          applied_at: null,
          answered_at: null,
          sealed_record: excluded.ref('excluded.sealed_record'),
          expires_at: excluded.ref('excluded.expires_at'),
        }))
        .where('idempotency_keys.expires_at', '<=', now),
    )
    .returning('id')
    .executeTakeFirst();
  return row?.id === id;
}

export async function findKey(
  db: Db,
  organizationId: string,
  slot: string,
): Promise<(IdempotencyKeyRow & { now: number }) | undefined> {
  return await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .select(now.as('now'))
    .where('organization_id', '=', organizationId)
    .where('slot', '=', slot)
    .executeTakeFirst();
}

/** Only from a claim whose lease has run out, and only once. */
export async function takeOver(
  db: Db,
  { organizationId, id, claim }: Claim,
  next: string,
  leaseMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('idempotency_keys')
    .set({ claim: next, lease_until: fromNow(leaseMs) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('answered_at', 'is', null)
    .where('lease_until', '<=', now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Changes the row as long as the claim holds and nothing has been answered. */
async function change(
  db: Db,
  { organizationId, id, claim }: Claim,
  changes: UpdateObject<Tables, 'idempotency_keys'>,
): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('answered_at', 'is', null)
    .execute();
}

export async function renewLease(db: Db, claim: Claim, leaseMs: number): Promise<void> {
  await change(db, claim, { lease_until: fromNow(leaseMs) });
}

/** In the transaction that changes something: both are there after a crash, or neither is. */
export async function recordApplied(tx: Db, claim: Claim): Promise<void> {
  await change(tx, claim, { applied_at: now });
}

/** Kept for a day from now, whatever the work took. */
export async function recordAnswer(db: Db, claim: Claim, sealed: string, keptMs: number): Promise<void> {
  await change(db, claim, { sealed_record: sealed, answered_at: now, expires_at: fromNow(keptMs) });
}

/** The next request with this key is carried out. */
export async function deleteKey(
  db: Db,
  { organizationId, id, claim }: Claim,
  { unlessApplied }: { unlessApplied: boolean },
): Promise<void> {
  let deletion = db
    .deleteFrom('idempotency_keys')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('answered_at', 'is', null);
  if (unlessApplied) deletion = deletion.where('applied_at', 'is', null);
  await deletion.execute();
}

/** The work has ended without an answer that could be kept. */
export async function endLease(db: Db, claim: Claim): Promise<void> {
  await change(db, claim, { lease_until: now });
}
