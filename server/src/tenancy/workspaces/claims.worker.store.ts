/** The claims of all organizations, for the reconciler. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { NameClaimRow } from '../../kernel/db/tables.ts';

/** Unbound claims that nobody is working on. */
export async function listAbandonedClaims(db: Db, limit: number): Promise<NameClaimRow[]> {
  return await db
    .selectFrom('name_claims')
    .selectAll()
    .where('state', '=', 'creating')
    .where('lease_until', '<=', sql<number>`now_ms()`)
    .orderBy('lease_until')
    .limit(limit)
    .execute();
}

export async function countUnboundClaims(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('name_claims')
    .select(sql<number>`count(*)`.as('count'))
    .where('state', '=', 'creating')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Names that were bound while a create for them had no answer. The create can no longer take effect, but nobody has
 * looked for its outcome since then.
 */
export async function listUnsettledNames(db: Db, limit: number): Promise<NameClaimRow[]> {
  return await db
    .selectFrom('name_claims')
    .selectAll()
    .where('state', '=', sql.lit('bound' as const))
    .where('no_post_before', '>', sql.lit(0))
    .where('no_post_before', '<=', sql<number>`now_ms()`)
    .orderBy('no_post_before')
    .limit(limit)
    .execute();
}
