/** The SQL of `runner_lease`, which has one row at most: who runs the jobs of all workspaces. */
import type { Db } from '../db/open.ts';

export interface HeldLease {
  holder: string;
  expires_at: number;
  /** Ids of the encryption keys that the holder has, the first one seals; null: a version that did not say it. */
  encryption_keys: string | null;
}

export async function findLease(tx: Db): Promise<HeldLease | undefined> {
  return await tx.selectFrom('runner_lease').select(['holder', 'expires_at', 'encryption_keys']).executeTakeFirst();
}

export async function putLease(tx: Db, lease: HeldLease): Promise<void> {
  await tx
    .insertInto('runner_lease')
    .values({ id: 1, ...lease })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(lease))
    .execute();
}

export async function deleteLease(db: Db, holder: string): Promise<void> {
  await db.deleteFrom('runner_lease').where('holder', '=', holder).execute();
}
