/** The endpoints that show operators which connectors there are. */
import {
  type Connector,
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
import { getIcon, iconAddress, iconsPath } from './icons.ts';

const path = '/api/v1/integrations/definitions';
const tag = 'Definitions';

export function definitionRoutes(app: FastifyInstance, ctx: definitions.DefinitionsContext): void {
  iconRoute(app, ctx);

  endpoint(app, {
    method: 'GET',
    url: `${path}/sources`,
    access: 'operator',
    tag,
    summary: 'List source definitions',
    query: ListDefinitionsQuery,
    answer: SourceDefinitionList,
    errors: ['definitions_unavailable'],
    handle: async ({ query }) => {
      const found = await definitions.listDefinitions(ctx, 'source', query.name);
      return {
        definitions: found.map((definition) => ({
          sourceDefinitionId: definition.id,
          ...presentSummary(ctx, definition),
        })),
        data: found.map((definition) => presentConnector(ctx, definition)),
      };
    },
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
      return { id, definition: { sourceDefinitionId: id, ...presentDetail(ctx, definition) } };
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
    handle: async ({ query }) => {
      const found = await definitions.listDefinitions(ctx, 'destination', query.name);
      const data = found.map((definition) => presentConnector(ctx, definition));
      return { destinations: data.map(({ id, name, icon }) => ({ id, name, icon })), data };
    },
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
      return { id, definition: { destinationDefinitionId: id, ...presentDetail(ctx, definition) } };
    },
  });
}

/** Any page may load icons as images, so they need no token. An SVG could run scripts: the headers forbid that. */
function iconRoute(app: FastifyInstance, ctx: definitions.DefinitionsContext): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  app.get<{ Params: { id: string; edition: string } }>(`${iconsPath}/:id/:edition`, options, async (request, reply) => {
    const { mediaType, content, isExact } = await getIcon(ctx, request.params.id, request.params.edition);
    return reply
      .type(mediaType)
      .header('cache-control', isExact ? 'public, max-age=31536000, immutable' : 'public, max-age=300')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(content);
  });
}

function presentConnector(ctx: definitions.DefinitionsContext, definition: definitions.Definition): Connector {
  const { id, kind, name, icon, version, documentation, documentationUrl, supportLevel, custom } = definition;
  return {
    id,
    name,
    type: kind,
    icon: iconAddress(ctx, id, icon),
    version,
    documentation,
    documentation_url: documentationUrl,
    support_level: supportLevel,
    custom,
  };
}

function presentSummary(ctx: definitions.DefinitionsContext, definition: definitions.Definition) {
  const { id, name, dockerRepository, icon, custom, supportLevel } = definition;
  return { name, dockerRepository, iconUrl: iconAddress(ctx, id, icon), custom, supportLevel };
}

function presentDetail(ctx: definitions.DefinitionsContext, definition: definitions.Definition) {
  const { version, documentationUrl, documentation, specification } = definition;
  return {
    ...presentSummary(ctx, definition),
    dockerImageTag: version,
    documentationUrl,
    documentation,
    spec: specification,
  };
}
