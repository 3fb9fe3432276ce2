/** Deletes what checks have left on the platform. */
import type { SourceCheckRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { findLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import type { PipelinesContext } from '../context.ts';
import * as checks from './checks.store.ts';
import * as allChecks from './checks.worker.store.ts';

const batch = 100;

/** What a check left on the platform is deleted, however often that must be tried. */
export function createCheckHousekeeping(ctx: PipelinesContext): () => Promise<void> {
  return async () => {
    for (const check of await allChecks.listLingeringChecks(ctx.store.db, ctx.settleMs, batch))
      await tidyUp(ctx, check);
  };
}

async function tidyUp(ctx: PipelinesContext, check: SourceCheckRow): Promise<void> {
  const { id, organization_id: organizationId, workspace_id: workspaceId } = check;
  try {
    // A deleted workspace took everything in it along.
    const isLive = await findLiveWorkspace(ctx.workspaces, organizationId, workspaceId);
    if (isLive) await ctx.platform.removeCheckSource(workspaceId, id);
    await checks.recordNothingLingers(ctx.store.db, { id, organizationId, workspaceId });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error, workspaceId }, 'Failed to clean up after a check on the platform; will retry');
  }
}
