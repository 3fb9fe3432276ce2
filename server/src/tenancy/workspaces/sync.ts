/**
 * Imports what the platform has and we do not. Needs no lock: every write is insert-if-absent or first-writer-wins, so
 * syncs may overlap each other and everything else. It never deletes: that the platform does not list a workspace
 * proves nothing (wrong credentials list nothing at all), so absence is only reported.
 */

import type { SyncResult } from '@inlay/contract/tenancy/workspaces';
import { storableText } from '@inlay/contract/text/storable-text';
import type { Db } from '../../kernel/db/open.ts';
import type { WorkspaceRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { oldestFirst, PlatformError, type PlatformWorkspace } from '../../kernel/platform/platform-port.ts';
import { getPlatformOrganizationId } from '../organizations/organizations.ts';
import * as claims from './claims.store.ts';
import type { WorkspacesContext } from './context.ts';
import { recordAdopted } from './creation.ts';
import { nameIdentity } from './names.ts';
import * as operations from './operations.store.ts';
import * as workspaces from './workspaces.store.ts';

/** During a long sync, a line is logged each time this many workspaces are read. */
const progressEvery = 1_000;
/** How many pages are recorded in one transaction: on SQLite a commit costs a third of the work on a page. */
const pagesAtATime = 2;
/** After this many new workspaces, the database should learn the new sizes of its tables. */
const manyNew = 10_000;

export async function syncWorkspaces(ctx: WorkspacesContext, organizationId: string): Promise<SyncResult> {
  return await ctx.joinable.startOrJoin(`sync ${organizationId}`, () => sync(ctx, organizationId));
}

async function sync(ctx: WorkspacesContext, organizationId: string): Promise<SyncResult> {
  const platformOrganizationId = await getPlatformOrganizationId(ctx.store, organizationId);
  const created: string[] = [];
  let total = 0;
  let live = 0;
  // Pages are fetched ahead, so every page may be as old as this moment.
  const askedAt = await ctx.store.now();
  try {
    for await (const items of joined(ctx.platform.listWorkspaces(platformOrganizationId), pagesAtATime)) {
      const recorded = await record(ctx, organizationId, items, askedAt);
      created.push(...recorded.created);
      live += recorded.live;
      const passed = Math.floor(total / progressEvery);
      total += recorded.ours;
      if (Math.floor(total / progressEvery) > passed) {
        ctx.log.info({ found: total, created: created.length }, 'Workspace sync in progress');
      }
    }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.failure === 'unauthorised') throw new AppError('platform_credentials_rejected', {}, { cause: error });
    const { retryAfterSeconds } = error;
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw new AppError('sync_stopped', { total, ...retry }, { cause: error });
  }
  ctx.log.info({ found: total, created: created.length }, 'Workspace sync finished');
  if (created.length >= manyNew) await ctx.store.learnSizes();
  await reportMissing(ctx, organizationId, live);
  return { total_count: total, created_count: created.length, 'created_workspace IDs': created };
}

/** Joins several pages into one. When a page fails, the pages before it are given first. */
async function* joined<T>(pages: AsyncIterable<T[]>, atATime: number): AsyncGenerator<T[]> {
  let group: T[][] = [];
  try {
    for await (const page of pages) {
      group.push(page);
      if (group.length < atATime) continue;
      yield group.flat();
      group = [];
    }
  } catch (error) {
    if (group.length > 0) yield group.flat();
    throw error;
  }
  if (group.length > 0) yield group.flat();
}

async function record(
  ctx: WorkspacesContext,
  organizationId: string,
  listed: PlatformWorkspace[],
  askedAt: number,
): Promise<{ created: string[]; ours: number; live: number }> {
  // The same order everywhere, so that two syncs never wait for each other's rows.
  const items = listed
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((workspace) => ({ ...workspace, name: storableText(workspace.name) }));
  return await ctx.store.transaction(async (tx) => {
    const { rows, created } = await ensureKnown(ctx, tx, organizationId, items);
    // New workspaces have no claims and no open renames yet.
    const before = [...rows.keys()].filter((id) => !created.has(id));
    const claimed = new Set((await claims.claimsOf(tx, organizationId, before)).map((claim) => claim.workspace_id));
    const renaming = await operations.workspacesWithOpenRename(tx, organizationId, before);
    const toBind = new Map<string, string>();
    let live = 0;
    // Among several workspaces with the same name, the oldest gets the name.
    for (const { id, name: given } of oldestFirst(listed)) {
      const name = storableText(given);
      const row = rows.get(id);
      if (row?.lifecycle !== 'live') continue;
      live += 1;
      // A different name means a rename on the platform, unless the listing may be older than a rename of ours or show
      // its late effect.
      const renamed = row.name !== name && !renaming.has(id) && row.name_settled_at < askedAt - ctx.settleMs;
      if (renamed) {
        await workspaces.recordNameOfPlatform(tx, organizationId, id, name);
        const data = { previous_name: row.name };
        const change = { before: { name: row.name }, after: { name } };
        await ctx.journal.record(tx, organizationId, { type: 'workspace.renamed', workspaceId: id, data, change });
      }
      // A name that had to be changed for storing is never bound: another name could become the same text.
      if (name !== given || (claimed.has(id) && !renamed)) continue;
      const identity = nameIdentity(renamed ? name : row.name);
      if (!toBind.has(identity)) toBind.set(identity, id);
    }
    // Nothing else runs in the process while SQLite writes, so other requests get a turn here.
    await ctx.runtime.sleep(0);
    await claims.bindAllUnbound(tx, organizationId, toBind);
    return { created: [...created], ours: rows.size, live };
  });
}

/** The rows of the workspaces that are ours, and which of them are new. */
async function ensureKnown(
  ctx: WorkspacesContext,
  tx: Db,
  organizationId: string,
  items: workspaces.NewWorkspace[],
): Promise<{ rows: Map<string, WorkspaceRow>; created: Set<string> }> {
  const rows = new Map<string, WorkspaceRow>();
  const unknown = () => items.filter(({ id }) => !rows.has(id));
  const read = async () => {
    const ids = unknown().map(({ id }) => id);
    for (const row of await workspaces.findByIds(tx, organizationId, ids)) rows.set(row.id, row);
  };
  // Most workspaces are known, and an insert costs time even when it inserts nothing. So read first.
  await read();
  const inserted = await workspaces.insertMissing(tx, organizationId, unknown());
  await recordAdopted(ctx.journal, tx, organizationId, inserted);
  for (const row of inserted) rows.set(row.id, row);
  // The remaining ones were just inserted by another process, or belong to other organizations.
  await read();
  return { rows, created: new Set(inserted.map(({ id }) => id)) };
}

async function reportMissing(ctx: WorkspacesContext, organizationId: string, seenLive: number): Promise<void> {
  const { active, inactive } = await workspaces.countByStatus(ctx.store.db, organizationId);
  const missing = active + inactive - seenLive;
  if (missing <= 0) return;
  ctx.metrics.workspaceEvent('missing_on_platform', missing);
  ctx.log.warn({ missing }, 'Some workspaces are missing on the platform; nothing was deleted');
}
