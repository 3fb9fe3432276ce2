/**
 * Looks how the workspaces of a rollout do that ends what was made from a template, which rollouts.worker.ts carries out.
 */
import type { RolloutRow } from '../kernel/db/tables.ts';
import type { TemplateRef } from '../kernel/template-ref.ts';
import type { Retirement } from '../pipelines/connections/retire.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { removeDestination } from '../pipelines/set-up/unused-destinations.ts';
import * as retired from './retirement.store.ts';

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
  const isWhole = template.kind === 'connection' && how === 'delete';
  const isRemoved = async (id: string) => !isWhole || (await removeDestination(ctx, id, template.templateId));
  const verdicts = new Map<string, Verdict>();
  for (const workspaceId of workspaceIds) {
    const row = byWorkspace.get(workspaceId);
    if (row?.pending === 1) continue;
    if (row) verdicts.set(workspaceId, { state: 'failed', reason: row.failure ?? refused });
    else if (await isRemoved(workspaceId)) verdicts.set(workspaceId, { state: 'done' });
  }
  return verdicts;
}

const refused = 'The platform rejected the change.';

/**
 * Sources that were being made while the template was deleted. Gives how many workspaces have to be looked at again.
 */
export async function addLeftOver(ctx: PipelinesContext, rollout: RolloutRow, how: Retirement): Promise<number> {
  const { id, organization_id: organizationId, kind, template_id: templateId } = rollout;
  const template = { organizationId, kind, templateId };
  return await ctx.store.transaction(async (tx) => {
    const left = await retired.listWorkspaces(tx, template, how, { id, since: rollout.created_at - lateMs });
    for (const workspaceId of left) await retired.waitAgain(tx, organizationId, id, workspaceId);
    return left.length;
  });
}

/** A request that made a source may have begun before the template was deleted. */
const lateMs = 60_000;
