/** The checks of all workspaces, for the housekeeping. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';
import type { SourceCheckRow } from '../../kernel/db/tables.ts';

/** Checks that may have left something on the platform, and whose requests can no longer take effect there. */
export async function listLingeringChecks(db: Db, settleMs: number, limit: number): Promise<SourceCheckRow[]> {
  return await db
    .selectFrom('source_checks')
    .selectAll()
    .where('may_linger', '=', 1)
    .where('expires_at', '<=', sql<number>`now_ms() - ${sql.lit(settleMs)}`)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}
