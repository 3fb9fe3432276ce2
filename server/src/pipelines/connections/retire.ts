/**
 * Ends what was made from a template: connections are paused or deleted, sources are deleted. Only rows change here; the
 * set-up worker applies them to the platform.
 *
 * What always holds: nothing is ever enabled. A connection that is paused stays so when its workspace is activated.
 */
import type { Db } from '../../kernel/db/open.ts';
import type { ConnectionRow, WorkspaceRow } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import { recordOwnStatus } from '../../tenancy/workspaces/live-workspaces.ts';
import * as apply from '../apply-version.store.ts';
import * as changes from '../connection-changes.store.ts';
import type { PipelinesContext } from '../context.ts';
import { recordConnections, recordConnectionUpdated, recordDeletionRequested } from '../entries.ts';
import { refreshHealth, refreshSourceHealth } from '../jobs/jobs.ts';
import type { ApplyOutcome } from '../set-up/apply-version.ts';
import * as sources from '../sources.store.ts';

export type Retirement = 'pause' | 'delete';

/** Returns the sources whose set-up has to run. The caller holds the workspace. */
export async function retireConnections(
  ctx: PipelinesContext,
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
  await apply.wakeSources(tx, workspace.id, sourceIds);
  for (const sourceId of sourceIds) {
    await refreshHealth(ctx, tx, [workspace.id], { sourceId });
    // A source may have lost its last connection.
    await refreshSourceHealth(ctx.journal, tx, workspace.id, sourceId);
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
): Promise<ApplyOutcome> {
  const changing = (ids: string[]) => ({ state: 'changing', failedBefore: false, sources: ids }) as const;
  if (template.kind === 'source' && how === 'delete') {
    const rows = await apply.lockSourcesOfTemplate(tx, workspace.id, template.templateId);
    for (const { id } of rows) await sources.changeSource(tx, workspace.id, id, { lifecycle: 'deleting' });
    await recordDeletionRequested(ctx.journal, tx, rows);
    await refreshHealth(ctx, tx, [workspace.id], { ids: [] });
    return changing(rows.map(({ id }) => id));
  }
  const rows = await apply.listConnectionsOfTemplate(tx, workspace.id, template);
  return changing(await retireConnections(ctx, tx, workspace, rows, how));
}
