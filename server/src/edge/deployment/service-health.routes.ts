/** How the service itself does. */

import type { ServiceHealth } from '@inlay/contract/log/service-health';
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';

export function serviceHealthRoutes(
  app: FastifyInstance,
  read: (organizationId: string) => Promise<ServiceHealth>,
): void {
  serve(app, operations.serviceHealth, {
    get: ({ principal: { organizationId } }) => read(organizationId),
  });
}
