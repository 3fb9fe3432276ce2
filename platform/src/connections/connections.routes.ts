/* The HTTP face of connections: paths, schemas and access; the rules are in connections.ts. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Platform } from '../context.ts';
import type { ConnectionRow } from '../db/open.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { ListQuery, page, Uuid } from '../http/paging.ts';
import { deleteConnection } from '../workspaces/deletion.ts';
import {
  ConnectionCreate,
  ConnectionPatch,
  createConnection,
  getConnection,
  listConnections,
  patchConnection,
  showConnections,
} from './connections.ts';

const params = Type.Object({ connectionId: Uuid });

export function connectionRoutes(app: FastifyInstance, platform: Platform): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const show = async (connection: ConnectionRow) => (await showConnections(platform, [connection]))[0];

  routes.get('/connections', { ...policy, schema: { querystring: ListQuery } }, async ({ query }) => {
    const connections = await listConnections(platform, query);
    return page(platform, '/connections', query, await showConnections(platform, connections));
  });

  routes.post('/connections', { ...policy, schema: { body: ConnectionCreate } }, async ({ body }) =>
    show(await createConnection(platform, body)),
  );

  routes.get('/connections/:connectionId', { ...policy, schema: { params } }, async ({ params: { connectionId } }) =>
    show(await getConnection(platform.store, connectionId)),
  );

  routes.patch(
    '/connections/:connectionId',
    { ...policy, schema: { params, body: ConnectionPatch } },
    async ({ params: { connectionId }, body }) => show(await patchConnection(platform, connectionId, body)),
  );

  routes.delete('/connections/:connectionId', { ...policy, schema: { params } }, async ({ params }, reply) => {
    await deleteConnection(platform, params.connectionId);
    return reply.code(204).send();
  });
}
