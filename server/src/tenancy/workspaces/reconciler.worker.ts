/**
 * Finishes work that was left open by a crash, by a lost answer or by a platform that was away. It runs in every
 * replica; a lease per claim and operation makes sure that only one works on each. It never creates a workspace: for a
 * claim that no request needs any more it looks whether the create took effect, and otherwise frees the name. It also
 * looks for creates without an answer whose name is bound to another workspace by now.
 */
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { NameClaimRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import { getPlatformOrganizationId } from '../organizations/organizations.ts';
import * as claims from './claims.store.ts';
import * as allClaims from './claims.worker.store.ts';
import type { WorkspacesContext } from './context.ts';
import { adopt, leaseMs, recordLostCreate } from './creation.ts';
import { driveOperation } from './operations.ts';
import * as allOperations from './operations.worker.store.ts';

const everyMs = 10_000;
const batch = 100;

export interface Backlog {
  claims: number;
  operations: Partial<Record<string, number>>;
}

export interface Reconciler extends Repetition {
  /** One pass over everything that is due. Resolves when it is done. */
  pass(): Promise<void>;
  backlog(): Promise<Backlog>;
}

export function createReconciler(ctx: WorkspacesContext): Reconciler {
  async function pass(stopping?: AbortSignal): Promise<void> {
    for (const claim of await allClaims.listAbandonedClaims(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      await settleClaim(ctx, claim.organization_id, claim.name);
    }
    for (const claim of await allClaims.listUnsettledNames(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      await lookForLostCreate(ctx, claim);
    }
    for (const operation of await allOperations.listDueOperations(ctx.store.db, batch)) {
      if (stopping?.aborted) return;
      const { organization_id, workspace_id, kind } = operation;
      await driveOperation(ctx, { organizationId: organization_id, workspaceId: workspace_id, kind });
    }
  }

  const pauseMs = () => everyMs * (0.75 + ctx.runtime.random() / 2);
  return {
    pass: () => pass(),
    ...repeatedly(ctx, { what: 'Reconciler pass', pauseMs, work: pass }),
    backlog: () => readBacklog(ctx.store),
  };
}

export async function readBacklog({ db }: Store): Promise<Backlog> {
  return { claims: await allClaims.countUnboundClaims(db), operations: await allOperations.countOpenOperations(db) };
}

async function settleClaim(ctx: WorkspacesContext, organizationId: string, name: string): Promise<void> {
  const lease = { organizationId, name, leaseId: ctx.runtime.newId() };
  const claim = await claims.takeLease(ctx.store.db, lease, leaseMs);
  if (!claim) return;
  try {
    const platformOrganizationId = await getPlatformOrganizationId(ctx.store, organizationId);
    if (await adopt(ctx, organizationId, platformOrganizationId, name)) return;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    await claims.releaseLease(ctx.store.db, lease, error.message);
    return;
  }
  if (claim.no_post_before <= claim.now) {
    await ctx.store.transaction((tx) => claims.dropUnboundClaim(tx, lease));
    ctx.metrics.workspaceEvent('claim_dropped');
  } else {
    await claims.releaseLease(ctx.store.db, lease, claim.last_error ?? 'waiting for an unconfirmed create to settle');
  }
}

/** Needs no lease: all replicas may look at once. A replica that cannot look now does so with the next pass. */
async function lookForLostCreate(ctx: WorkspacesContext, claim: NameClaimRow): Promise<void> {
  try {
    await recordLostCreate(ctx, claim);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    ctx.log.warn({ err: error }, 'Failed to resolve the outcome of a workspace creation; will retry');
  }
}
