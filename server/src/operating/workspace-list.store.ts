/** Pages of workspaces in several orders. Each order has an index: alone, after the health, and after the status. */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import type { HealthState } from '@inlay/contract/pipelines/health';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../kernel/db/open.ts';
import type { WorkspaceRow } from '../kernel/db/tables.ts';

const columns = ['id', 'name', 'organization_id', 'status', 'created_at', 'updated_at'] as const;
export type ListedWorkspace = Pick<WorkspaceRow, (typeof columns)[number]> & {
  health: HealthState;
  unwell_since: number | null;
  active_at: number;
  sort_key: number | string;
};

export type WorkspaceOrder = 'created_at' | 'name' | 'last_activity_at' | 'unwell_since';

/** The words of the indexes: a database takes an index only for the same words. */
const keys: Record<WorkspaceOrder, RawBuilder<number | string>> = {
  created_at: sql<number | string>`created_at`,
  name: sql<number | string>`substr(name_folded, 1, 100)`,
  last_activity_at: sql<number | string>`active_at`,
  unwell_since: sql<number | string>`coalesce(unwell_since, 9007199254740991)`,
};

export interface WorkspaceSlice {
  order: WorkspaceOrder;
  isDescending: boolean;
  after: { key: number | string; id: string } | undefined;
  limit: number;
}

export interface WorkspaceListFilter {
  health?: HealthState | undefined;
  status?: WorkspaceStatus | undefined;
  from?: number | undefined;
  until?: number | undefined;
  /** Only these. */
  ids?: readonly string[] | undefined;
  /** Folded; for names of which so many contain it that a page is soon full. */
  contains?: string | undefined;
  /** With `contains`: only the first so many of the list are looked at. */
  among?: number | undefined;
}

export async function listWorkspacePage(
  db: Db,
  organizationId: string,
  { health, status, from, until, ids, contains, among }: WorkspaceListFilter,
  { order, isDescending, after, limit }: WorkspaceSlice,
): Promise<ListedWorkspace[]> {
  if (ids?.length === 0) return [];
  const key = keys[order];
  const isAfter = isDescending ? sql`<` : sql`>`;
  let page = db
    .selectFrom('workspaces')
    .select([...columns, 'health', 'unwell_since', 'active_at'])
    .select(key.as('sort_key'))
    .where('organization_id', '=', organizationId)
    // In the text of the statement, so that SQLite can compare it with the condition of the indexes.
    .where('lifecycle', '<>', sql.lit('deleted' as const));
  if (health !== undefined) page = page.where('health', '=', health);
  // Each order has an index of the status, too; with a health, the index of the health is the one to take.
  if (status !== undefined && health === undefined) page = page.where('status', '=', status);
  else if (status !== undefined) page = page.where(sql<boolean>`likely(status || '' = ${status})`);
  if (from !== undefined) page = page.where(sql<boolean>`likely(created_at >= ${from})`);
  if (until !== undefined) page = page.where(sql<boolean>`likely(created_at < ${until})`);
  if (ids) page = page.where('id', 'in', ids);
  const holds = contains === undefined ? undefined : sql<boolean>`instr(name_folded, ${contains}) > 0`;
  if (holds && among === undefined) page = page.where(holds);
  if (after) {
    page = page.where(sql<boolean>`(${key}, id) ${isAfter} (${after.key}, ${after.id})`);
    // SQLite only seeks in an expression index by this condition. For column indexes, more conditions would make it
    // pick the wrong index.
    if (order === 'name' || order === 'unwell_since') page = page.where(sql<boolean>`${key} ${isAfter}= ${after.key}`);
  }
  const direction = isDescending ? 'desc' : 'asc';
  const inOrder = page.orderBy(key, direction).orderBy('id', direction);
  if (!holds || among === undefined) return await inOrder.limit(limit).execute();
  return await db
    .selectFrom(inOrder.select('name_folded').limit(among).as('first'))
    .select([...columns, 'health', 'unwell_since', 'active_at', 'sort_key'])
    .where(holds)
    .orderBy('sort_key', direction)
    .orderBy('id', direction)
    .limit(limit)
    .execute();
}
