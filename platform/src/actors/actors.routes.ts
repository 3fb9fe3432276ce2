/*
 * The HTTP face of sources, destinations and the definitions they are made from: paths, schemas and access. Each route
 * exists once per kind; the rules are in connectors.ts and definitions.ts.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Platform } from '../context.ts';
import type { ConnectorRow } from '../db/open.ts';
import { type ConnectorKind, type Definition, getDefinition, listDefinitions } from '../definitions/definitions.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { ListQuery, page, Uuid } from '../http/paging.ts';
import { deleteConnector } from '../workspaces/deletion.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import {
  ConnectorCreate,
  ConnectorPatch,
  ConnectorPut,
  createConnector,
  getConnector,
  listConnectors,
  patchConnector,
  putConnector,
  showConnector,
} from './actors.ts';

const params = Type.Object({ id: Uuid });

export function connectorRoutes(app: FastifyInstance, platform: Platform, kind: ConnectorKind): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const collection = `/${kind}s`;
  const member = `${collection}/:id`;
  const show = async (connector: ConnectorRow) =>
    showConnector(platform.sealer, await listDefinitions(platform), connector);

  routes.get(collection, { ...policy, schema: { querystring: ListQuery } }, async ({ query }) => {
    const connectors = await listConnectors(platform, kind, query);
    const definitions = await listDefinitions(platform);
    const shown = connectors.map((connector) => showConnector(platform.sealer, definitions, connector));
    return page(platform, collection, query, shown);
  });

  routes.post(collection, { ...policy, schema: { body: ConnectorCreate } }, async ({ body }) =>
    show(await createConnector(platform, kind, body)),
  );

  routes.get(member, { ...policy, schema: { params } }, async ({ params: { id } }) =>
    show(await getConnector(platform.store, kind, id)),
  );

  routes.patch(member, { ...policy, schema: { params, body: ConnectorPatch } }, async ({ params: { id }, body }) =>
    show(await patchConnector(platform, kind, id, body)),
  );

  routes.put(member, { ...policy, schema: { params, body: ConnectorPut } }, async ({ params: { id }, body }) =>
    show(await putConnector(platform, kind, id, body)),
  );

  routes.delete(member, { ...policy, schema: { params } }, async ({ params: { id } }, reply) => {
    await deleteConnector(platform, kind, id);
    return reply.code(204).send();
  });

  const definitions = `/workspaces/:workspaceId/definitions/${kind}s`;
  const inWorkspace = Type.Object({ workspaceId: Uuid });
  const definitionInWorkspace = Type.Object({ workspaceId: Uuid, definitionId: Uuid });

  routes.get(definitions, { ...policy, schema: { params: inWorkspace } }, async ({ params: { workspaceId } }) => {
    await getWorkspace(platform.store, workspaceId);
    const data = (await listDefinitions(platform)).filter((known) => known.kind === kind).map(showDefinition);
    return { data, next: '', previous: '' };
  });

  routes.get(
    `${definitions}/:definitionId`,
    { ...policy, schema: { params: definitionInWorkspace } },
    async ({ params: { workspaceId, definitionId } }) => {
      await getWorkspace(platform.store, workspaceId);
      return showDefinition(await getDefinition(platform, kind, definitionId));
    },
  );
}

export function definitionRoutes(app: FastifyInstance, platform: Platform): void {
  const querystring = Type.Object({ type: Type.Enum(['source', 'destination']), workspaceId: Type.Optional(Uuid) });
  app
    .withTypeProvider<SchemaTypes>()
    .get('/connector_definitions', { ...access('platform'), schema: { querystring } }, async ({ query }) => {
      if (query.workspaceId !== undefined) await getWorkspace(platform.store, query.workspaceId);
      const definitions = (await listDefinitions(platform)).filter(({ kind }) => kind === query.type);
      return { data: definitions.map(listDefinition) };
    });
}

/** All after `version` are additions of this platform: a hosted one publishes them in its registry. */
function listDefinition({ definitionId, kind, slug, name, version, documentation, icon, specification }: Definition) {
  return {
    id: definitionId,
    name,
    connectorDefinitionType: kind,
    version,
    dockerRepository: `inlay/${kind}-${slug}`,
    documentation,
    iconUrl: icon ?? null,
    specification,
  };
}

/** `documentation` and `connectionSpecification` are additions of this platform; a form is drawn from the latter. */
function showDefinition(definition: Definition) {
  const { definitionId, name, version, documentation, specification } = definition;
  return {
    id: definitionId,
    name,
    dockerRepository: repositoryOf(definition),
    dockerImageTag: version,
    documentation,
    connectionSpecification: specification.connectionSpecification,
  };
}

/** A command line of this machine has none, and shows nobody where its programs are. */
function repositoryOf({ kind, slug, launch }: Definition): string {
  if (launch?.type === 'image') return launch.image.replace(/:[^:/]+$/, '');
  return launch?.type === 'command' ? '' : `inlay/${kind}-${slug}`;
}
