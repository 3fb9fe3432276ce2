/** The endpoints that show operators which connectors there are, and that take connectors of their own. */
import type { Connector } from '@inlay/contract/catalog/definitions';
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { OperatorPrincipal } from '../../kernel/principals.ts';
import { versionMakerOf } from '../../kernel/template-ref.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { Definition } from './definition.ts';
import * as definitions from './definitions.ts';
import { getIcon, iconAddress, iconsPath } from './icons.ts';
import {
  addDefinition,
  confirmAddresses,
  deleteDefinition,
  findManifest,
  type OwnDefinitionsContext,
  type ReplacedDefinition,
  replaceDefinition,
  rollBackDefinition,
} from './own-definitions.ts';

type Context = definitions.DefinitionsContext & OwnDefinitionsContext;

export function definitionRoutes(app: FastifyInstance, ctx: Context): void {
  iconRoute(app, ctx);

  serve(app, operations.sourceDefinitions, {
    list: async ({ query, principal: { organizationId } }) => {
      const found = await definitions.listDefinitions(ctx, organizationId, 'source', query.name);
      return {
        definitions: found.map((definition) => ({
          sourceDefinitionId: definition.id,
          ...presentSummary(ctx, definition),
        })),
        data: found.map((definition) => presentConnector(ctx, definition)),
      };
    },

    get: async ({ params, principal: { organizationId } }) => {
      const { source_definition_id: id } = params;
      const definition = await definitions.getDefinition(ctx, { organizationId, kind: 'source', id });
      const manifest = definition.ownVersion && (await findManifest(ctx, organizationId, id));
      return { ...presentSource(ctx, definition), ...(manifest && { manifest }) };
    },

    add: async ({ body, query, principal, cause }) => {
      const given = { ...query, ...body };
      const { definition, manifest } = await addDefinition(causedBy(ctx, cause), makerIn(principal), given);
      return { ...presentSource(ctx, definition), manifest };
    },

    replace: async ({ params, body, query, principal, cause }) => {
      const change = { ...query, ...body };
      const { source_definition_id: id } = params;
      return presentReplaced(ctx, await replaceDefinition(causedBy(ctx, cause), makerIn(principal), id, change));
    },

    rollBack: async ({ params, body, principal, cause }) => {
      const { source_definition_id: id } = params;
      return presentReplaced(ctx, await rollBackDefinition(causedBy(ctx, cause), makerIn(principal), id, body.version));
    },

    confirm: async ({ params, body, principal, cause }) => {
      const { source_definition_id: id } = params;
      return presentReplaced(ctx, await confirmAddresses(causedBy(ctx, cause), principal, id, body.version));
    },

    delete: async ({ params, principal: { organizationId }, cause }) =>
      await deleteDefinition(causedBy(ctx, cause), organizationId, params.source_definition_id),
  });

  serve(app, operations.destinationDefinitions, {
    list: async ({ query, principal: { organizationId } }) => {
      const found = await definitions.listDefinitions(ctx, organizationId, 'destination', query.name);
      const data = found.map((definition) => presentConnector(ctx, definition));
      return { destinations: data.map(({ id, name, icon }) => ({ id, name, icon })), data };
    },

    get: async ({ params, principal: { organizationId } }) => {
      const { destination_definition_id: id } = params;
      const definition = await definitions.getDefinition(ctx, { organizationId, kind: 'destination', id });
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

function presentSource(ctx: definitions.DefinitionsContext, definition: Definition) {
  const { id } = definition;
  return { id, definition: { sourceDefinitionId: id, ...presentDetail(ctx, definition) } };
}

function presentReplaced(ctx: definitions.DefinitionsContext, replaced: ReplacedDefinition) {
  const { definition, manifest, sources } = replaced;
  return { ...presentSource(ctx, definition), manifest, sources };
}

const makerIn = (principal: OperatorPrincipal) => ({
  organizationId: principal.organizationId,
  maker: versionMakerOf(principal),
});

function presentConnector(ctx: definitions.DefinitionsContext, definition: Definition): Connector {
  const { id, kind, name, icon, version, documentation, documentationUrl, supportLevel, custom, ownVersion } =
    definition;
  return {
    id,
    name,
    type: kind,
    icon: ownVersion === undefined ? iconAddress(ctx, id, icon) : icon,
    version,
    documentation,
    documentation_url: documentationUrl,
    support_level: supportLevel,
    custom,
  };
}

function presentSummary(ctx: definitions.DefinitionsContext, definition: Definition) {
  const { id, name, dockerRepository, icon, custom, supportLevel, ownVersion } = definition;
  const iconUrl = ownVersion === undefined ? iconAddress(ctx, id, icon) : icon;
  return { name, dockerRepository, iconUrl, custom, supportLevel };
}

function presentDetail(ctx: definitions.DefinitionsContext, definition: Definition) {
  const { version, documentationUrl, documentation, specification } = definition;
  return {
    ...presentSummary(ctx, definition),
    dockerImageTag: version,
    documentationUrl,
    documentation,
    spec: specification,
  };
}
