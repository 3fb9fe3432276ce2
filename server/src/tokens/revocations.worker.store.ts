/** The revocations of all workspaces, for the housekeeping. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

/** An expired token is refused without it. A day late, for clocks that disagree. */
export async function purgeExpiredRevocations(db: Db): Promise<void> {
  await db.deleteFrom('revoked_tokens').where('expires_at', '<', sql<number>`now_ms() - 86400000`).execute();
}
