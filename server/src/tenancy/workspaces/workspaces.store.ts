/** The SQL of the `workspaces` table. Every function is bound to one organization or to one workspace. */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import { type NotNull, sql } from 'kysely';
import { insertionOf } from '../../kernel/db/given-rows.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare, preparePage } from '../../kernel/db/prepared.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import type { Position } from './cursor.ts';
import { oncePerShape } from './list-shape.ts';
import { foldForSearch, nameIdentity } from './names.ts';

/** All columns of a row, except the one that the database computes for its search index. */
export const columns = [
  'id',
  'organization_id',
  'name',
  'name_folded',
  'desired_name',
  'status',
  'lifecycle',
  'gen',
  'name_gen',
  'name_settled_at',
  'token_gen',
  'created_at',
  'updated_at',
  'deleted_at',
  'held_since',
  'sync_limit',
  'sync_limit_kept',
] as const satisfies (keyof WorkspaceRow)[];

/** Strictly after the last change, even when the clock stands still or went back. */
const laterThanUpdatedAt = sql<number>`case when now_ms() > updated_at then now_ms() else updated_at + 1 end`;

/**
 * A literal in the statement, not a parameter. SQLite matches it with the partial indexes of workspaces that are not
 * deleted. With a parameter, it would plan the statement again each time.
 */
export const deleted = sql.lit('deleted' as const);

const visible = (db: Db, organizationId: string, id: string) =>
  db
    .selectFrom('workspaces')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('lifecycle', '<>', deleted);

const workspaceById = prepare((db, organizationId: string, id: string) =>
  visible(db, organizationId, id).select(columns),
);

export async function findWorkspace(db: Db, organizationId: string, id: string): Promise<WorkspaceRow | undefined> {
  return (await workspaceById(db, organizationId, id))[0];
}

