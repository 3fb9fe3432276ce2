/** The endpoint of streams: schema, who may call, one call, reply. */
import { longListText } from '@inlay/schedule/pieces';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ActorsContext } from '../actors/context.ts';
import { Uuid } from '../fields.ts';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import { listStreams } from './streams.ts';

const querystring = Type.Object({
  sourceId: Uuid,
  destinationId: Type.Optional(Uuid),
  ignoreCache: Type.Boolean({ default: false }),
});

export function streamRoutes(app: FastifyInstance, ctx: ActorsContext): void {
  app
    .withTypeProvider<SchemaTypes>()
    .get('/streams', { ...access('platform'), schema: { querystring } }, async ({ query }, reply) => {
      const text = await longListText(await listStreams(ctx, query));
      return reply.type('application/json; charset=utf-8').send(text);
    });
}
