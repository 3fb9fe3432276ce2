/** An addition of this platform: whether sources can have a credential, which a hosted platform does not know. */
import type { FastifyInstance } from 'fastify';
import { access } from '../http/endpoint.ts';
import type { ActorsContext } from './context.ts';

export function credentialRoutes(app: FastifyInstance, { credentials }: ActorsContext): void {
  app.get('/credentials', access('platform'), async () => ({ areResolved: credentials !== undefined }));
}
