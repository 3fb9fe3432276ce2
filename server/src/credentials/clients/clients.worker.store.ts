/** The SQL of `oauth_clients` over all organizations: whose secrets end soon. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { OAuthClientRow } from '../../kernel/db/tables.ts';

/** `now`: of the database, when the row was read. */
export type EndingClient = OAuthClientRow & { now: number };

/** Clients whose secret expires within that time, without a final warning yet. */
export async function listEnding(
  db: Db,
  { withinMs, lastDays }: { withinMs: number; lastDays: number },
): Promise<EndingClient[]> {
  return await db
    .selectFrom('oauth_clients')
    .selectAll()
    .select(sql<number>`now_ms()`.as('now'))
    .where('secret_expires_at', '<=', sql<number>`now_ms() + ${sql.lit(withinMs)}`)
    .where((is) => is.or([is('secret_warned_days', 'is', null), is('secret_warned_days', '>', lastDays)]))
    .execute();
}

/** False: another replica was faster, or the secret has changed. */
export async function noteWarning(tx: Db, client: OAuthClientRow, days: number): Promise<boolean> {
  const noted = await tx
    .updateTable('oauth_clients')
    .set({ secret_warned_days: days })
    .where('id', '=', client.id)
    .where('secret_expires_at', '=', client.secret_expires_at)
    .where((is) => is.or([is('secret_warned_days', 'is', null), is('secret_warned_days', '>', days)]))
    .returning('id')
    .executeTakeFirst();
  return noted !== undefined;
}
