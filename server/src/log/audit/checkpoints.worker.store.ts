/** The SQL that finds the trails of all organizations that are to be signed. */
import type { Db } from '../../kernel/db/open.ts';
import { isDue } from './due.ts';

export async function listDue(db: Db, everyMs: number): Promise<string[]> {
  const rows = await db.selectFrom('log_heads').select('organization_id').where(isDue(everyMs)).execute();
  return rows.map((row) => row.organization_id);
}
