/**
 * Ends what was made from a template: connections are paused or deleted, sources are deleted. For a template that is deleted
 * (rollouts.worker.ts carries that out, workspace by workspace) and for a customer who has moved to another plan. Only
 * rows change here; the set-up worker tells the platform.
 *
 * What always holds: nothing is ever enabled. A connection that is paused stays so when its workspace is activated.
 */
import type { Db } from '../db/open.ts';
import type { ConnectionRow, RolloutRow, WorkspaceRow } from '../db/tables.ts';
import { PlatformError } from '../platform/platform-port.ts';
import type { TemplateRef } from '../template-ref.ts';
import { recordOwnStatus } from '../workspaces/live-workspaces.ts';
import * as changes from './connection-changes.store.ts';
import type { PipelinesContext } from './context.ts';
import { recordConnections, recordConnectionUpdated, recordDeletionRequested } from './entries.ts';
import { isGoneFromPlatform } from './gone-from-platform.ts';
import { refreshHealth, refreshSourceHealth } from './jobs.ts';
import { markOf } from './marks.ts';
import * as retired from './retirement.store.ts';
import * as sources from './sources.store.ts';
import * as moves from './template-moves.store.ts';
import type { Moved } from './template-moves.ts';

export type Retirement = 'pause' | 'delete';

/** Gives the sources whose set-up is to be told. The caller holds the workspace. */
export async function retireConnections(
  ctx: Pick<PipelinesContext, 'store' | 'journal'>,
  tx: Db,
  workspace: WorkspaceRow,
  rows: readonly ConnectionRow[],
  how: Retirement,
): Promise<string[]> {
  const changed = how === 'pause' ? rows.filter(({ paused }) => paused === 0) : rows;
  const place = { organizationId: workspace.organization_id, workspaceId: workspace.id };
  for (const { id, platform_id: platformId } of changed) {
    if (how === 'pause') {
      await changes.changeStatus(tx, workspace.id, id, true);
      const change = { before: { status: 'active' }, after: { status: 'inactive' } };
      await recordConnectionUpdated(ctx.journal, tx, place, id, ['status'], change);
    } else if (await changes.deleteConnection(tx, workspace.id, id)) {
      await recordConnections(ctx.journal, tx, place, 'connection.deleted', [id]);
    }
    if (platformId !== null) await recordOwnStatus(tx, workspace, { platformId, isPaused: true });
  }
  const sourceIds = [...new Set(changed.map(({ source_id }) => source_id))];
  if (sourceIds.length === 0) return [];
  await moves.wakeSources(tx, workspace.id, sourceIds);
  for (const sourceId of sourceIds) {
    await refreshHealth(ctx, tx, [workspace.id], { sourceId });
    // A source may have lost its last connection.
    await refreshSourceHealth(ctx, tx, workspace.id, sourceId);
  }
  return sourceIds;
}

/** Everything of the template in the workspace, which the caller holds. */
export async function retireInWorkspace(
  ctx: PipelinesContext,
  tx: Db,
  workspace: WorkspaceRow,
  template: TemplateRef,
  how: Retirement,
): Promise<Moved> {
  const changing = (ids: string[]) => ({ state: 'changing', failedBefore: false, sources: ids }) as const;
  if (template.kind === 'source' && how === 'delete') {
    const rows = await moves.listSourcesToMove(tx, workspace.id, template.templateId);
    for (const { id } of rows) await sources.changeSource(tx, workspace.id, id, { lifecycle: 'deleting' });
    await recordDeletionRequested(ctx.journal, tx, rows);
    await refreshHealth(ctx, tx, [workspace.id], { ids: [] });
    return changing(rows.map(({ id }) => id));
  }
  const rows = await retired.listConnections(tx, workspace.id, template);
  return changing(await retireConnections(ctx, tx, workspace, rows, how));
}

export type Verdict = { state: 'done' } | { state: 'failed'; reason: string };

/** How the workspaces do of which everything was retired; those that are not done yet are left out. */
export async function judgeRetirement(
  ctx: PipelinesContext,
  template: TemplateRef,
  how: Retirement,
  workspaceIds: string[],
): Promise<Map<string, Verdict>> {
  const open = await retired.listOpen(ctx.store.db, template, how, workspaceIds);
  const byWorkspace = new Map(open.map((row) => [row.workspace_id, row]));
  const verdicts = new Map<string, Verdict>();
  for (const workspaceId of workspaceIds) {
    const row = byWorkspace.get(workspaceId);
    if (row?.pending === 1) continue;
    if (row) verdicts.set(workspaceId, { state: 'failed', reason: row.failure ?? refused });
    else if (await removeDestination(ctx, template, how, workspaceId)) verdicts.set(workspaceId, { state: 'done' });
  }
  return verdicts;
}

const refused = 'The platform did not take the change.';

/**
 * A destination goes after its last connection, with the credentials in it. False: the platform does not answer now, and it is
 * tried again. Deleting is final and may be repeated.
 */
async function removeDestination(
  ctx: PipelinesContext,
  { kind, templateId }: TemplateRef,
  how: Retirement,
  workspaceId: string,
): Promise<boolean> {
  if (kind !== 'connection' || how !== 'delete') return true;
  const { db } = ctx.store;
  const row = await retired.findUnusedDestination(db, workspaceId, templateId);
  if (!row) return true;
  try {
    const lookedAt = await ctx.store.now();
    const found = row.platform_id ?? (await ctx.platform.findConnector('destination', workspaceId, markOf(row.id)));
    // A create may still take effect, and would leave a destination that nobody knows.
    if (found === undefined && row.no_post_before > lookedAt) return false;
    if (found !== undefined) await deleteOnPlatform(ctx, workspaceId, row.id, found);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error, workspaceId }, 'a destination could not be removed yet');
    return false;
  }
  await retired.recordDestinationDeleted(db, workspaceId, row.id);
  return true;
}

async function deleteOnPlatform(ctx: PipelinesContext, workspaceId: string, id: string, platformId: string) {
  try {
    await ctx.platform.deleteConnector('destination', platformId);
  } catch (error) {
    if (!(await isGoneFromPlatform(ctx, 'destination', { id, workspaceId }, error))) throw error;
  }
}

/**
 * Sources that were being made while the template was deleted. Gives how many workspaces have to be looked at again.
 */
export async function addLeftOver(ctx: PipelinesContext, rollout: RolloutRow, how: Retirement): Promise<number> {
  const { id, organization_id: organizationId, kind, template_id: templateId } = rollout;
  const template = { organizationId, kind, templateId };
  return await ctx.store.transaction(async (tx) => {
    const left = await retired.listWorkspaces(tx, template, how, { since: rollout.created_at - lateMs });
    for (const workspaceId of left) await retired.waitAgain(tx, organizationId, id, workspaceId);
    return left.length;
  });
}

/** A request that made a source may have begun before the template was deleted. */
const lateMs = 60_000;
