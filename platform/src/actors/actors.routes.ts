/** The endpoints of sources and destinations, each once per kind: schema, who may call, one call, reply. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ActorRow } from '../db/tables.ts';
import type { ConnectorKind } from '../definitions/definitions.ts';
import { ListQuery, Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { page } from '../http/paging.ts';
import * as actors from './actors.ts';
import type { ActorsContext } from './context.ts';
import { ActorCreate, ActorPatch, ActorPut } from './requests.ts';

const params = Type.Object({ id: Uuid });

export function actorRoutes(app: FastifyInstance, ctx: ActorsContext, kind: ConnectorKind, publicUrl: string): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const policy = access('platform');
  const collection = `/${kind}s`;
  const member = `${collection}/:id`;
  const present = async (actor: ActorRow) => (await actors.presentActors(ctx, [actor]))[0];

  routes.get(collection, { ...policy, schema: { querystring: ListQuery } }, async ({ query }) => {
    const rows = await actors.listActors(ctx, kind, query);
    return page(`${publicUrl}${collection}`, query, await actors.presentActors(ctx, rows));
  });

  routes.post(collection, { ...policy, schema: { body: ActorCreate } }, async ({ body }) =>
    present(await actors.createActor(ctx, kind, body)),
  );

  routes.get(member, { ...policy, schema: { params } }, async ({ params: { id } }) =>
    present(await actors.getActor(ctx.store.db, kind, id)),
  );

  routes.patch(member, { ...policy, schema: { params, body: ActorPatch } }, async ({ params: { id }, body }) =>
    present(await actors.patchActor(ctx, kind, id, body)),
  );

  routes.put(member, { ...policy, schema: { params, body: ActorPut } }, async ({ params: { id }, body }) =>
    present(await actors.putActor(ctx, kind, id, body)),
  );

  routes.delete(member, { ...policy, schema: { params } }, async ({ params: { id } }, reply) => {
    await actors.deleteActor(ctx, kind, id);
    return reply.code(204).send();
  });
}
