/** The SQL of `scheduled_backups`. Backups belong to the deployment, not to an organization. */
import { isFreeFor, leaseFor, noLease } from '../../kernel/db/leases.ts';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';

export interface LastRun {
  ranAt: number;
  madeAt: number | null;
  now: number;
}

export async function readLastRun(db: Db): Promise<LastRun> {
  return await db
    .selectFrom('scheduled_backups')
    .select(['ran_at as ranAt', 'made_at as madeAt', now.as('now')])
    .executeTakeFirstOrThrow();
}

/** Takes or renews the lease. False while another replica has it, or if one has finished a backup since `ranAt`. */
export async function leaseBackup(db: Db, leaseId: string, leaseMs: number, ranAt: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('scheduled_backups')
    .set(leaseFor(leaseId, leaseMs))
    .where('ran_at', '=', ranAt)
    .where(isFreeFor(leaseId))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** `madeAt`: undefined if no backup was made. */
export async function recordRun(tx: Db, leaseId: string, madeAt: number | undefined): Promise<void> {
  await tx
    .updateTable('scheduled_backups')
    .set({ ran_at: now, ...(madeAt !== undefined && { made_at: madeAt }), ...noLease })
    .where('lease_id', '=', leaseId)
    .execute();
}

export async function releaseBackup(db: Db, leaseId: string): Promise<void> {
  await db.updateTable('scheduled_backups').set(noLease).where('lease_id', '=', leaseId).execute();
}
