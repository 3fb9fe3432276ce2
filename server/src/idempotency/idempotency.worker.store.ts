/** The keys of all tokens, for the housekeeping. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

export async function deleteExpiredKeys(db: Db): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('expires_at', '<=', sql<number>`now_ms()`).execute();
}
