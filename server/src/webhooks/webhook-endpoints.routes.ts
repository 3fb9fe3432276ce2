/**
 * The endpoints about webhooks: for operators, for customers about their own workspace where the operator allows it, and the
 * public keys for receivers. A secret is in exactly one answer: that of the request that makes it.
 */
import { EventPath } from '@inlay/contract/events';
import {
  CreateOwnWebhookEndpointRequest,
  CreateWebhookEndpointRequest,
  DeletedWebhookEndpoint,
  ListDeliveriesQuery,
  RecoverRequest,
  Recovery,
  RedeliverRequest,
  Redelivery,
  RotateWebhookSecretRequest,
  UpdateOwnWebhookEndpointRequest,
  UpdateWebhookEndpointRequest,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointPath,
  WebhookEndpointWithSecret,
  WebhookKeySet,
  WebhookTestResult,
} from '@inlay/contract/webhook-endpoints';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import type { OperatorPrincipal, ScopedPrincipal } from '../principals.ts';
import type { WebhooksContext } from './context.ts';
import { listDeliveries, recover, redeliver, sendTest } from './deliveries.ts';
import * as endpoints from './endpoints.ts';

const tag = 'Webhooks';

/** What operators and customers do alike. */
function routesFor<A extends 'operator' | 'scoped'>(
  app: FastifyInstance,
  ctx: WebhooksContext,
  { access, path, publicUrl, whose }: { access: A; path: string; publicUrl: string; whose: string },
): void {
  const isOwn = access === 'scoped';
  const about = { access, tag } as const;
  const one = `${path}/:webhook_endpoint_id`;
  const refusals = isOwn ? (['webhooks_not_offered'] as const) : [];
  const unknown = ['webhook_endpoint_not_found', ...refusals] as const;

  /** Whose endpoints the request is about. */
  function ownerOf(principal: OperatorPrincipal | ScopedPrincipal): endpoints.Owner {
    if (principal.kind === 'operator') return { organizationId: principal.organizationId };
    if (!ctx.customersMay) throw new AppError('webhooks_not_offered');
    return { organizationId: principal.organizationId, workspaceId: principal.workspaceId };
  }

  endpoint(app, {
    ...about,
    method: 'GET',
    url: path,
    summary: `List ${whose}webhook endpoints`,
    description: 'Where events are sent, oldest first. Secrets are not shown.',
    answer: WebhookEndpointList,
    errors: [...refusals],
    handle: async ({ principal }) => ({ data: await endpoints.listEndpoints(ctx, ownerOf(principal)) }),
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: path,
    isAdministration: true,
    summary: `Create ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'Events that happen from now on are sent there, signed as Standard Webhooks 1.0 says. The secret is shown only once.',
    body: (isOwn
      ? CreateOwnWebhookEndpointRequest
      : CreateWebhookEndpointRequest) as typeof CreateWebhookEndpointRequest,
    status: 201,
    answer: WebhookEndpointWithSecret,
    errors: ['webhook_endpoint_limit', ...refusals],
    handle: async ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return await endpoints.createEndpoint(causedBy(ctx, cause), ownerOf(principal), withoutForeign(body, isOwn));
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: one,
    summary: `Get ${isOwn ? 'own ' : ''}webhook endpoint`,
    params: WebhookEndpointPath,
    answer: WebhookEndpoint,
    errors: [...unknown],
    handle: ({ principal, params }) => endpoints.getEndpoint(ctx, ownerOf(principal), params.webhook_endpoint_id),
  });

  endpoint(app, {
    ...about,
    method: 'PATCH',
    url: one,
    isAdministration: true,
    summary: `Update ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'Changes what is given. `headers` replaces all headers; a masked value keeps the one that is stored. An endpoint that is enabled again gets what happens from then on; use recover for what it has missed.',
    params: WebhookEndpointPath,
    body: (isOwn
      ? UpdateOwnWebhookEndpointRequest
      : UpdateWebhookEndpointRequest) as typeof UpdateWebhookEndpointRequest,
    answer: WebhookEndpoint,
    errors: [...unknown],
    handle: async ({ principal, params, body, cause }) =>
      await endpoints.updateEndpoint(
        causedBy(ctx, cause),
        ownerOf(principal),
        params.webhook_endpoint_id,
        withoutForeign(body, isOwn),
      ),
  });

  endpoint(app, {
    ...about,
    method: 'DELETE',
    url: one,
    summary: `Delete ${isOwn ? 'own ' : ''}webhook endpoint`,
    description: 'What still waits is not sent any more.',
    params: WebhookEndpointPath,
    answer: DeletedWebhookEndpoint,
    errors: [...unknown],
    handle: async ({ principal, params, cause }) => {
      const owner = ownerOf(principal);
      const { id, deletedAt } = await endpoints.deleteEndpoint(causedBy(ctx, cause), owner, params.webhook_endpoint_id);
      return { id, deleted_at: isoTime(deletedAt) };
    },
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${one}/rotate-secret`,
    isAdministration: true,
    summary: `Rotate secret of ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'Makes a new secret, or key. During the overlap webhooks have a signature of the old and one of the new, so no receiver has to change at that very moment.',
    params: WebhookEndpointPath,
    body: RotateWebhookSecretRequest,
    answer: WebhookEndpointWithSecret,
    errors: [...unknown],
    handle: async ({ principal, params, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const owner = ownerOf(principal);
      return await endpoints.rotateSecret(causedBy(ctx, cause), owner, params.webhook_endpoint_id, body);
    },
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: `${one}/deliveries`,
    summary: `List deliveries of ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'What became of each event, with the answers of the receiver, newest first. Follow `next` until it is null. Kept for some days (`INLAY_WEBHOOK_HISTORY_DAYS`).',
    params: WebhookEndpointPath,
    query: ListDeliveriesQuery,
    answer: WebhookDeliveryPage,
    errors: [...unknown],
    handle: async ({ principal, params, query }) => {
      const id = params.webhook_endpoint_id;
      const { data, next } = await listDeliveries(ctx, ownerOf(principal), id, query);
      if (next === undefined) return { data, next: null };
      const given = Object.entries({ ...query, cursor: next }).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      return { data, next: `${publicUrl}${path}/${id}/deliveries?${new URLSearchParams(given)}` };
    },
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${one}/recover`,
    summary: `Recover events for ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'Sends events of the past, each under its old `webhook-id`: those that the receiver has not confirmed, also because the endpoint was disabled, or all. With `dry_run` it only counts.',
    params: WebhookEndpointPath,
    body: RecoverRequest,
    answer: Recovery,
    errors: [...unknown, 'webhook_endpoint_disabled'],
    handle: async ({ principal, params, body }) =>
      await recover(ctx, ownerOf(principal), params.webhook_endpoint_id, body),
  });

  endpoint(app, {
    ...about,
    method: 'POST',
    url: `${one}/test`,
    summary: `Test ${isOwn ? 'own ' : ''}webhook endpoint`,
    description:
      'Sends an event of the type `webhook_endpoint.test` now, also to an endpoint that is disabled, and tells what the receiver answered.',
    params: WebhookEndpointPath,
    answer: WebhookTestResult,
    errors: [...unknown],
    handle: async ({ principal, params }) => await sendTest(ctx, ownerOf(principal), params.webhook_endpoint_id),
  });
}

/** A customer's endpoint has no filter but its own workspace, whatever the request says. */
function withoutForeign<T extends { workspace_ids?: unknown; tags?: unknown }>(body: T, isOwn: boolean): T {
  if (!isOwn) return body;
  const { workspace_ids: _, tags: __, ...own } = body;
  return own as T;
}

export function webhookRoutes(app: FastifyInstance, ctx: WebhooksContext, publicUrl: string): void {
  routesFor(app, ctx, { access: 'operator', path: '/api/v1/webhook-endpoints', publicUrl, whose: '' });
  routesFor(app, ctx, { access: 'scoped', path: '/api/v1/embedded/webhook-endpoints', publicUrl, whose: 'own ' });

  endpoint(app, {
    method: 'POST',
    url: '/api/v1/events/:event_id/redeliver',
    access: 'operator',
    tag,
    summary: 'Redeliver event',
    description:
      'Sends the event again, under its old `webhook-id`, to every enabled webhook endpoint that it matches.',
    params: EventPath,
    body: RedeliverRequest,
    answer: Redelivery,
    errors: ['event_not_found'],
    handle: async ({ principal: { organizationId }, params }) =>
      await redeliver(ctx, { organizationId }, params.event_id),
  });

  endpoint(app, {
    method: 'GET',
    url: '/.well-known/inlay/webhook-keys/:webhook_endpoint_id',
    access: 'public',
    tag,
    summary: 'Get public keys of webhook endpoint',
    description:
      'The keys with which receivers verify `v1a` signatures, the newest first; none for an endpoint that signs with a secret alone.',
    params: WebhookEndpointPath,
    answer: WebhookKeySet,
    errors: ['webhook_endpoint_not_found'],
    handle: async ({ params, reply }) => {
      reply.header('cache-control', 'public, max-age=300');
      return await endpoints.getKeySet(ctx, params.webhook_endpoint_id);
    },
  });
}
