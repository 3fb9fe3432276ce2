/** What is over, of all organizations. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

/** The log tells for much longer who was there. */
const keptMs = 7 * 86_400_000;

export async function deleteEnded(db: Db): Promise<void> {
  const before = sql<number>`now_ms() - ${sql.lit(keptMs)}`;
  await db.deleteFrom('console_sessions').where('ends_at', '<', before).execute();
  await db.deleteFrom('console_links').where('expires_at', '<', before).execute();
  await db.deleteFrom('console_sign_ins').where('expires_at', '<', sql<number>`now_ms()`).execute();
}
