/** The plans of all organizations, for the housekeeping. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

/** Plans that nobody can apply any more, with their items. A few at a time: a plan may have a hundred thousand. */
export async function deleteExpiredPlans(db: Db, limit: number): Promise<void> {
  const rows = await db
    .selectFrom('template_plans')
    .select('id')
    .where('expires_at', '<=', sql<number>`now_ms()`)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  await db.deleteFrom('template_plan_items').where('plan_id', 'in', ids).execute();
  await db.deleteFrom('template_plans').where('id', 'in', ids).execute();
}
