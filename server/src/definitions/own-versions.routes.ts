/** The endpoints about the versions of connectors that an organization has added itself. */
import { SourceDefinitionVersion, SourceDefinitionVersionList } from '@inlay/contract/definition-versions';
import { SourceDefinitionPath } from '@inlay/contract/definitions';
import { ListVersionsQuery, VersionNumber } from '@inlay/contract/template-versions';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import type { OwnDefinitionsContext } from './own-definitions.ts';
import { listOwnVersions, presentOwnVersion } from './own-versions.ts';

const path = '/api/v1/integrations/definitions/sources/:source_definition_id/versions';
const tag = 'Definitions';

export function ownVersionRoutes(app: FastifyInstance, ctx: OwnDefinitionsContext): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List versions of a source definition',
    description:
      'The versions of a connector that the organization has added, each with what of it runs. Every new manifest makes a version. Versions never change. The newest 20 are kept, and older ones as long as a source has them.',
    params: SourceDefinitionPath,
    query: ListVersionsQuery,
    answer: SourceDefinitionVersionList,
    errors: ['source_definition_not_found'],
    handle: async ({ params, query, principal: { organizationId } }) =>
      await listOwnVersions(ctx, organizationId, params.source_definition_id, {
        limit: query.limit ?? 20,
        cursor: query.cursor,
      }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:version`,
    access: 'operator',
    tag,
    summary: 'Get version of a source definition',
    description: 'With the manifest as it was, its secrets masked.',
    params: Type.Object({
      ...SourceDefinitionPath.properties,
      version: VersionNumber('Number of the version'),
    }),
    answer: SourceDefinitionVersion,
    errors: ['source_definition_not_found', 'source_definition_version_not_found'],
    handle: async ({ params, principal: { organizationId } }) =>
      await presentOwnVersion(ctx, organizationId, params.source_definition_id, params.version),
  });
}
