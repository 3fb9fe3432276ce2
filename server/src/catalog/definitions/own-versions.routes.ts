/** The endpoints about the versions of connectors that an organization has added itself. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { OwnDefinitionsContext } from './own-definitions.ts';
import { listOwnVersions, presentOwnVersion } from './own-versions.ts';

export function ownVersionRoutes(app: FastifyInstance, ctx: OwnDefinitionsContext): void {
  serve(app, operations.sourceDefinitions, {
    listVersions: async ({ params, query, principal: { organizationId } }) =>
      await listOwnVersions(ctx, organizationId, params.source_definition_id, {
        limit: query.limit ?? 20,
        cursor: query.cursor,
      }),

    getVersion: async ({ params, principal: { organizationId } }) =>
      await presentOwnVersion(ctx, organizationId, params.source_definition_id, params.version),
  });
}
