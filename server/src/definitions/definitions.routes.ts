/** The endpoints that show operators which connectors there are. */
import {
  DestinationDefinition,
  DestinationDefinitionList,
  DestinationDefinitionPath,
  ListDefinitionsQuery,
  SourceDefinition,
  SourceDefinitionList,
  SourceDefinitionPath,
} from '@inlay/contract/definitions';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import * as definitions from './definitions.ts';

const path = '/api/v1/integrations/definitions';
const tag = 'Definitions';

export function definitionRoutes(app: FastifyInstance, ctx: definitions.DefinitionsContext): void {
  endpoint(app, {
    method: 'GET',
    url: `${path}/sources`,
    access: 'operator',
    tag,
    summary: 'List source definitions',
    query: ListDefinitionsQuery,
    answer: SourceDefinitionList,
    errors: ['definitions_unavailable'],
    handle: async ({ query }) => ({
      definitions: (await definitions.listDefinitions(ctx, 'source', query.name)).map((definition) => ({
        sourceDefinitionId: definition.id,
        ...presentSummary(definition),
      })),
    }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/sources/:source_definition_id`,
    access: 'operator',
    tag,
    summary: 'Get source definition',
    params: SourceDefinitionPath,
    answer: SourceDefinition,
    errors: ['source_definition_not_found', 'definitions_unavailable'],
    handle: async ({ params }) => {
      const definition = await definitions.getDefinition(ctx, 'source', params.source_definition_id);
      const { id } = definition;
      return { id, definition: { sourceDefinitionId: id, ...presentDetail(definition) } };
    },
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/destinations`,
    access: 'operator',
    tag,
    summary: 'List destination definitions',
    query: ListDefinitionsQuery,
    answer: DestinationDefinitionList,
    errors: ['definitions_unavailable'],
    handle: async ({ query }) => ({
      destinations: (await definitions.listDefinitions(ctx, 'destination', query.name)).map(({ id, name, icon }) => ({
        id,
        name,
        icon,
      })),
    }),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/destinations/:destination_definition_id`,
    access: 'operator',
    tag,
    summary: 'Get destination definition',
    params: DestinationDefinitionPath,
    answer: DestinationDefinition,
    errors: ['destination_definition_not_found', 'definitions_unavailable'],
    handle: async ({ params }) => {
      const definition = await definitions.getDefinition(ctx, 'destination', params.destination_definition_id);
      const { id } = definition;
      return { id, definition: { destinationDefinitionId: id, ...presentDetail(definition) } };
    },
  });
}

function presentSummary({ name, dockerRepository, icon, custom, supportLevel }: definitions.Definition) {
  return { name, dockerRepository, iconUrl: icon, custom, supportLevel };
}

function presentDetail(definition: definitions.Definition) {
  const { version, documentationUrl, documentation, specification } = definition;
  return {
    ...presentSummary(definition),
    dockerImageTag: version,
    documentationUrl,
    documentation,
    spec: specification,
  };
}
