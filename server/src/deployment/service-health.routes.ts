/** How the service itself does. */
import { ServiceHealth } from '@inlay/contract/service-health';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';

export function serviceHealthRoutes(
  app: FastifyInstance,
  read: (organizationId: string) => Promise<ServiceHealth>,
): void {
  endpoint(app, {
    access: 'operator',
    tag: 'Operating',
    method: 'GET',
    url: '/api/v1/integrations/health',
    summary: 'Get the health of the service',
    description:
      'What `inlay doctor` checks, from within the running service, with what to do: the platform, the database, tokens and OAuth clients of the organization. For the first organization also replicas, versions, migrations and settings; secrets only as set or not set.',
    answer: ServiceHealth,
    handle: ({ principal: { organizationId } }) => read(organizationId),
  });
}
