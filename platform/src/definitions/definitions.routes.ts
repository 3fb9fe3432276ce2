/** The endpoints of connector definitions: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { getWorkspace } from '../workspaces/workspaces.ts';
import type { DefinitionsContext } from './context.ts';
import { type ConnectorKind, type Definition, getDefinition, listDefinitions } from './definitions.ts';

const inWorkspace = Type.Object({ workspaceId: Uuid });
const definitionInWorkspace = Type.Object({ workspaceId: Uuid, definitionId: Uuid });
const listQuery = Type.Object({ type: Type.Enum(['source', 'destination']), workspaceId: Type.Optional(Uuid) });

export function definitionRoutes(app: FastifyInstance, ctx: DefinitionsContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const ofKind = async (kind: ConnectorKind, workspaceId?: string) =>
    (await listDefinitions(ctx, workspaceId?.toLowerCase())).filter((known) => known.kind === kind);

  for (const kind of ['source', 'destination'] as const) {
    const collection = `/workspaces/:workspaceId/definitions/${kind}s`;

    routes.get(collection, { ...policy, schema: { params: inWorkspace } }, async ({ params: { workspaceId } }) => {
      await getWorkspace(ctx.store.db, workspaceId);
      return { data: (await ofKind(kind, workspaceId)).map(presentDefinition), next: '', previous: '' };
    });

    routes.get(
      `${collection}/:definitionId`,
      { ...policy, schema: { params: definitionInWorkspace } },
      async ({ params: { workspaceId, definitionId } }) => {
        await getWorkspace(ctx.store.db, workspaceId);
        return presentDefinition(await getDefinition(ctx, { kind, id: definitionId, workspaceId }));
      },
    );
  }

  routes.get('/connector_definitions', { ...policy, schema: { querystring: listQuery } }, async ({ query }) => {
    if (query.workspaceId !== undefined) await getWorkspace(ctx.store.db, query.workspaceId);
    return { data: (await ofKind(query.type, query.workspaceId)).map(presentInList) };
  });
}

/** All fields after `version` are additions of this platform: a hosted one publishes them in its registry. */
function presentInList(definition: Definition) {
  const { definitionId, kind, slug, name, version, documentation, icon } = definition;
  // How rows travel matters only to the runner.
  const { inlay_row_blocks: _, ...specification } = definition.specification;
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
function presentDefinition(definition: Definition) {
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
function repositoryOf({ kind, slug, launch, manifest }: Definition): string {
  if (manifest) return '';
  if (launch?.type === 'image') return launch.image.replace(/:[^:/]+$/, '');
  return launch?.type === 'command' ? '' : `inlay/${kind}-${slug}`;
}
