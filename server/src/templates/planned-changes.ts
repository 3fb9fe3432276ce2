/** A change of a template that is planned first: what the plan looks at, and how PATCH takes the change from a plan. */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import type { Apply } from '@inlay/contract/rollouts';
import type { Definition } from '../definitions/definition.ts';
import { invalidRequest } from '../errors.ts';
import type { TemplateRef } from '../template-ref.ts';
import type { OpenedPlan, TemplatesContext } from './context.ts';
import type { DestinationTest } from './destination-test.ts';

export interface TemplateState<Content> {
  content: Content;
  configuration: Configuration;
}

export interface Preview<Content> {
  definition: Definition;
  /** The newest version of the template, before the change. */
  version: number;
  before: TemplateState<Content>;
  after: TemplateState<Content>;
  /** Whether the change makes a version. */
  isChanged: boolean;
  test: DestinationTest;
}

interface PatchRequest {
  plan_id?: string;
  apply?: Apply;
  skip_check?: boolean;
  propagate?: boolean;
}

/** The request itself or, if it names a plan, the request that was planned. */
export async function openPlanned<Request extends PatchRequest>(
  ctx: TemplatesContext,
  template: TemplateRef,
  given: Request,
): Promise<{ request: Request; plan?: OpenedPlan }> {
  const { plan_id: planId, apply, skip_check, propagate, ...change } = given;
  if (planId === undefined) return { request: given };
  const faults = Object.keys(change).map(
    (field): Fault => ({
      loc: ['body', field],
      msg: 'the plan contains the change: give the field when you plan, or leave out plan_id',
      type: 'value_error',
    }),
  );
  if (faults.length > 0) throw invalidRequest(...faults);
  const plan = await ctx.openPlan(template, planId);
  const planned = plan.request as Request;
  const wanted = apply ?? (propagate === true ? 'all' : planned.apply) ?? 'new_only';
  if (wanted !== 'new_only' && movesData(wanted) !== movesData(planned.apply)) {
    const msg = 'move_data must be as it was planned: plan again with this apply';
    throw invalidRequest({ loc: ['body', 'apply', 'move_data'], msg, type: 'value_error' });
  }
  // Where a request says nothing, validation has filled in false.
  const isUntested = skip_check === true || planned.skip_check === true;
  return { request: { ...planned, skip_check: isUntested, apply: wanted }, plan };
}

export function movesData(apply: Apply | undefined): boolean {
  return typeof apply === 'object' && apply.move_data === true;
}
