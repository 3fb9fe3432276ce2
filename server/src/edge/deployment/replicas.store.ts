/** The SQL of `replicas` for readers. Replicas belong to the deployment, not to an organization. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { ReplicaRow } from '../../kernel/db/tables.ts';

/** More than any deployment has, in case something starts again and again. */
const maxListed = 100;

/** Three times it should have said something. */
export const silentAfterMs = 30_000;

/** The oldest first, each with the time of the database. */
export async function listReplicas(db: Db): Promise<(ReplicaRow & { now: number })[]> {
  return await db
    .selectFrom('replicas')
    .selectAll()
    .select(sql<number>`now_ms()`.as('now'))
    .orderBy('started_at')
    .orderBy('id')
    .limit(maxListed)
    .execute();
}
