/** The endpoints of connections: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ConnectionRow } from '../db/tables.ts';
import { ListQuery, Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import * as connections from './connections.ts';
import type { ConnectionsContext } from './context.ts';
import { ConnectionCreate, ConnectionPatch } from './requests.ts';

const params = Type.Object({ connectionId: Uuid });

export function connectionRoutes(app: FastifyInstance, ctx: ConnectionsContext, publicUrl: string): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const present = async (connection: ConnectionRow) => (await connections.presentConnections(ctx, [connection]))[0];

  routes.get('/connections', { ...policy, schema: { querystring: ListQuery } }, async ({ query }) => {
    const rows = await connections.listConnections(ctx, query);
    return page(`${publicUrl}/connections`, query, await connections.presentConnections(ctx, rows));
  });

  routes.post('/connections', { ...policy, schema: { body: ConnectionCreate } }, async ({ body }) =>
    present(await connections.createConnection(ctx, body)),
  );

  routes.get('/connections/:connectionId', { ...policy, schema: { params } }, async ({ params: { connectionId } }) =>
    present(await connections.getConnection(ctx.store.db, connectionId)),
  );

  routes.patch(
    '/connections/:connectionId',
    { ...policy, schema: { params, body: ConnectionPatch } },
    async ({ params: { connectionId }, body }) => present(await connections.patchConnection(ctx, connectionId, body)),
  );

  routes.delete('/connections/:connectionId', { ...policy, schema: { params } }, async ({ params }, reply) => {
    await connections.deleteConnection(ctx, params.connectionId);
    return reply.code(204).send();
  });
}
