/**
 * Plans: what a change of a template would do to the sources and connections that were made from it, before it does anything.
 * This file makes plans, shows them, and says whether a plan still holds; plan-judges.ts decides what becomes of
 * one source or connection, with the same rules as a rollout.
 *
 * What always holds: a plan never changes once it is made, and changes nothing. It holds as long as the template has the
 * version that the plan is for, and exactly the sources or connections that the plan counts are there, as they were then. A plan that
 * does not hold is refused, never applied in part.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { Apply } from '@inlay/contract/catalog/rollouts';
import type {
  PlanOutcome,
  TemplatePlan,
  TemplatePlanItem,
  TemplatePlanItemList,
} from '@inlay/contract/catalog/template-plans';
import type { Fault } from '@inlay/contract/errors';
import { openConfiguration, sealConfiguration } from '../catalog/definitions/sealed-configuration.ts';
import { connectionRules } from '../catalog/templates/connection-templates.ts';
import { type Preview, previewTemplate, type TemplateState } from '../catalog/templates/planned-changes.ts';
import { sourceRules } from '../catalog/templates/source-templates.ts';
import type { TemplateRules } from '../catalog/templates/templates.ts';
import { type ConnectionContent, differences, type SourceContent, showContent } from '../catalog/templates/versions.ts';
import type { Db } from '../kernel/db/open.ts';
import type { TemplateKind, TemplatePlanItemRow, TemplatePlanRow } from '../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../kernel/errors.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { makerOf, type Operator, type TemplateRef } from '../kernel/template-ref.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { type DestinationTest, testDestination } from './destination-test.ts';
import { connectionJudge, sourceJudge } from './plan-judges.ts';
import type { Judged } from './plans.store.ts';
import * as plans from './plans.store.ts';

/** What the requests of both kinds say of a change besides its values. */
export interface ChangeRequest {
  plan_id?: string;
  apply?: Apply;
  skip_check?: boolean;
  propagate?: boolean;
  destination_config?: Configuration;
}

/** `propagate` is the same as `apply` with `all`. */
export const appliedBy = ({ apply, propagate }: ChangeRequest): Apply => apply ?? (propagate ? 'all' : 'new_only');

/** A plan that a request names. */
export interface OpenedPlan {
  id: string;
  template: TemplateRef;
}

/** How long a plan can be applied. */
const lifetimeMs = 86_400_000;
/** How many plans of one template are kept. */
const kept = 10;
/** How many sources or connections are looked at in one go. */
const pageSize = 500;

