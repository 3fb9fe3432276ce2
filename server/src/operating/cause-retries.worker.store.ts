/** The retries of causes of all organizations, for the worker that carries them out. */
import { now } from '../kernel/db/moments.ts';
import type { Db } from '../kernel/db/open.ts';
import type { CauseRetryRow } from '../kernel/db/tables.ts';

/** Retries that can continue, longest due first, so that each gets its turn. */
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
