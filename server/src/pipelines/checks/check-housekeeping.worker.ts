/** Deletes old checks, and deletes what a check has left on the platform. */
import type { SourceCheckRow } from '../db/tables.ts';
import { PlatformError } from '../platform/platform-port.ts';
import { findLiveWorkspace } from '../workspaces/live-workspaces.ts';
import * as checks from './checks.store.ts';
import * as allChecks from './checks.worker.store.ts';
import type { PipelinesContext } from './context.ts';

const dayMs = 86_400_000;
const batch = 100;

/**
 * Nobody asks for a check a day later. What a check left on the platform is deleted, however often that must be tried.
 */
export function createCheckHousekeeping(ctx: PipelinesContext): () => Promise<void> {
  return async () => {
    for (const check of await allChecks.listLingeringChecks(ctx.store.db, ctx.settleMs, batch))
      await tidyUp(ctx, check);
    await allChecks.deleteOldChecks(ctx.store.db, dayMs);
  };
}

async function tidyUp(ctx: PipelinesContext, check: SourceCheckRow): Promise<void> {
  const { id, organization_id: organizationId, workspace_id: workspaceId } = check;
  try {
    // A deleted workspace took everything in it along.
    const isLive = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
    if (isLive) await ctx.platform.removeCheckSource(workspaceId, id);
    await checks.recordNothingLingers(ctx.store.db, workspaceId, id);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error, workspaceId }, 'what a check has left on the platform could not be removed yet');
  }
}
