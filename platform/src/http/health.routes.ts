/** Whether the platform is alive, and whether it can be used. */
import type { StorageState } from '@inlay/database/storage-state';
import type { FastifyInstance } from 'fastify';
import type { Store } from '../db/open.ts';
import { Problem } from '../problems.ts';
import { access } from './endpoint.ts';

export function healthRoutes(app: FastifyInstance, { store, storage }: { store: Store; storage: StorageState }): void {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
  });

  app.get('/health/live', access('public'), async () => ({ status: 'live' }));

  app.get('/health/ready', access('public'), async (_request, reply) => {
    const fault = await storage.check();
    const checks = {
      service: isStopping ? 'stopping' : 'ok',
      database: await store.now().then(
        () => (fault ? `storage ${fault}` : 'ok'),
        () => 'the database is not responding',
      ),
    };
    reply.header('cache-control', 'no-store');
    const faults = Object.entries(checks).filter(([, state]) => state !== 'ok');
    if (faults.length === 0) return { status: 'ready', checks };
    const message = `Not ready: ${faults.map(([part, state]) => `${part}: ${state}`).join('; ')}`;
    throw new Problem('service-unavailable', { message }, { retryAfterSeconds: 2 });
  });
}
