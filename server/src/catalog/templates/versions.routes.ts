/** The endpoints about the versions of templates, the same for both kinds. */
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { TemplatesContext } from './context.ts';
import { idIn, type VersionedKind, versionedKinds } from './versioned-kinds.ts';
import { listVersions, presentVersion } from './versions.ts';

export function versionRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  for (const kind of versionedKinds) routesFor(app, ctx, kind);
}

function routesFor(app: FastifyInstance, ctx: TemplatesContext, { operations, find }: VersionedKind): void {
  serve(app, operations, {
    listVersions: async ({ params, query, principal }) => {
      const template = await find(ctx, principal.organizationId, params);
      return await listVersions(ctx, template, { limit: query.limit ?? 20, cursor: query.cursor });
    },

    getVersion: async ({ params, principal }) =>
      await presentVersion(ctx, await find(ctx, principal.organizationId, params), Number(idIn(params, 'version'))),
  });
}
