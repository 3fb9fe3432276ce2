/** The SQL of `replicas` for the process that a row is about. */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { ReplicaRow } from '../../kernel/db/tables.ts';

export async function putSeen(db: Db, replica: Omit<ReplicaRow, 'started_at' | 'last_seen_at'>): Promise<void> {
  const { encryption_keys } = replica;
  await db
    .insertInto('replicas')
    .values({ ...replica, started_at: now, last_seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_seen_at: now, encryption_keys }))
    .execute();
}

export async function deleteSilent(db: Db, silentMs: number): Promise<void> {
  await db
    .deleteFrom('replicas')
    .where('last_seen_at', '<', sql<number>`now_ms() - ${sql.lit(silentMs)}`)
    .execute();
}

export async function deleteReplica(db: Db, id: string): Promise<void> {
  await db.deleteFrom('replicas').where('id', '=', id).execute();
}