export async function makePlan(
  ctx: PipelinesContext,
  by: Operator,
  template: TemplateRef,
  request: ChangeRequest,
): Promise<TemplatePlan> {
  const { db } = ctx.store;
  const { organizationId } = by;
  const { kind, templateId } = template;
  const apply = appliedBy(request);
  const preview = await previewTemplate(ctx.templates, rulesOf[kind], template, request);
  const test = kind === 'source' ? { isChecked: false } : await testFor(ctx, organizationId, preview, request);
  const judge =
    kind === 'source'
      ? sourceJudge(ctx, template, preview as Preview<SourceContent>, by.permission === 'full')
      : connectionJudge(ctx, template, preview.after as TemplateState<ConnectionContent>, test, movesData(apply));
  const id = ctx.runtime.newId();
  const about = { kind, template_id: templateId };
  await plans.insertPlan(
    db,
    organizationId,
    {
      id,
      ...about,
      base_version: preview.version,
      sealed_request: sealConfiguration(ctx.sealer, 'template plan', id, { ...request, apply }),
      made_by: makerOf(by),
    },
    lifetimeMs,
  );
  try {
    for (let after: Judged | undefined; ; ) {
      const page = await judge(after, pageSize);
      await plans.insertItems(db, organizationId, id, page);
      if (page.length < pageSize) break;
      after = page.at(-1);
      // A plan of many thousands leaves room for other requests.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { definition, before, after } = preview;
    const show = (state: typeof before) =>
      showContent(ctx.templates, definition, about, state.content, state.configuration);
    const found = await plans.sumUp(db, organizationId, id);
    const summary: Summary = {
      ...found,
      changes: differences(show(before), show(after)),
      destination: presentTest(test),
      apply,
    };
    const row = await plans.finishPlan(db, organizationId, id, {
      summary: JSON.stringify(summary),
      items: found.items,
    });
    await plans.deleteOlder(db, template, kept);
    return present(row);
  } catch (error) {
    await plans.deletePlan(db, organizationId, id);
    throw error;
  }
}

const rulesOf: Record<TemplateKind, TemplateRules<TemplateKind>> = { source: sourceRules, connection: connectionRules };

async function testFor(
  ctx: PipelinesContext,
  organizationId: string,
  { definition, after }: Preview<unknown>,
  { destination_config, skip_check }: ChangeRequest,
): Promise<DestinationTest> {
  if (destination_config === undefined || skip_check === true) return { isChecked: false };
  return await testDestination(ctx, organizationId, { definition, configuration: after.configuration });
}

type Summary = Omit<plans.Found, 'items'> & Pick<TemplatePlan, 'changes' | 'destination' | 'apply'>;

function presentTest({ isChecked, fault }: DestinationTest): TemplatePlan['destination'] {
  if (fault) return { verdict: 'fails', message: fault.msg, field: fault.loc };
  return { verdict: isChecked ? 'works' : 'not_checked', message: null, field: null };
}

function present(row: TemplatePlanRow): TemplatePlan {
  const { touches, outcomes, data, changes, destination, apply }: Summary = JSON.parse(row.summary ?? '{}');
  return {
    plan_id: row.id,
    template_id: row.template_id,
    base_version: row.base_version,
    changes,
    touches,
    outcomes,
    data,
    destination,
    apply,
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
  };
}

async function find(ctx: PipelinesContext, template: TemplateRef, id: string): Promise<TemplatePlanRow> {
  const row = await plans.findPlan(ctx.store.db, template, id);
  if (!row) throw new AppError('plan_not_found');
  return row;
}

export async function getPlan(ctx: PipelinesContext, template: TemplateRef, id: string): Promise<TemplatePlan> {
  return present(await find(ctx, template, id));
}

export async function listPlanItems(
  ctx: PipelinesContext,
  template: TemplateRef,
  id: string,
  { limit, cursor, outcome }: { limit: number; cursor: string | undefined; outcome: PlanOutcome | undefined },
): Promise<TemplatePlanItemList> {
  await find(ctx, template, id);
  const page = { outcome, after: cursor, limit: limit + 1 };
  const rows = await plans.listItems(ctx.store.db, template.organizationId, id, page);
  const data = rows.slice(0, limit).map((row) => presentItem(template, row));
  return { data, next: rows.length > limit ? (rows[limit - 1]?.item_id ?? null) : null };
}

function presentItem({ kind }: TemplateRef, row: TemplatePlanItemRow & { workspace_name: string }): TemplatePlanItem {
  return {
    workspace_id: row.workspace_id,
    workspace_name: row.workspace_name,
    source_id: row.source_id,
    connection_id: kind === 'connection' ? row.item_id : null,
    version: row.template_version,
    outcome: row.outcome,
    reason: row.reason,
    ...(JSON.parse(row.detail) as Judged['detail']),
  };
}

/** The request itself or, if it names a plan, the request that was planned. */
export async function openPlanned<Request extends ChangeRequest>(
  ctx: PipelinesContext,
  template: TemplateRef,
  given: Request,
): Promise<{ request: Request; plan?: OpenedPlan }> {
  const { plan_id: planId, apply, skip_check, propagate, ...change } = given;
  if (planId === undefined) return { request: given };
  const faults = Object.keys(change).map(
    (field): Fault => ({
      loc: ['body', field],
      msg: 'the plan already contains the change: send this field when you create the plan, or omit plan_id',
      type: 'value_error',
    }),
  );
  if (faults.length > 0) throw invalidRequest(...faults);
  const row = await find(ctx, template, planId);
  const plan = { id: planId, template };
  const planned = openConfiguration(ctx.sealer, 'template plan', planId, row.sealed_request) as Request;
  const wanted = apply ?? (propagate === true ? 'all' : planned.apply) ?? 'new_only';
  if (wanted !== 'new_only' && movesData(wanted) !== movesData(planned.apply)) {
    const msg = 'move_data must match the plan: create a new plan with this value';
    throw invalidRequest({ loc: ['body', 'apply', 'move_data'], msg, type: 'value_error' });
  }
  // Where a request says nothing, validation has filled in false.
  const isUntested = skip_check === true || planned.skip_check === true;
  return { request: { ...planned, skip_check: isUntested, apply: wanted }, plan };
}

function movesData(apply: Apply | undefined): boolean {
  return typeof apply === 'object' && apply.move_data === true;
}

/** In the transaction of the change, which holds the template. */
export async function assertPlanHolds(
  tx: Db,
  { id, template }: OpenedPlan,
  version: number,
  apply: Apply | undefined,
): Promise<void> {
  const row = await plans.findPlan(tx, template, id);
  if (!row) throw new AppError('plan_not_found');
  if (row.base_version !== version) throw new AppError('plan_outdated');
  // A change for new customers alone touches nothing that the plan counts.
  if ((apply ?? 'new_only') === 'new_only') return;
  const { present, same } = await plans.compare(tx, template, id);
  if (present !== row.items || same !== row.items) throw new AppError('plan_outdated');
}
