/**
 * An extension by which the service recognizes Inlay's own platform: sources may have a credential, and the platform
 * requests its tokens. Hosted platforms have no such path. `?test=true` also reports whether the keeper of the
 * credentials can be reached from here.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { access, type SchemaTypes } from '../http/endpoint.ts';
import type { ActorsContext } from './context.ts';

const querystring = Type.Object({ test: Type.Optional(Type.Boolean()) });

export function credentialRoutes(app: FastifyInstance, { credentials }: ActorsContext): void {
  app
    .withTypeProvider<SchemaTypes>()
    .get('/credentials', { ...access('platform'), schema: { querystring } }, async ({ query }) => {
      const outage = query.test ? await credentials?.test() : credentials?.outage();
      return { areResolved: credentials !== undefined, outage: outage ?? null };
    });
}
