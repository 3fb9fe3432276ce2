/** The endpoints of a workspace's own manifests, as a hosted platform has them. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { Name, Uuid } from '../fields.ts';
import { access, manifestBodyLimit, type SchemaTypes } from '../http/endpoint.ts';
import type { DefinitionsContext } from './context.ts';
import * as declarative from './declarative-definitions.ts';

const inWorkspace = Type.Object({ workspaceId: Uuid });
const member = Type.Object({ workspaceId: Uuid, definitionId: Uuid });
/** A hosted platform takes an object; a text, of YAML or JSON, is an addition of this platform. */
const manifest = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()]);

export function declarativeDefinitionRoutes(app: FastifyInstance, ctx: DefinitionsContext): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const large = { ...policy, bodyLimit: manifestBodyLimit };
  const collection = '/workspaces/:workspaceId/definitions/declarative_sources';

  routes.get(collection, { ...policy, schema: { params: inWorkspace } }, async ({ params: { workspaceId } }) => ({
    data: await declarative.listDeclarative(ctx, workspaceId),
    next: '',
    previous: '',
  }));
  routes.post(
    collection,
    { ...large, schema: { params: inWorkspace, body: Type.Object({ name: Name, manifest }) } },
    async ({ params: { workspaceId }, body }) => declarative.createDeclarative(ctx, workspaceId, body),
  );
  routes.get(
    `${collection}/:definitionId`,
    { ...policy, schema: { params: member } },
    async ({ params: { workspaceId, definitionId } }) => declarative.getDeclarative(ctx, workspaceId, definitionId),
  );
  routes.put(
    `${collection}/:definitionId`,
    { ...large, schema: { params: member, body: Type.Object({ manifest }) } },
    async ({ params: { workspaceId, definitionId }, body }) =>
      declarative.replaceManifest(ctx, workspaceId, definitionId, body.manifest),
  );
  routes.delete(
    `${collection}/:definitionId`,
    { ...policy, schema: { params: member } },
    async ({ params: { workspaceId, definitionId } }) => declarative.deleteDeclarative(ctx, workspaceId, definitionId),
  );
}
