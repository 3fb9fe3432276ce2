/** The SQL of `coordinators`, and of `runner_lease`, which has one row at most. Both serve all workspaces. */
import type { Db } from '../db/open.ts';
import type { CoordinatorRow } from '../db/tables.ts';

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

export async function listCoordinators(db: Db): Promise<CoordinatorRow[]> {
  return await db.selectFrom('coordinators').selectAll().orderBy('name').execute();
}

export async function findCoordinator(tx: Db, name: string): Promise<CoordinatorRow | undefined> {
  return await tx.selectFrom('coordinators').selectAll().where('name', '=', name).executeTakeFirst();
}

export async function putCoordinator(tx: Db, { name, ...rest }: CoordinatorRow): Promise<void> {
  await tx
    .insertInto('coordinators')
    .values({ name, ...rest })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(rest))
    .execute();
}

export async function deleteCoordinators(db: Db, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await db.deleteFrom('coordinators').where('name', 'in', names).execute();
}
