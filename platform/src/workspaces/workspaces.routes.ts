/** The endpoints of workspaces and organizations: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import type { WorkspacesContext } from './context.ts';
import {
  WorkspaceCreate,
  WorkspaceLimits,
  WorkspaceListQuery,
  WorkspacePatch,
  WorkspacePlacement,
} from './requests.ts';
import * as workspaces from './workspaces.ts';

const params = Type.Object({ workspaceId: Uuid });

export function workspaceRoutes(app: FastifyInstance, ctx: WorkspacesContext, publicUrl: string): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');

  routes.get('/organizations', policy, async () => ({ data: await workspaces.listOrganizations(ctx) }));

  routes.get('/workspaces', { ...policy, schema: { querystring: WorkspaceListQuery } }, async ({ query }) => {
    const rows = await workspaces.listWorkspaces(ctx, query);
    return page(`${publicUrl}/workspaces`, query, rows.map(workspaces.presentWorkspace));
  });

  routes.post('/workspaces', { ...policy, schema: { body: WorkspaceCreate } }, async ({ body }) =>
    workspaces.presentWorkspace(await workspaces.createWorkspace(ctx, body)),
  );

  routes.get('/workspaces/:workspaceId', { ...policy, schema: { params } }, async ({ params: { workspaceId } }) =>
    workspaces.presentWorkspace(await workspaces.getWorkspace(ctx.store.db, workspaceId)),
  );

  routes.patch(
    '/workspaces/:workspaceId',
    { ...policy, schema: { params, body: WorkspacePatch } },
    async ({ params: { workspaceId }, body }) =>
      workspaces.presentWorkspace(await workspaces.patchWorkspace(ctx, workspaceId, body)),
  );

  routes.put(
    '/workspaces/:workspaceId/limits',
    { ...policy, schema: { params, body: WorkspaceLimits } },
    async ({ params: { workspaceId }, body }) => await workspaces.setLimits(ctx, workspaceId, body),
  );

  routes.get('/workspaces/:workspaceId/placement', { ...policy, schema: { params } }, async (request) =>
    workspaces.getPlacement(ctx, request.params.workspaceId),
  );

  routes.put(
    '/workspaces/:workspaceId/placement',
    { ...policy, schema: { params, body: WorkspacePlacement } },
    async ({ params: { workspaceId }, body }) => await workspaces.setPlacement(ctx, workspaceId, body),
  );

  routes.delete('/workspaces/:workspaceId', { ...policy, schema: { params } }, async ({ params }, reply) => {
    await workspaces.deleteWorkspace(ctx, params.workspaceId);
    return reply.code(204).send();
  });
}
