/** The endpoints with which operators check a destination. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import type { PipelinesContext } from '../context.ts';
import { getDestinationCheck, startDestinationCheck } from './destination-checks.ts';

export function destinationCheckRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  serve(app, operations.destinations, {
    check: async ({ body, principal }) => ({
      id: await startDestinationCheck(ctx, principal.organizationId, body),
    }),

    getCheck: async ({ params, principal }) =>
      getDestinationCheck(ctx, principal.organizationId, params.destination_check_id),
  });
}
