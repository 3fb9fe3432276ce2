/** The endpoints about plans of changes of templates, the same for both kinds. */
import type { FastifyInstance } from 'fastify';
import { type VersionedKind, versionedKinds } from '../catalog/templates/versioned-kinds.ts';
import { serve } from '../kernel/http/endpoint.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import * as plans from './plans.ts';

export function planRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, kind: VersionedKind): void {
  const find = (organizationId: string, params: object) => kind.find(ctx.templates, organizationId, params);

  serve(app, kind.operations, {
    plan: async ({ params, body, principal }) =>
      await plans.makePlan(ctx, principal, await find(principal.organizationId, params), body),

    getPlan: async ({ params, principal }) =>
      await plans.getPlan(ctx, await find(principal.organizationId, params), kind.planOf(params)),

    listPlanItems: async ({ params, query, principal }) => {
      const { limit = 20, cursor, outcome } = query;
      const template = await find(principal.organizationId, params);
      return await plans.listPlanItems(ctx, template, kind.planOf(params), { limit, cursor, outcome });
    },
  });
}
