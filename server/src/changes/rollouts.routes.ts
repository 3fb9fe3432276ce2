/** The endpoints about rollouts of templates, the same for both kinds. */
import type { FastifyInstance } from 'fastify';
import { type VersionedKind, versionedKinds } from '../catalog/templates/versioned-kinds.ts';
import { type Handle, serve } from '../kernel/http/endpoint.ts';
import { changedBy, type PipelinesContext } from '../pipelines/context.ts';
import * as rollouts from './rollouts.ts';

export function rolloutRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, kind: VersionedKind): void {
  const find = (organizationId: string, params: object) => kind.findAny(ctx.templates, organizationId, params);

  const commandTo =
    (command: 'pause' | 'resume' | 'stop'): Handle<VersionedKind['operations']['pauseRollout']> =>
    async ({ params, principal, cause }) =>
      await rollouts.commandRollout(
        changedBy(ctx, cause),
        await find(principal.organizationId, params),
        kind.rolloutOf(params),
        command,
      );

  serve(app, kind.operations, {
    listRollouts: async ({ params, principal }) => ({
      data: await rollouts.listRollouts(ctx, await find(principal.organizationId, params)),
    }),

    getRollout: async ({ params, principal }) =>
      await rollouts.getRollout(ctx, await find(principal.organizationId, params), kind.rolloutOf(params)),

    listRolloutWorkspaces: async ({ params, query, principal }) => {
      const { limit = 20, cursor, state } = query;
      const template = await find(principal.organizationId, params);
      return await rollouts.listRolloutItems(ctx, template, kind.rolloutOf(params), { limit, cursor, state });
    },

    pauseRollout: commandTo('pause'),
    resumeRollout: commandTo('resume'),
    stopRollout: commandTo('stop'),
  });
}
