/** Trying all connections again that fail for one reason: started by a request, carried out in the background. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../kernel/http/endpoint.ts';
import { changedBy, type PipelinesContext } from '../pipelines/context.ts';
import * as retries from './cause-retries.ts';

export function causeRetryRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  serve(app, operations.causeRetries, {
    start: ({ principal: { organizationId }, body, cause }) =>
      retries.startCauseRetry(changedBy(ctx, cause), organizationId, body.cause),

    list: async ({ principal: { organizationId }, query: { limit = 20 } }) => ({
      data: await retries.listCauseRetries(ctx, organizationId, limit),
    }),

    get: ({ principal: { organizationId }, params }) =>
      retries.getCauseRetry(ctx, organizationId, params.cause_retry_id),

    listConnections: ({ principal: { organizationId }, params, query }) =>
      retries.listCauseRetryItems(ctx, organizationId, params.cause_retry_id, query),

    stop: ({ principal: { organizationId }, params, cause }) =>
      retries.stopCauseRetry(changedBy(ctx, cause), organizationId, params.cause_retry_id),
  });
}
