/** The SQL of `oauth_flows` over all tenants. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';

/** Flows that nobody has finished in time. A link that was never opened is one of them. */
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
