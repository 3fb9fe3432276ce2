/** The endpoints that show operators which connectors there are, and that take connectors of their own. */
import { RollbackSourceDefinitionRequest } from '@inlay/contract/definition-versions';
import {
  AddSourceDefinitionRequest,
  type Connector,
  DeletedSourceDefinition,
  DestinationDefinition,
  DestinationDefinitionList,
  DestinationDefinitionPath,
  ListDefinitionsQuery,
  ReplacedSourceDefinition,
  ReplaceSourceDefinitionRequest,
  SourceDefinition,
  SourceDefinitionList,
  SourceDefinitionPath,
  SourceDefinitionQuery,
} from '@inlay/contract/definitions';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import type { OperatorPrincipal } from '../principals.ts';
import { versionMakerOf } from '../template-ref.ts';
import type { Definition } from './definition.ts';
import * as definitions from './definitions.ts';
import { getIcon, iconAddress, iconsPath } from './icons.ts';
import {
  addDefinition,
  deleteDefinition,
  findManifest,
  type OwnDefinitionsContext,
  type ReplacedDefinition,
  replaceDefinition,
  rollBackDefinition,
} from './own-definitions.ts';

const path = '/api/v1/integrations/definitions';
const tag = 'Definitions';

/** Manifests are large, and quick to take: what reads them is a process of its own. */
const maxManifestBytes = 4 * 1024 ** 2;

type Context = definitions.DefinitionsContext & OwnDefinitionsContext;

export function definitionRoutes(app: FastifyInstance, ctx: Context): void {
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
    handle: async ({ query, principal: { organizationId } }) => {
      const found = await definitions.listDefinitions(ctx, organizationId, 'source', query.name);
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
    handle: async ({ params, principal: { organizationId } }) => {
      const { source_definition_id: id } = params;
      const definition = await definitions.getDefinition(ctx, { organizationId, kind: 'source', id });
      const manifest = definition.ownVersion && (await findManifest(ctx, organizationId, id));
      return { ...presentSource(ctx, definition), ...(manifest && { manifest }) };
    },
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/sources`,
    access: 'operator',
    tag,
    summary: 'Add source definition',
    description:
      'Adds a declarative manifest as a connector of the organization. Nobody else sees or uses it. The body is JSON, or YAML with nothing but the manifest, of at most 4 MiB. What of the manifest cannot run is named in the answer, and the streams that it touches are left out; a manifest of which no stream can run is refused.',
    query: SourceDefinitionQuery,
    body: AddSourceDefinitionRequest,
    maxBodyBytes: maxManifestBytes,
    takesYaml: true,
    status: 201,
    answer: SourceDefinition,
    handle: async ({ body, query, principal, cause }) => {
      const given = { ...query, ...body };
      const { definition, manifest } = await addDefinition(causedBy(ctx, cause), makerIn(principal), given);
      return { ...presentSource(ctx, definition), manifest };
    },
  });

  endpoint(app, {
    method: 'PUT',
    url: `${path}/sources/:source_definition_id`,
    access: 'operator',
    tag,
    summary: 'Replace source definition',
    description:
      'Gives a definition of the organization a new manifest. Existing sources go on with it if its specification accepts their configuration. The other sources are named in the answer and stay on their version; they are tried again with every further request.',
    params: SourceDefinitionPath,
    query: SourceDefinitionQuery,
    body: ReplaceSourceDefinitionRequest,
    maxBodyBytes: maxManifestBytes,
    takesYaml: true,
    answer: ReplacedSourceDefinition,
    errors: ['source_definition_not_found'],
    handle: async ({ params, body, query, principal, cause }) => {
      const change = { ...query, ...body };
      const { source_definition_id: id } = params;
      return presentReplaced(ctx, await replaceDefinition(causedBy(ctx, cause), makerIn(principal), id, change));
    },
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/sources/:source_definition_id/rollback`,
    access: 'operator',
    tag,
    summary: 'Roll back source definition',
    description:
      'Makes a new version that repeats the manifest of an earlier one, with the secrets that are stored in it. Existing sources go on with it or stay on their version as with a new manifest.',
    params: SourceDefinitionPath,
    body: RollbackSourceDefinitionRequest,
    answer: ReplacedSourceDefinition,
    errors: ['source_definition_not_found', 'source_definition_version_not_found'],
    handle: async ({ params, body, principal, cause }) => {
      const { source_definition_id: id } = params;
      return presentReplaced(ctx, await rollBackDefinition(causedBy(ctx, cause), makerIn(principal), id, body.version));
    },
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/sources/:source_definition_id`,
    access: 'operator',
    tag,
    summary: 'Delete source definition',
    description: 'Deletes a definition of the organization. Sources of deleted templates go on with what they have.',
    params: SourceDefinitionPath,
    answer: DeletedSourceDefinition,
    errors: ['source_definition_not_found', 'definition_in_use'],
    handle: async ({ params, principal: { organizationId }, cause }) =>
      await deleteDefinition(causedBy(ctx, cause), organizationId, params.source_definition_id),
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
    handle: async ({ query, principal: { organizationId } }) => {
      const found = await definitions.listDefinitions(ctx, organizationId, 'destination', query.name);
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
    handle: async ({ params, principal: { organizationId } }) => {
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
