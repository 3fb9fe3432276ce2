/** The SQL of `checks`, which belong to no workspace: whoever knows the id of one may ask for it. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

const fromNow = (ms: number) => sql<number>`now_ms() + cast(${ms} as bigint)`;

/** Also of what nobody asks about any more. */
export async function putCheck(
  db: Db,
  { checkId, owner, outcome }: { checkId: string; owner: string; outcome: string },
  { aliveMs, keptMs }: { aliveMs: number; keptMs: number },
): Promise<void> {
  await db.deleteFrom('checks').where('created_at', '<=', fromNow(-keptMs)).execute();
  await db
    .insertInto('checks')
    .values({ check_id: checkId, owner, outcome, alive_until: fromNow(aliveMs), created_at: fromNow(0) })
    .onConflict((conflict) => conflict.column('check_id').doUpdateSet({ outcome, alive_until: fromNow(aliveMs) }))
    .execute();
}

/** `isAlive`: the process that runs it has said so lately. */
export async function findCheck(
  db: Db,
  owner: string,
  checkId: string,
  keptMs: number,
): Promise<{ outcome: string; isAlive: boolean } | undefined> {
  const row = await db
    .selectFrom('checks')
    .select(['outcome', sql<number>`case when alive_until > now_ms() then 1 else 0 end`.as('alive')])
    .where('owner', '=', owner)
    .where('check_id', '=', checkId)
    .where('created_at', '>', fromNow(-keptMs))
    .executeTakeFirst();
  return row && { outcome: row.outcome, isAlive: row.alive === 1 };
}

export async function prolongChecks(db: Db, checkIds: readonly string[], aliveMs: number): Promise<void> {
  await db
    .updateTable('checks')
    .set({ alive_until: fromNow(aliveMs) })
    .where('check_id', 'in', checkIds)
    .execute();
}

export async function deleteChecks(db: Db): Promise<void> {
  await db.deleteFrom('checks').execute();
}
