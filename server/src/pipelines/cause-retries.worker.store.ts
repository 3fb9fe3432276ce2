/** The retries of causes of all organizations, for the worker that carries them out and for the housekeeping. */
import { sql } from 'kysely';
import { now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { CauseRetryRow } from '../db/tables.ts';

/** Those that can go on, the longest due first, so that each has its turn. */
export async function listDueRetries(db: Db, limit: number): Promise<CauseRetryRow[]> {
  return await db
    .selectFrom('cause_retries')
    .selectAll()
    .where('state', '=', 'running')
    .where('due_at', '<=', now)
    .where('lease_until', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute();
}

/** Those that ended that long ago, with their items. A few at a time: a retry may have ten thousand. */
export async function deleteOldRetries(db: Db, agoMs: number, limit: number): Promise<void> {
  const rows = await db
    .selectFrom('cause_retries')
    .select('id')
    .where('ended_at', '<', sql<number>`now_ms() - ${sql.lit(agoMs)}`)
    .orderBy('ended_at')
    .limit(limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  await db.deleteFrom('cause_retry_items').where('retry_id', 'in', ids).execute();
  await db.deleteFrom('cause_retries').where('id', 'in', ids).execute();
}
