/** The revocations of all workspaces, for the housekeeping. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

/** An expired token is refused anyway, so its revocation can go. It goes a day later, because clocks may disagree. */
export async function purgeExpiredRevocations(db: Db): Promise<void> {
  await db.deleteFrom('revoked_tokens').where('expires_at', '<', sql<number>`now_ms() - 86400000`).execute();
}
