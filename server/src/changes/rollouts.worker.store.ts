/** The rollouts of all organizations, for the worker that carries them out. */
import { sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { RolloutRow } from '../kernel/db/tables.ts';

/** Those that run, and those of which workspaces are still being changed. */
export async function listOpenRollouts(db: Db, limit: number): Promise<RolloutRow[]> {
  return await db
    .selectFrom('rollouts')
    .selectAll()
    .where('lease_until', '<=', sql<number>`now_ms()`)
    .where((when) =>
      when.or([
        when('state', '=', 'running'),
        when('id', 'in', db.selectFrom('rollout_items').select('rollout_id').where('state', '=', 'changing')),
      ]),
    )
    .orderBy('created_at')
    .limit(limit)
    .execute();
}
