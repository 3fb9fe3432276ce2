/**
 * The endpoints about webhooks: for operators, for customers about their own workspace where the operator allows it, and the
 * public keys for receivers. A secret is in exactly one answer: that of the request that makes it.
 */
import { operations } from '@inlay/contract/operations';
import { methodAndPath } from '@inlay/contract/operations/operation';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OperatorPrincipal, ScopedPrincipal } from '../../kernel/principals.ts';
import { causedBy } from '../events/journal.ts';
import type { WebhooksContext } from './context.ts';
import { listDeliveries, recover, redeliver, sendTest } from './deliveries.ts';
import * as endpoints from './endpoints.ts';

/** What operators and customers do alike. */
function routesFor(
  app: FastifyInstance,
  ctx: WebhooksContext,
  webhookOperations: typeof operations.webhookEndpoints | typeof operations.embeddedWebhookEndpoints,
  publicUrl: string,
): void {
  const { path } = methodAndPath(webhookOperations.list);
  const isOwn = webhookOperations.list.access === 'scoped';

  /** Owner of the endpoints that the request concerns. */
  function ownerOf(principal: OperatorPrincipal | ScopedPrincipal): endpoints.Owner {
    if (principal.kind === 'operator') return { organizationId: principal.organizationId };
    if (!ctx.customersMay) throw new AppError('webhooks_not_offered');
    return { organizationId: principal.organizationId, workspaceId: principal.workspaceId };
  }

  serve(app, webhookOperations, {
    list: async ({ principal }) => ({ data: await endpoints.listEndpoints(ctx, ownerOf(principal)) }),

    create: async ({ principal, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      return await endpoints.createEndpoint(causedBy(ctx, cause), ownerOf(principal), withoutForeign(body, isOwn));
    },

    get: ({ principal, params }) => endpoints.getEndpoint(ctx, ownerOf(principal), params.webhook_endpoint_id),

    update: async ({ principal, params, body, cause }) =>
      await endpoints.updateEndpoint(
        causedBy(ctx, cause),
        ownerOf(principal),
        params.webhook_endpoint_id,
        withoutForeign(body, isOwn),
      ),

    delete: async ({ principal, params, cause }) => {
      const owner = ownerOf(principal);
      const { id, deletedAt } = await endpoints.deleteEndpoint(causedBy(ctx, cause), owner, params.webhook_endpoint_id);
      return { id, deleted_at: isoTime(deletedAt) };
    },

    rotateSecret: async ({ principal, params, body, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const owner = ownerOf(principal);
      return await endpoints.rotateSecret(causedBy(ctx, cause), owner, params.webhook_endpoint_id, body);
    },

    listDeliveries: async ({ principal, params, query }) => {
      const id = params.webhook_endpoint_id;
      const { data, next } = await listDeliveries(ctx, ownerOf(principal), id, query);
      if (next === undefined) return { data, next: null };
      const given = Object.entries({ ...query, cursor: next }).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      return { data, next: `${publicUrl}${path}/${id}/deliveries?${new URLSearchParams(given)}` };
    },

    recover: async ({ principal, params, body }) =>
      await recover(ctx, ownerOf(principal), params.webhook_endpoint_id, body),

    test: async ({ principal, params }) => await sendTest(ctx, ownerOf(principal), params.webhook_endpoint_id),
  });
}

/** A customer's endpoint has no filter but its own workspace, whatever the request says. */
function withoutForeign<T extends object>(body: T, isOwn: boolean): T {
  if (!isOwn) return body;
  const { workspace_ids: _, tags: __, ...own } = body as T & { workspace_ids?: unknown; tags?: unknown };
  return own as unknown as T;
}

export function webhookRoutes(app: FastifyInstance, ctx: WebhooksContext, publicUrl: string): void {
  routesFor(app, ctx, operations.webhookEndpoints, publicUrl);
  routesFor(app, ctx, operations.embeddedWebhookEndpoints, publicUrl);

  serve(app, operations.events, {
    redeliver: async ({ principal: { organizationId }, params }) =>
      await redeliver(ctx, { organizationId }, params.event_id),
  });

  serve(app, operations.webhookEndpoints, {
    listPublicKeys: async ({ params, reply }) => {
      reply.header('cache-control', 'public, max-age=300');
      return await endpoints.getKeySet(ctx, params.webhook_endpoint_id);
    },
  });
}
