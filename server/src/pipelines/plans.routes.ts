/** The endpoints about plans of changes of templates, the same for both kinds. */
import { UpdateConnectionTemplateRequest } from '@inlay/contract/connection-templates';
import { UpdateSourceTemplateRequest } from '@inlay/contract/source-templates';
import { ListPlanItemsQuery, PlanId, TemplatePlan, TemplatePlanItemList } from '@inlay/contract/template-plans';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { type VersionedKind, versionedKinds } from '../templates/versioned-kinds.ts';
import type { PipelinesContext } from './context.ts';
import * as plans from './plans.ts';

export function planRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, kind: VersionedKind): void {
  const { path, tag, what, notFound } = kind;
  const find = (organizationId: string, params: unknown) => kind.find(ctx.templates, organizationId, params);
  const params = Type.Object({ ...kind.params, [kind.planParam]: PlanId });
  const idOf = (given: unknown) => String((given as Record<string, unknown>)[kind.planParam]);
  const testing: ErrorCode[] = kind.name === 'connection' ? ['queue_full', 'destination_check_unavailable'] : [];

  endpoint(app, {
    method: 'POST',
    url: `${path}/plan`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: `Plan change of a ${what}`,
    description:
      'Takes what PATCH takes and tells what it would do, without doing anything. PATCH with the `plan_id` then makes exactly this change, or answers 409 when the plan no longer holds.',
    params: Type.Object(kind.params),
    body: kind.name === 'source' ? UpdateSourceTemplateRequest : UpdateConnectionTemplateRequest,
    answer: TemplatePlan,
    errors: [notFound, kind.definitionNotFound, 'definitions_unavailable', 'definition_unusable', ...testing],
    handle: async ({ params, body, principal }) =>
      await plans.makePlan(ctx, principal, await find(principal.organizationId, params), body),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/plans/:${kind.planParam}`,
    access: 'operator',
    tag,
    summary: `Get plan of a ${what}`,
    description: 'As it was when it was made. Plans are kept for a day, and the last ten of a template.',
    params,
    answer: TemplatePlan,
    errors: [notFound, 'plan_not_found'],
    handle: async ({ params, principal }) =>
      await plans.getPlan(ctx, await find(principal.organizationId, params), idOf(params)),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/plans/:${kind.planParam}/items`,
    access: 'operator',
    tag,
    summary: `List items of a plan of a ${what}`,
    description: 'What becomes of each source or connection, and why.',
    params,
    query: ListPlanItemsQuery,
    answer: TemplatePlanItemList,
    errors: [notFound, 'plan_not_found'],
    handle: async ({ params, query, principal }) => {
      const { limit = 20, cursor, outcome } = query;
      const template = await find(principal.organizationId, params);
      return await plans.listPlanItems(ctx, template, idOf(params), { limit, cursor, outcome });
    },
  });
}
