/* The HTTP face of workspaces and organizations: paths, schemas and access; the rules are in workspaces.ts. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Platform } from '../context.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page, Uuid, WorkspaceListQuery } from '../http/paging.ts';
import { deleteWorkspace } from './deletion.ts';
import {
  createWorkspace,
  getWorkspace,
  listOrganizations,
  listWorkspaces,
  patchWorkspace,
  showWorkspace,
  WorkspaceCreate,
  WorkspacePatch,
} from './workspaces.ts';

const params = Type.Object({ workspaceId: Uuid });

export function workspaceRoutes(app: FastifyInstance, platform: Platform): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');

  routes.get('/organizations', policy, async () => ({ data: await listOrganizations(platform) }));

  routes.get('/workspaces', { ...policy, schema: { querystring: WorkspaceListQuery } }, async ({ query }) => {
    const workspaces = await listWorkspaces(platform, query);
    return page(platform, '/workspaces', query, workspaces.map(showWorkspace));
  });

  routes.post('/workspaces', { ...policy, schema: { body: WorkspaceCreate } }, async ({ body }) =>
    showWorkspace(await createWorkspace(platform, body)),
  );

  routes.get('/workspaces/:workspaceId', { ...policy, schema: { params } }, async ({ params: { workspaceId } }) =>
    showWorkspace(await getWorkspace(platform.store, workspaceId)),
  );

  routes.patch(
    '/workspaces/:workspaceId',
    { ...policy, schema: { params, body: WorkspacePatch } },
    async ({ params: { workspaceId }, body }) => showWorkspace(await patchWorkspace(platform, workspaceId, body)),
  );

  routes.delete('/workspaces/:workspaceId', { ...policy, schema: { params } }, async ({ params }, reply) => {
    await deleteWorkspace(platform, params.workspaceId);
    return reply.code(204).send();
  });
}
