/**
 * Reconciles workspaces with their quotas outside of requests: resumes syncs when a period ends, and applies changed
 * quotas of an organization to all its workspaces. Runs in every replica. Reviews are idempotent, and their progress is
 * stored.
 */
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import { driveOperation } from '../workspaces/operations.ts';
import { reviewWorkspace } from './holds.ts';
import * as all from './quotas.worker.store.ts';

const everyMs = 10_000;
const batch = 100;

export interface QuotaReviews extends Repetition {
  /** One pass over everything that is due. */
  pass(): Promise<void>;
}

export function createQuotaReviews(ctx: WorkspacesContext): QuotaReviews {
  async function review(organizationId: string, workspaceId: string): Promise<void> {
    const ref = { organizationId, workspaceId };
    const isToTell = await ctx.store.transaction((tx) => reviewWorkspace(ctx, tx, ref));
    if (isToTell) await driveOperation(ctx, { ...ref, kind: 'status' });
  }

  async function pass(stopping?: AbortSignal): Promise<void> {
    for (const { organizationId, workspaceId } of await all.listEndedHolds(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      await review(organizationId, workspaceId);
    }
    for (const open of await all.listReviews(ctx.store.db)) await reviewAll(open, stopping);
  }

  async function reviewAll(open: all.Review, stopping: AbortSignal | undefined): Promise<void> {
    for (let { after } = open; !stopping?.aborted; ) {
      const page = await all.listToReview(ctx.store.db, { ...open, after }, batch);
      for (const workspaceId of page) await review(open.organizationId, workspaceId);
      const last = page.at(-1) ?? null;
      await all.putReviewed(ctx.store.db, { ...open, after }, page.length < batch ? null : last);
      if (page.length < batch || last === null) return;
      after = last;
    }
  }

  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return { pass: () => pass(), ...repeatedly(ctx, { what: 'Quota review', pauseMs, work: pass }) };
}
