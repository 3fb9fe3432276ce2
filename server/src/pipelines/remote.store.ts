/**
 * The SQL that sources, destinations and connections share: their ids on the platform, and whether a create may be
 * sent.
 */
import { sql } from 'kysely';
import { noLease } from '../kernel/db/leases.ts';
import type { Db } from '../kernel/db/open.ts';
import type { SourceRow } from '../kernel/db/tables.ts';
import { removeLogsOfWorkspace } from './job-logs.store.ts';

export interface RemoteRef {
  table: 'sources' | 'destinations' | 'connections' | 'definition_copies';
  workspaceId: string;
  id: string;
}

const isRow = ({ workspaceId, id }: RemoteRef) => sql<boolean>`workspace_id = ${workspaceId} and id = ${id}`;

/** Records, before a request is sent, how long that request may still take effect, and what it says. */
export async function openSettleWindow(
  db: Db,
  ref: RemoteRef,
  windowMs: number,
  unconfirmed: string | null = null,
): Promise<void> {
  await db
    .updateTable(ref.table)
    .set({ no_post_before: sql<number>`now_ms() + ${sql.lit(Math.round(windowMs))}`, unconfirmed })
    .where(isRow(ref))
    .execute();
}

/** No request can take effect any more. */
export async function closeSettleWindow(db: Db, ref: RemoteRef): Promise<void> {
  await db.updateTable(ref.table).set({ no_post_before: 0, unconfirmed: null }).where(isRow(ref)).execute();
}

export interface SettleWindow {
  /** Time left. */
  waitMs: number;
  /** What all requests say that may still take effect; null: that is not known. */
  unconfirmed: string | null;
}

export async function readSettleWindow(db: Db, ref: RemoteRef): Promise<SettleWindow> {
  const row = await db
    .selectFrom(ref.table)
    .select([sql<number>`no_post_before - now_ms()`.as('wait'), 'unconfirmed'])
    .where(isRow(ref))
    .executeTakeFirst();
  return { waitMs: Math.max(0, Number(row?.wait ?? 0)), unconfirmed: row?.unconfirmed ?? null };
}

/** The first writer wins. Closes the settle window too: the platform has the thing, so its create is no longer open. */
export async function bindIfUnbound(db: Db, ref: RemoteRef, platformId: string): Promise<string> {
  await db
    .updateTable(ref.table)
    .set({ platform_id: platformId, no_post_before: 0 })
    .where(isRow(ref))
    .where('platform_id', 'is', null)
    .execute();
  const row = await db.selectFrom(ref.table).select('platform_id').where(isRow(ref)).executeTakeFirst();
  return row?.platform_id ?? platformId;
}

/** Forgets the id on the platform, because the platform no longer has the thing. */
export async function unbind(db: Db, ref: RemoteRef, platformId: string): Promise<void> {
  await db
    .updateTable(ref.table)
    .set({ platform_id: null })
    .where(isRow(ref))
    .where('platform_id', '=', platformId)
    .execute();
}

/** Deletes everything in the workspace at the same instant, secrets included. */
export async function recordWorkspaceDeleted(
  tx: Db,
  workspaceId: string,
  deletedAt: number,
): Promise<{ sources: SourceRow[]; connectionIds: string[] }> {
  const before = await tx
    .selectFrom('sources')
    .select(['id', 'sealed_config'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const configurations = new Map(before.map(({ id, sealed_config }) => [id, sealed_config]));
  const deletedSources = await tx
    .updateTable('sources')
    .set({
      lifecycle: 'deleted',
      deleted_at: deletedAt,
      due_at: null,
      ...noLease,
      sealed_config: '',
    })
    .where('workspace_id', '=', workspaceId)
    .where('lifecycle', '<>', 'deleted')
    .returningAll()
    .execute();
  const deleted = async (table: 'destinations' | 'connections' | 'definition_copies') =>
    await tx
      .updateTable(table)
      .set({ deleted_at: deletedAt })
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .returning('id')
      .execute();
  await deleted('destinations');
  await deleted('definition_copies');
  const connectionIds = (await deleted('connections')).map(({ id }) => id);
  await removeLogsOfWorkspace(tx, workspaceId);
  const sources = deletedSources.map((row) => ({ ...row, sealed_config: configurations.get(row.id) ?? '' }));
  return { sources, connectionIds };
}
