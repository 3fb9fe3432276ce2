/**
 * Destinations that no connection writes to any more. The platform still has them, with their credentials, and no source's
 * set-up leads to them: so a rollout changes or removes them itself. Both may be repeated.
 */

import type { DestinationRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import type { PipelinesContext } from '../context.ts';
import { Refused, Waiting } from '../interruptions.ts';
import { markOf } from '../marks.ts';
import { bindIfUnbound, closeSettleWindow } from '../remote.store.ts';
import { readSettleWindow } from './assert-settled.ts';
import { isGoneFromPlatform } from './gone-from-platform.ts';
import { setUpDestination } from './set-up-connection.ts';
import { findUnusedDestination, listUnusedBehind, recordDestinationDeleted } from './unused-destinations.store.ts';

/** Brings those of the template to the version that is wanted. Gives the workspaces where that is to be tried again. */
export async function changeUnused(
  ctx: PipelinesContext,
  template: TemplateRef,
  workspaceIds: string[],
): Promise<Set<string>> {
  const left = new Set<string>();
  for (const row of await listUnusedBehind(ctx.store.db, template, workspaceIds)) {
    const isOver = await unlessItMustWait(ctx, row, async () => {
      const platformId = await findOnPlatform(ctx, row);
      if (platformId !== undefined) await setUpDestination(ctx, row.workspace_id, row.id);
    });
    if (!isOver) left.add(row.workspace_id);
  }
  return left;
}

/** A destination goes after its last connection. False: it is to be tried again. */
export async function removeDestination(
  ctx: PipelinesContext,
  workspaceId: string,
  templateId: string,
): Promise<boolean> {
  const row = await findUnusedDestination(ctx.store.db, workspaceId, templateId);
  if (!row) return true;
  // Its source takes the connection along.
  if (row.is_leaving > 0) return false;
  return await unlessItMustWait(ctx, row, async () => {
    const platformId = await findOnPlatform(ctx, row);
    if (platformId !== undefined) await deleteOnPlatform(ctx, row, platformId);
    await recordDestinationDeleted(ctx.store.db, workspaceId, row.id);
  });
}

/** Also finds one whose create was never answered. Undefined: the platform does not have it. */
async function findOnPlatform(ctx: PipelinesContext, row: DestinationRow): Promise<string | undefined> {
  if (row.platform_id !== null) return row.platform_id;
  const { db } = ctx.store;
  const ref = { table: 'destinations', workspaceId: row.workspace_id, id: row.id } as const;
  const { waitMs } = await readSettleWindow(ctx, ref);
  const found = await ctx.platform.findConnector('destination', row.workspace_id, markOf(row.id));
  if (found !== undefined) return await bindIfUnbound(db, ref, found);
  // A create may still take effect, and would leave a destination that nobody knows.
  if (waitMs > 0) throw new Waiting('waiting for an unconfirmed request to settle', waitMs);
  await closeSettleWindow(db, ref);
  return undefined;
}

async function deleteOnPlatform(ctx: PipelinesContext, row: DestinationRow, platformId: string): Promise<void> {
  try {
    await ctx.platform.deleteConnector('destination', platformId);
  } catch (error) {
    const place = { id: row.id, workspaceId: row.workspace_id };
    if (!(await isGoneFromPlatform(ctx, 'destination', place, error))) throw error;
  }
}

/** What the platform refuses is recorded with the destination, and is over. */
async function unlessItMustWait(
  ctx: PipelinesContext,
  { workspace_id: workspaceId, id: destinationId }: DestinationRow,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Refused) return true;
    if (!(error instanceof PlatformError || error instanceof Waiting)) throw error;
    ctx.log.warn({ err: error, workspaceId, destinationId }, 'Failed to update a destination; will retry');
    return false;
  }
}
