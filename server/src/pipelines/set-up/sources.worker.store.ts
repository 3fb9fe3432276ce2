/** The sources of all workspaces, for the worker that sets them up. */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';

interface DueSource {
  id: string;
  workspaceId: string;
}

/**
 * The first due source of every workspace, then the second of every workspace, and so on: each has its share of the
 * limit.
 */
export async function listDueSources(db: Db, limit: number): Promise<DueSource[]> {
  return await db
    .selectFrom(
      db
        .selectFrom('sources')
        .select(['id', 'workspace_id as workspaceId', 'due_at'])
        .select(sql<number>`row_number() over (partition by workspace_id order by due_at, id)`.as('place'))
        .where('due_at', '<=', now)
        .where('lease_until', '<=', now)
        .as('due'),
    )
    .select(['id', 'workspaceId'])
    .orderBy('place')
    .orderBy('due_at')
    .limit(limit)
    .execute();
}

export async function countDueSources(db: Db): Promise<number> {
  const row = await db
    .selectFrom('sources')
    .select(sql<number>`count(*)`.as('count'))
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
