/**
 * The SQL of `quotas` and `usage_days`, and the counts that quotas are compared with. Every count stays within one
 * workspace, has an index, and stops at the limit where only the limit matters: a request costs the same however many
 * workspaces, sources and jobs there are.
 */
import { type Expression, type Kysely, sql } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import type { QuotaHoldRow, Tables } from '../../kernel/db/tables.ts';

/** Jobs that use the platform, or will do so again without anybody asking. */
const atWork = ['running', 'incomplete'] as const;

const limitsById = prepare((db, organizationId: string, workspaceId: string) =>
  db
    .selectFrom('quotas')
    .select(['id', 'limits'])
    .where('organization_id', '=', organizationId)
    .where((where) => where.or([where('id', '=', organizationId), where('id', '=', workspaceId)])),
);

/** What is set for the organization and for the workspace, by the id of each. */
export async function findLimits(db: Db, organizationId: string, workspaceId: string): Promise<Map<string, string>> {
  const rows = await limitsById(db, organizationId, workspaceId);
  return new Map(rows.map(({ id, limits }) => [id, limits]));
}

/** The same for several workspaces. */
export async function listLimits(
  db: Db,
  organizationId: string,
  workspaceIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('quotas')
    .select(['id', 'limits'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [organizationId, ...workspaceIds])
    .execute();
  return new Map(rows.map(({ id, limits }) => [id, limits]));
}

/** No id comes before this one. */
const first = '00000000-0000-0000-0000-000000000000';

/** `id`: of the organization, whose workspaces are then all reviewed in the background, or of one of its workspaces. */
export async function putLimits(tx: Db, organizationId: string, id: string, limits: string): Promise<void> {
  const review_after = id === organizationId ? first : null;
  await tx
    .insertInto('quotas')
    .values({ id, organization_id: organizationId, limits, updated_at: now, review_after })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ limits, updated_at: now, review_after })
        .where('quotas.organization_id', '=', organizationId),
    )
    .execute();
}

export async function removeLimits(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('quotas').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

function liveSources(db: Kysely<Tables>, workspaceIds: readonly string[]) {
  return db
    .selectFrom('sources')
    .where('workspace_id', 'in', workspaceIds)
    .where('deleted_at', 'is', null)
    .where('lifecycle', '=', 'live');
}

function liveConnections(db: Kysely<Tables>, workspaceIds: readonly string[]) {
  return db
    .selectFrom('connections')
    .innerJoin('sources', 'sources.id', 'connections.source_id')
    .where('connections.workspace_id', 'in', workspaceIds)
    .where('connections.deleted_at', 'is', null)
    .where('sources.lifecycle', '=', 'live');
}

function jobsAtWork(db: Kysely<Tables>, workspaceIds: readonly string[]) {
  return db
    .selectFrom('jobs')
    .where('workspace_id', 'in', workspaceIds)
    .where('ended_at', 'is', null)
    .where('status', 'in', atWork);
}

const one = sql<number>`1`.as('one');
const countOf = (rows: Expression<unknown>) => sql<number>`(select count(*) from ${rows} as counted)`;

const countsUpTo = prepare((db, workspaceId: string, sources: number, connections: number) =>
  db.selectNoFrom([
    countOf(liveSources(db, [workspaceId]).select(one).limit(sources)).as('sources'),
    countOf(liveConnections(db, [workspaceId]).select(one).limit(connections)).as('connections'),
  ]),
);

/** How many sources and connections a workspace has, each counted no further than to its limit. */
export async function countUpTo(
  db: Db,
  workspaceId: string,
  most: { sources: number; connections: number },
): Promise<{ sources: number; connections: number }> {
  const [counts] = await countsUpTo(db, workspaceId, most.sources, most.connections);
  return { sources: Number(counts?.sources), connections: Number(counts?.connections) };
}

/** How many connections of a workspace have a sync that has been accepted and has not ended, and whether this one is starting. */
export async function countAccepted(
  tx: Db,
  workspaceId: string,
  connectionId: string,
): Promise<{ count: number; isStarting: boolean }> {
  const starting = () =>
    tx
      .selectFrom('connections')
      .select('id as connection_id')
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .where('starting_until', '>', now);
  const open = tx
    .selectFrom('jobs')
    .select('connection_id')
    .where('workspace_id', '=', workspaceId)
    .where('ended_at', 'is', null);
  const own = countOf(starting().where('id', '=', connectionId));
  const row = await tx
    .selectNoFrom([countOf(open.union(starting())).as('count'), own.as('own')])
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), isStarting: Number(row.own) > 0 };
}

/** `ms`: how long the platform may take to start it. 0: it has, or never will. */
export async function putStarting(tx: Db, workspaceId: string, connectionId: string, ms: number): Promise<void> {
  await tx
    .updateTable('connections')
    .set({ starting_until: ms === 0 ? 0 : fromNow(ms) })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', connectionId)
    .execute();
}

/** How many syncs of each workspace are at work; a workspace without any is left out. */
export async function countSyncs(db: Db, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const count = sql<number>`count(*)`.as('count');
  const rows = await jobsAtWork(db, workspaceIds).select(['workspace_id', count]).groupBy('workspace_id').execute();
  return new Map(rows.map((row) => [row.workspace_id, Number(row.count)]));
}

