/**
 * Changes of templates, and whom they reach: a change or a deletion, together with the rollout or the retirement that brings
 * it to what was made from the template before. catalog/ has the rules of the templates themselves.
 *
 * What always holds: a change, its version and its rollout are in one transaction. A change that was planned is made exactly
 * as it was planned, or not at all.
 */
import type { CreateConnectionTemplateRequest } from '@inlay/contract/catalog/connection-templates';
import type { Apply, ExistingChoice, RollbackRequest } from '@inlay/contract/catalog/rollouts';
import type { DeletedTemplate } from '@inlay/contract/catalog/source-templates';
import { acceptedDraft, connectionRules } from '../catalog/templates/connection-templates.ts';
import { previewTemplate } from '../catalog/templates/planned-changes.ts';
import type { Template, TemplateRules, TestedDestination, UpdateRequest } from '../catalog/templates/templates.ts';
import * as templates from '../catalog/templates/templates.ts';
import type { Db } from '../kernel/db/open.ts';
import type { TemplateKind } from '../kernel/db/tables.ts';
import { isoTime } from '../kernel/iso-time.ts';
import type { Operator, TemplateRef } from '../kernel/template-ref.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { timeOfTest } from './destination-test.ts';
import { appliedBy, assertPlanHolds, type ChangeRequest, openPlanned } from './plans.ts';
import { type StartedRollout, startRetirement, startRollout } from './rollouts.ts';

export interface ChangedTemplate<Kind extends TemplateKind> {
  template: Template<Kind>;
  /** If the change goes to what was made from the template before, too. */
  rollout: StartedRollout | undefined;
}

export async function createConnectionTemplate(
  ctx: PipelinesContext,
  by: Operator,
  request: CreateConnectionTemplateRequest,
): Promise<Template<'connection'>> {
  const { organizationId } = by;
  const { fields, ...draft } = await acceptedDraft(ctx.templates, organizationId, request);
  const checked_at = await timeOfTest(ctx, organizationId, draft, request);
  return await templates.createTemplate(ctx.templates, connectionRules, by, {
    ...draft,
    fields: { ...fields, checked_at },
  });
}

export async function updateTemplate<Kind extends TemplateKind>(
  ctx: PipelinesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  templateId: string,
  given: UpdateRequest<Kind>,
): Promise<ChangedTemplate<Kind>> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId };
  const { request, plan } = await openPlanned(ctx, ref, given);
  // Requests of connection templates have no `propagate`.
  const apply = rules.kind === 'source' ? appliedBy(request) : (request.apply ?? 'new_only');
  const definition = await templates.getConnectorOf(ctx.templates, ref);
  const tested = await testChange(ctx, rules, ref, request);
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, ref);
    if (plan) await assertPlanHolds(tx, plan, row.version, apply);
    const template = await templates.changeTemplate(ctx.templates, tx, rules, row, by, { definition, request, tested });
    return await rollOut(ctx, tx, by, ref, template, apply);
  });
}

export async function rollBackTemplate<Kind extends TemplateKind>(
  ctx: PipelinesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  templateId: string,
  { version: number, apply = 'all' }: RollbackRequest,
): Promise<ChangedTemplate<Kind>> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId };
  const definition = await templates.getConnectorOf(ctx.templates, ref);
  return await ctx.store.transaction(async (tx) => {
    const row = await templates.lockTemplate(tx, ref);
    const template = await templates.restoreVersion(ctx.templates, tx, rules, row, by, { number, definition });
    return await rollOut(ctx, tx, by, ref, template, apply);
  });
}

async function rollOut<Kind extends TemplateKind>(
  ctx: PipelinesContext,
  tx: Db,
  by: Operator,
  ref: TemplateRef,
  template: Template<Kind>,
  apply: Apply,
): Promise<ChangedTemplate<Kind>> {
  if (apply === 'new_only') return { template, rollout: undefined };
  const rollout = await startRollout(ctx, tx, { template: ref, version: template.version, by, apply });
  return { template, rollout };
}

/** `existing`: what happens to everything created from the template. */
export async function deleteTemplate<Kind extends TemplateKind>(
  ctx: PipelinesContext,
  rules: TemplateRules<Kind>,
  by: Operator,
  templateId: string,
  existing: ExistingChoice = 'keep',
): Promise<DeletedTemplate> {
  const ref = { organizationId: by.organizationId, kind: rules.kind, templateId };
  return await ctx.store.transaction(async (tx) => {
    const { version, deleted_at } = await templates.deleteTemplate(ctx.templates, tx, rules, ref);
    const deleted = { id: templateId, deleted_at: isoTime(deleted_at ?? 0) };
    if (existing === 'keep') return deleted;
    const { id } = await startRetirement(ctx, tx, { template: ref, version, by, how: existing });
    return { ...deleted, rollout_id: id };
  });
}

/** What is tested before a change is saved. Undefined: nothing of a destination changes. */
async function testChange<Kind extends TemplateKind>(
  ctx: PipelinesContext,
  rules: TemplateRules<Kind>,
  ref: TemplateRef<Kind>,
  request: UpdateRequest<Kind>,
): Promise<TestedDestination | undefined> {
  const { destination_config, ...options }: ChangeRequest = request;
  if (rules.kind !== 'connection' || !destination_config) return undefined;
  // All other faults first: they are known at once.
  const { definition, after } = await previewTemplate(ctx.templates, rules, ref, request);
  const { configuration } = after;
  const checkedAt = await timeOfTest(ctx, ref.organizationId, { definition, configuration }, options);
  return { configuration, checkedAt };
}