export async function findOldestLiveId(db: Db, organizationId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('workspaces')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('lifecycle', '=', 'live')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export async function isLive(db: Db, workspaceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .where('lifecycle', '=', 'live')
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds a workspace even if it is being deleted or deleted, for code that finishes work on it. */
export async function findAnyWorkspace(db: Db, organizationId: string, id: string): Promise<WorkspaceRow | undefined> {
  return await db
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Reads the row and keeps others from changing it until the transaction ends, on both databases: an update that changes
 * nothing.
 */
export async function lockWorkspace(tx: Db, organizationId: string, id: string): Promise<WorkspaceRow | undefined> {
  return await tx
    .updateTable('workspaces')
    .set({ gen: sql`gen` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
}

export interface WorkspaceFilter {
  status?: WorkspaceStatus | undefined;
  after?: Position | undefined;
}

/** The columns that the API shows. */
export const shownColumns = ['id', 'name', 'organization_id', 'status', 'created_at', 'updated_at'] as const;
export type ShownWorkspace = Pick<WorkspaceRow, (typeof shownColumns)[number]>;

const shownById = prepare((db, organizationId: string, id: string) =>
  visible(db, organizationId, id).select(shownColumns),
);

export async function findShown(db: Db, organizationId: string, id: string): Promise<ShownWorkspace | undefined> {
  return (await shownById(db, organizationId, id))[0];
}

/** Newest first. */
export async function listWorkspaces(
  db: Db,
  organizationId: string,
  { status, after }: WorkspaceFilter,
  limit: number,
): Promise<ShownWorkspace[]> {
  const list = listOf({ byStatus: status !== undefined, isFirst: !after, limit });
  return await list(db, organizationId, status ?? 'active', after?.createdAt ?? 0, after?.id ?? '');
}

const listOf = oncePerShape(({ byStatus, isFirst, limit }) =>
  preparePage((db, organizationId: string, status: WorkspaceStatus, createdAt: number, id: string) => {
    let query = db
      .selectFrom('workspaces')
      .select(shownColumns)
      .where('organization_id', '=', organizationId)
      .where('lifecycle', '<>', deleted);
    if (byStatus) query = query.where('status', '=', status);
    if (!isFirst) query = query.where(sql<boolean>`(created_at, id) < (${createdAt}, ${id})`);
    return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(sql.lit(limit));
  }),
);

const countsOf = prepare((db, organizationId: string) =>
  db.selectFrom('workspace_counts').select(['status', 'count']).where('organization_id', '=', organizationId),
);

/** Counts the workspaces that are not deleted. */
export async function countByStatus(db: Db, organizationId: string): Promise<Record<WorkspaceStatus, number>> {
  const counts = { active: 0, inactive: 0 };
  for (const { status, count } of await countsOf(db, organizationId)) counts[status] += count;
  return counts;
}

export interface NewWorkspace {
  id: string;
  name: string;
}

/**
 * Inserts the workspaces that are not known yet, as active, and returns the inserted rows. A tombstone stays a
 * tombstone.
 */
export async function insertMissing(
  db: Db,
  organizationId: string,
  workspaces: NewWorkspace[],
): Promise<WorkspaceRow[]> {
  if (workspaces.length === 0) return [];
  const insertion = insertionOf(
    db,
    { id: 'uuid', name: 'text', name_folded: 'text' },
    workspaces.map(({ id, name }) => ({ id, name, name_folded: foldForSearch(name) })),
    {
      id: sql.ref('given.id'),
      organization_id: sql.val(organizationId),
      name: sql.ref('given.name'),
      name_folded: sql.ref('given.name_folded'),
      desired_name: sql.lit(null),
      status: sql.lit('active'),
      lifecycle: sql.lit('live'),
      gen: sql.lit(1),
      name_gen: sql.lit(1),
      name_settled_at: sql`now_ms()`,
      token_gen: sql.lit(1),
      created_at: sql`now_ms()`,
      updated_at: sql`now_ms()`,
      deleted_at: sql.lit(null),
    },
  );
  return await db
    .insertInto('workspaces')
    .columns(insertion.columns)
    .expression(insertion.expression)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(columns)
    .execute();
}

export async function findByIds(db: Db, organizationId: string, ids: string[]): Promise<WorkspaceRow[]> {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
}

/**
 * The live workspaces that have this name here, oldest first. A name from the platform that had to be changed for
 * storing does not count: the changed text may be the name of another workspace.
 */
export async function listLiveByName(db: Db, organizationId: string, identity: string): Promise<WorkspaceRow[]> {
  if (identity.includes('\ufffd')) return [];
  const folded = foldForSearch(identity);
  const rows = await db
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('lifecycle', '=', sql.lit('live' as const))
    // The same expression as in the index: names from the platform may be longer than an entry of an index.
    .where(sql<boolean>`substr(name_folded, 1, 100) = substr(${folded}, 1, 100)`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.filter((row) => nameIdentity(row.name) === identity);
}

function changed(tx: Db, organizationId: string, id: string) {
  return tx.updateTable('workspaces').where('organization_id', '=', organizationId).where('id', '=', id);
}

/** Records the wanted name of the workspace; null means its present name. Returns the generation of this wish. */
export async function recordDesiredName(
  tx: Db,
  organizationId: string,
  id: string,
  name: string | null,
): Promise<number> {
  const row = await changed(tx, organizationId, id)
    .set({ desired_name: name, gen: sql`gen + 1`, name_gen: sql`gen + 1` })
    .returning('name_gen')
    .executeTakeFirstOrThrow();
  return row.name_gen;
}

/**
 * The platform refuses the name, so it is no longer wanted. `name_gen` stays, so that the caller of the rename
 * notices the refusal.
 */
export async function forgetDesiredName(tx: Db, organizationId: string, id: string): Promise<void> {
  await changed(tx, organizationId, id).set({ desired_name: null, gen: sql`gen + 1` }).execute();
}

export async function recordStatus(tx: Db, organizationId: string, id: string, status: WorkspaceStatus): Promise<void> {
  await changed(tx, organizationId, id).set({ status, gen: sql`gen + 1`, updated_at: laterThanUpdatedAt }).execute();
}

/** A quota holds the syncs of the workspace back from now on, or no longer. */
export async function recordHold(tx: Db, organizationId: string, id: string, isHeld: boolean): Promise<void> {
  const held_since = isHeld ? sql<number>`now_ms()` : null;
  await changed(tx, organizationId, id).set({ held_since, gen: sql`gen + 1` }).execute();
}

/** What the operation will apply on the platform. */
export async function recordSyncLimit(tx: Db, organizationId: string, id: string, limit: number): Promise<void> {
  await changed(tx, organizationId, id).set({ sync_limit: limit, gen: sql`gen + 1` }).execute();
}

export async function recordSyncLimitKept(tx: Db, organizationId: string, id: string, isKept: boolean): Promise<void> {
  await changed(tx, organizationId, id)
    .set({ sync_limit_kept: isKept ? 1 : 0 })
    .execute();
}

export async function applyName(tx: Db, organizationId: string, id: string, name: string): Promise<void> {
  await changed(tx, organizationId, id)
    .set({ name, name_folded: foldForSearch(name), desired_name: null, updated_at: laterThanUpdatedAt })
    .execute();
}

/** Records that no rename of ours can take effect any more. */
export async function recordNameSettled(tx: Db, organizationId: string, id: string): Promise<void> {
  await changed(tx, organizationId, id).set({ name_settled_at: sql`now_ms()` }).execute();
}

/** Someone renamed the workspace directly on the platform. That counts like a later rename of ours. */
export async function recordNameOfPlatform(tx: Db, organizationId: string, id: string, name: string): Promise<void> {
  await applyName(tx, organizationId, id, name);
  await recordNameSettled(tx, organizationId, id);
  await changed(tx, organizationId, id).set({ gen: sql`gen + 1`, name_gen: sql`gen + 1` }).execute();
}

export async function recordDeleting(tx: Db, organizationId: string, id: string): Promise<void> {
  await changed(tx, organizationId, id)
    .set({ lifecycle: 'deleting', desired_name: null, gen: sql`gen + 1`, updated_at: laterThanUpdatedAt })
    .execute();
}

/** Returns the time of the deletion. */
export async function recordDeleted(tx: Db, organizationId: string, id: string): Promise<number> {
  const row = await changed(tx, organizationId, id)
    .set({ lifecycle: 'deleted', deleted_at: sql`now_ms()`, token_gen: sql`token_gen + 1`, gen: sql`gen + 1` })
    .returning('deleted_at')
    .$narrowType<{ deleted_at: NotNull }>()
    .executeTakeFirstOrThrow();
  return row.deleted_at;
}

/** Gives the new generation; undefined where there is no such workspace. */
export async function bumpTokenGeneration(db: Db, organizationId: string, id: string): Promise<number | undefined> {
  const row = await db
    .updateTable('workspaces')
    .set({ token_gen: sql`token_gen + 1` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('lifecycle', '<>', deleted)
    .returning('token_gen')
    .executeTakeFirst();
  return row?.token_gen;
}

export async function rememberPaused(db: Db, workspaceId: string, connectionIds: string[]): Promise<void> {
  if (connectionIds.length === 0) return;
  await db
    .insertInto('paused_connections')
    .values(connectionIds.map((id) => ({ workspace_id: workspaceId, connection_id: id })))
    .onConflict((conflict) => conflict.columns(['workspace_id', 'connection_id']).doNothing())
    .execute();
}

export async function listPaused(db: Db, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('paused_connections')
    .select('connection_id')
    .where('workspace_id', '=', workspaceId)
    .orderBy('connection_id')
    .execute();
  return rows.map((row) => row.connection_id);
}

export async function forgetPaused(db: Db, workspaceId: string, connectionId?: string): Promise<void> {
  let query = db.deleteFrom('paused_connections').where('workspace_id', '=', workspaceId);
  if (connectionId !== undefined) query = query.where('connection_id', '=', connectionId);
  await query.execute();
}
