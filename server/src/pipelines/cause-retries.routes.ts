/** Trying all connections again that fail for one reason: started by a request, carried out in the background. */
import {
  CauseRetry,
  CauseRetryItemList,
  CauseRetryList,
  CauseRetryPath,
  CauseRetryRequest,
  ListCauseRetriesQuery,
  ListCauseRetryItemsQuery,
} from '@inlay/contract/cause-retries';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import * as retries from './cause-retries.ts';
import { changedBy, type PipelinesContext } from './context.ts';

const path = '/api/v1/integrations/causes/retries';
const about = { access: 'operator' as const, tag: 'Operating' };

export function causeRetryRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  endpoint(app, {
    ...about,
    method: 'POST',
    url: path,
    isRepeatable: true,
    summary: 'Retry all connections that fail for one reason',
    description:
      'Starts a sync of each connection that has this cause now, a few at a time, in the background: look at the retry to see how far it is. Connections that are paused, inactive or held back by a quota are named with the reason. While a retry of the cause runs, the answer is that retry. It stops by itself after a day.',
    body: CauseRetryRequest,
    answer: CauseRetry,
    errors: ['cause_not_found'],
    handle: ({ principal: { organizationId }, body, cause }) =>
      retries.startCauseRetry(changedBy(ctx, cause), organizationId, body.cause),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: path,
    summary: 'List retries of causes',
    description: 'Newest first, with how far each is. They are kept for a week after their end.',
    query: ListCauseRetriesQuery,
    answer: CauseRetryList,
    handle: async ({ principal: { organizationId }, query: { limit = 20 } }) => ({
      data: await retries.listCauseRetries(ctx, organizationId, limit),
    }),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/:cause_retry_id`,
    summary: 'Get retry of a cause',
    description: 'With how far it is.',
    params: CauseRetryPath,
    answer: CauseRetry,
    errors: ['cause_retry_not_found'],
    handle: ({ principal: { organizationId }, params }) =>
      retries.getCauseRetry(ctx, organizationId, params.cause_retry_id),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${path}/:cause_retry_id/connections`,
    summary: 'List connections of a retry of a cause',
    description: 'How far each connection is, and why it was skipped or refused.',
    params: CauseRetryPath,
    query: ListCauseRetryItemsQuery,
    answer: CauseRetryItemList,
    errors: ['cause_retry_not_found'],
    handle: ({ principal: { organizationId }, params, query }) =>
      retries.listCauseRetryItems(ctx, organizationId, params.cause_retry_id, query),
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${path}/:cause_retry_id/stop`,
    isRepeatable: true,
    summary: 'Stop retry of a cause',
    description: 'No further sync is started. Syncs that were started go on. A retry that has ended stays as it is.',
    params: CauseRetryPath,
    answer: CauseRetry,
    errors: ['cause_retry_not_found'],
    handle: ({ principal: { organizationId }, params, cause }) =>
      retries.stopCauseRetry(changedBy(ctx, cause), organizationId, params.cause_retry_id),
  });
}
