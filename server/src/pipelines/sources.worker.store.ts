/** The sources of all workspaces, for the worker that sets them up. */
import { sql } from 'kysely';
import type { Db } from '../db/open.ts';

const now = sql<number>`now_ms()`;

interface DueSource {
  id: string;
  workspaceId: string;
}

export async function listDueSources(db: Db, limit: number): Promise<DueSource[]> {
  return await db
    .selectFrom('sources')
    .select(['id', 'workspace_id as workspaceId'])
    .where('due_at', '<=', now)
    .where('lease_until', '<=', now)
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
