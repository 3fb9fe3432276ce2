/** Quotas of all organizations, for the worker that keeps workspaces in agreement with them. */
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';

interface WorkspaceRef {
  organizationId: string;
  workspaceId: string;
}

/** Workspaces whose period has ended. */
export async function listEndedHolds(db: Db, limit: number): Promise<WorkspaceRef[]> {
  return await db
    .selectFrom('quota_holds')
    .select(['organization_id as organizationId', 'workspace_id as workspaceId'])
    .where('until', '<=', now)
    .orderBy('until')
    .limit(limit)
    .execute();
}

export interface Review {
  organizationId: string;
  after: string;
  updatedAt: number;
}

/** Organizations whose quotas have changed, and how far their workspaces have been reviewed. */
export async function listReviews(db: Db): Promise<Review[]> {
  const rows = await db
    .selectFrom('quotas')
    .select(['id as organizationId', 'review_after', 'updated_at as updatedAt'])
    .where('review_after', 'is not', null)
    .orderBy('id')
    .execute();
  return rows.map(({ organizationId, review_after, updatedAt }) => ({
    organizationId,
    updatedAt,
    after: review_after ?? '',
  }));
}

/** The next workspaces for which quotas mean something: those with connections, or that are held. */
export async function listToReview(db: Db, { organizationId, after }: Review, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('connections')
    .select('workspace_id')
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '>', after)
    .where('deleted_at', 'is', null)
    .union(
      db
        .selectFrom('quota_holds')
        .select('workspace_id')
        .where('organization_id', '=', organizationId)
        .where('workspace_id', '>', after),
    )
    .orderBy('workspace_id')
    .limit(limit)
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
}

/**
 * Continues after this workspace; null: all are done. Not if the quotas were changed in the meantime: then the review
 * starts over.
 */
export async function putReviewed(db: Db, review: Review, after: string | null): Promise<void> {
  await db
    .updateTable('quotas')
    .set({ review_after: after })
    .where('id', '=', review.organizationId)
    .where('review_after', '=', review.after)
    .where('updated_at', '=', review.updatedAt)
    .execute();
}