/** The limits on syncs that the platform keeps, by workspace. */
export async function listKeptSyncLimits(db: Db, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'sync_limit'])
    .where('id', 'in', workspaceIds)
    .where('sync_limit_kept', '=', 1)
    .execute();
  return new Map(rows.map(({ id, sync_limit }) => [id, sync_limit ?? 0]));
}

export interface Counts {
  sources: number;
  connections: number;
  concurrent_syncs: number;
}

/** Counts of the given workspaces. Workspaces without any are omitted. */
export async function countAll(db: Db, workspaceIds: readonly string[]): Promise<Map<string, Counts>> {
  const counts = new Map<string, Counts>();
  if (workspaceIds.length === 0) return counts;
  const count = sql<number>`count(*)`.as('count');
  const put = (what: keyof Counts, rows: readonly { workspace_id: string; count: number }[]) => {
    for (const { workspace_id: id, count } of rows) {
      const known = counts.get(id) ?? { sources: 0, connections: 0, concurrent_syncs: 0 };
      counts.set(id, { ...known, [what]: Number(count) });
    }
  };
  put('sources', await liveSources(db, workspaceIds).select(['workspace_id', count]).groupBy('workspace_id').execute());
  put(
    'connections',
    await liveConnections(db, workspaceIds)
      .select(['connections.workspace_id', count])
      .groupBy('connections.workspace_id')
      .execute(),
  );
  put(
    'concurrent_syncs',
    await jobsAtWork(db, workspaceIds).select(['workspace_id', count]).groupBy('workspace_id').execute(),
  );
  return counts;
}

/** A sync has ended on this day: `day` is its first millisecond, in UTC. */
export async function addUse(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  use: { day: number; rows: number; bytes: number },
): Promise<void> {
  await tx
    .insertInto('usage_days')
    .values({
      organization_id: organizationId,
      workspace_id: workspaceId,
      day: use.day,
      syncs: 1,
      row_count: use.rows,
      byte_count: use.bytes,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'day']).doUpdateSet({
        syncs: sql<number>`usage_days.syncs + 1`,
        row_count: sql<number>`usage_days.row_count + excluded.row_count`,
        byte_count: sql<number>`usage_days.byte_count + excluded.byte_count`,
      }),
    )
    .execute();
}

export interface Synced {
  rows_per_day: number;
  rows_per_month: number;
  bytes_per_day: number;
  bytes_per_month: number;
}

/** What workspaces have moved since the beginning of the day and of the month; none means nothing. */
export async function sumUse(
  db: Db,
  workspaceIds: readonly string[],
  { day, month }: { day: number; month: number },
): Promise<Map<string, Synced>> {
  if (workspaceIds.length === 0) return new Map();
  const today = (column: 'row_count' | 'byte_count') =>
    sql<number>`sum(case when day >= ${day} then ${sql.ref(column)} else 0 end)`;
  const rows = await db
    .selectFrom('usage_days')
    .select(({ fn }) => [
      'workspace_id',
      today('row_count').as('rows_per_day'),
      fn.sum<number>('row_count').as('rows_per_month'),
      today('byte_count').as('bytes_per_day'),
      fn.sum<number>('byte_count').as('bytes_per_month'),
    ])
    .where('workspace_id', 'in', workspaceIds)
    .where('day', '>=', month)
    .groupBy('workspace_id')
    .execute();
  return new Map(
    rows.map(({ workspace_id, ...synced }) => [
      workspace_id,
      Object.fromEntries(Object.entries(synced).map(([name, sum]) => [name, Number(sum)])) as unknown as Synced,
    ]),
  );
}

export async function findHold(db: Db, workspaceId: string): Promise<QuotaHoldRow | undefined> {
  return await db.selectFrom('quota_holds').selectAll().where('workspace_id', '=', workspaceId).executeTakeFirst();
}

export async function putHold(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  hold: Pick<QuotaHoldRow, 'quota' | 'quota_limit' | 'used' | 'until'>,
): Promise<void> {
  await tx
    .insertInto('quota_holds')
    .values({ ...hold, organization_id: organizationId, workspace_id: workspaceId })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(hold))
    .execute();
}

export async function removeHold(tx: Db, workspaceId: string): Promise<void> {
  await tx.deleteFrom('quota_holds').where('workspace_id', '=', workspaceId).execute();
}

/** False when that was said before. What was said in periods before this month is forgotten. */
export async function insertNotice(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  notice: Pick<Tables['quota_notices'], 'quota' | 'level' | 'quota_limit' | 'period'>,
): Promise<boolean> {
  const row = await tx
    .insertInto('quota_notices')
    .values({ ...notice, organization_id: organizationId, workspace_id: workspaceId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('workspace_id')
    .executeTakeFirst();
  if (!row) return false;
  await tx
    .deleteFrom('quota_notices')
    .where('workspace_id', '=', workspaceId)
    .where('period', '<', notice.period - twoMonthsMs)
    .execute();
  return true;
}

const twoMonthsMs = 62 * 86_400_000;
