/** The SQL of `oauth_flows` over all tenants: what has ended, and what is forgotten. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';
import type { OAuthFlowRow } from '../db/tables.ts';

/** Sign-ins that nobody has finished in time. A link that was never opened is one of them. */
export async function listOverdue(db: Db, atMost: number): Promise<OAuthFlowRow[]> {
  return await db
    .selectFrom('oauth_flows')
    .selectAll()
    .where('expires_at', '<=', sql<number>`now_ms()`)
    .where('state', 'in', ['created', 'started', 'exchanging', 'unconfirmed'])
    .orderBy('expires_at')
    .limit(atMost)
    .execute();
}

export async function deleteEnded(db: Db, keptMs: number): Promise<void> {
  const before = sql<number>`now_ms() - ${sql.lit(keptMs)}`;
  await db
    .deleteFrom('oauth_flows')
    .where('expires_at', '<=', before)
    .where('ended_at', '<=', before)
    .where((is) => is.or([is('link_until', 'is', null), is('link_until', '<=', before)]))
    .execute();
}
