/** The SQL of `definition_changes_told`: changes of the bundled platform's connectors that the log has already. */
import { sql } from 'kysely';
import type { Db } from '../../kernel/db/open.ts';

/**
 * False if the change was already logged. A concurrent process that logs the same change waits until this transaction
 * ends.
 */
export async function insertTold(tx: Db, changeId: string): Promise<boolean> {
  const row = await tx
    .insertInto('definition_changes_told')
    .values({ change_id: changeId, told_at: sql<number>`now_ms()` })
    .onConflict((conflict) => conflict.doNothing())
    .returning('change_id')
    .executeTakeFirst();
  return row !== undefined;
}
