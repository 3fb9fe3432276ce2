/** The health endpoints. */
import type { FastifyInstance } from 'fastify';
import { refuse } from './error-reply.ts';

export interface Readiness {
  ready: boolean;
  /** The state of each part of the service: `ok`, or what is wrong. */
  checks: Record<string, string>;
}

export function healthRoutes(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  const config = { access: 'public' as const };
  const schema = { hide: true };

  app.get('/health/live', { config, schema }, async () => ({ status: 'live' }));

  app.get('/health/ready', { config, schema }, async (_request, reply) => {
    const { ready, checks } = await readiness();
    reply.header('cache-control', 'no-store');
    if (ready) return { status: 'ready', checks };
    const faults = Object.entries(checks).filter(([, state]) => state !== 'ok');
    reply.header('retry-after', '2');
    return refuse(reply, 'not_ready', `Not ready: ${faults.map(([part, state]) => `${part}: ${state}`).join('; ')}`);
  });
}
