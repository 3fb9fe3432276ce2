/**
 * Removes connections that were deleted here from the platform, while their source lives on. Part of setting up a source, under
 * the source's lease. Deleting is final and may be repeated, so it needs no care beyond finding what is to be deleted.
 */
import type { ConnectionRow, SourceRow } from '../../kernel/db/tables.ts';
import * as changes from '../connection-changes.store.ts';
import * as connections from '../connections.store.ts';
import type { PipelinesContext } from '../context.ts';
import { Waiting } from '../interruptions.ts';
import { failureIn } from '../jobs/job-words.ts';
import { recordSyncsEnded } from '../jobs/sync-entries.ts';
import { readSettleWindow } from './assert-settled.ts';
import { isConnectionGone } from './connection-gone.ts';

export async function takeDownConnections(ctx: PipelinesContext, source: SourceRow): Promise<void> {
  for (const row of await changes.listConnectionsToRemove(ctx.store.db, source.workspace_id, source.id)) {
    await takeDown(ctx, source, row);
    await ctx.store.transaction(async (tx) => {
      const ended = await changes.endJobs(tx, row.workspace_id, row.id);
      await recordSyncsEnded(ctx.journal, tx, row, ended, failureIn);
      await changes.recordRemoved(tx, row.workspace_id, row.id);
    });
  }
}

async function takeDown(ctx: PipelinesContext, source: SourceRow, row: ConnectionRow): Promise<void> {
  const { waitMs } = await readSettleWindow(ctx, { table: 'connections', workspaceId: row.workspace_id, id: row.id });
  const platformId = row.platform_id ?? (await findUnbound(ctx, source, row));
  if (platformId === undefined) {
    // A create may still take effect, and would leave a connection that nobody knows.
    if (waitMs > 0) throw new Waiting('waiting for an unconfirmed request to settle', Math.min(waitMs, 2_000));
    return;
  }
  try {
    await ctx.platform.deleteConnection(platformId);
  } catch (error) {
    if (!(await isConnectionGone(ctx, row.workspace_id, platformId, error))) throw error;
  }
}

/** The answer to its create was lost. Without a source or a destination there, no create was ever sent. */
async function findUnbound(ctx: PipelinesContext, source: SourceRow, row: ConnectionRow): Promise<string | undefined> {
  const destination = await connections.findDestination(ctx.store.db, row.workspace_id, row.destination_id);
  if (source.platform_id === null || !destination || destination.platform_id === null) return undefined;
  const listed = await ctx.platform.listConnections(row.workspace_id);
  return listed.find(
    ({ sourceId, destinationId }) => sourceId === source.platform_id && destinationId === destination.platform_id,
  )?.id;
}
