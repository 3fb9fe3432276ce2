/** The metrics of this process, for everybody or only for callers with the token. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export function metricsRoutes(app: FastifyInstance, metrics: Metrics, token: string | undefined): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  app.get('/metrics', options, async (request, reply) => {
    if (token !== undefined && !isSame(request.headers.authorization ?? '', `Bearer ${token}`)) {
      throw new AppError('unauthenticated');
    }
    reply.type(metrics.registry.contentType);
    return await metrics.registry.metrics();
  });
}

/** Compares hashes, so that the time of the comparison says nothing about the texts. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => Buffer.from(hash('sha256', text, 'hex'));
  return timingSafeEqual(digest(given.replace(/^bearer /i, 'Bearer ')), digest(wanted));
}
