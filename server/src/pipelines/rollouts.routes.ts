/** The endpoints about rollouts of templates, the same for both kinds. */
import { ListRolloutItemsQuery, Rollout, RolloutId, RolloutItemList, RolloutList } from '@inlay/contract/rollouts';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import { type VersionedKind, versionedKinds } from '../templates/versioned-kinds.ts';
import { changedBy, type PipelinesContext } from './context.ts';
import * as rollouts from './rollouts.ts';

const commands = [
  [
    'pause',
    'Pause',
    'No further workspace is changed until it is resumed. Workspaces that are being changed are finished.',
  ],
  ['resume', 'Resume', 'Goes on where it was paused, with the next stage if it waited for that.'],
  ['stop', 'Stop', 'Ends it for good. Workspaces that were changed keep the version; a rollback takes it back.'],
] as const;

export function rolloutRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(app: FastifyInstance, ctx: PipelinesContext, kind: VersionedKind): void {
  const { path, tag, what, notFound } = kind;
  const find = (organizationId: string, params: unknown) => kind.findAny(ctx.templates, organizationId, params);
  const params = Type.Object({ ...kind.params, [kind.rolloutParam]: RolloutId });
  const idOf = (given: unknown) => String((given as Record<string, unknown>)[kind.rolloutParam]);

  endpoint(app, {
    method: 'GET',
    url: `${path}/rollouts`,
    access: 'operator',
    tag,
    summary: `List rollouts of a ${what}`,
    params: Type.Object(kind.params),
    answer: RolloutList,
    errors: [notFound],
    handle: async ({ params, principal }) => ({
      data: await rollouts.listRollouts(ctx, await find(principal.organizationId, params)),
    }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/rollouts/:${kind.rolloutParam}`,
    access: 'operator',
    tag,
    summary: `Get rollout of a ${what}`,
    description: 'With how far it is.',
    params,
    answer: Rollout,
    errors: [notFound, 'rollout_not_found'],
    handle: async ({ params, principal }) =>
      await rollouts.getRollout(ctx, await find(principal.organizationId, params), idOf(params)),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/rollouts/:${kind.rolloutParam}/workspaces`,
    access: 'operator',
    tag,
    summary: `List workspaces of a rollout of a ${what}`,
    description: 'How far each workspace is, and why it failed or was skipped.',
    params,
    query: ListRolloutItemsQuery,
    answer: RolloutItemList,
    errors: [notFound, 'rollout_not_found'],
    handle: async ({ params, query, principal }) => {
      const { limit = 20, cursor, state } = query;
      const template = await find(principal.organizationId, params);
      return await rollouts.listRolloutItems(ctx, template, idOf(params), { limit, cursor, state });
    },
  });

  for (const [command, verb, description] of commands) {
    endpoint(app, {
      method: 'POST',
      url: `${path}/rollouts/:${kind.rolloutParam}/${command}`,
      isRepeatable: true,
      access: 'operator',
      tag,
      summary: `${verb} rollout of a ${what}`,
      description,
      params,
      answer: Rollout,
      errors: [notFound, 'rollout_not_found', 'rollout_ended'],
      handle: async ({ params, principal, cause }) =>
        await rollouts.commandRollout(
          changedBy(ctx, cause),
          await find(principal.organizationId, params),
          idOf(params),
          command,
        ),
    });
  }
}
