/** Operations on webhook endpoints: for operators, and for customers about their own workspace where the operator allows it. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../error-catalogue.ts';
import {
  CreateOwnWebhookEndpointRequest,
  CreateWebhookEndpointRequest,
  DeletedWebhookEndpoint,
  ListDeliveriesQuery,
  RecoverRequest,
  Recovery,
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
} from '../log/webhook-endpoints.ts';
import type { Operation, OperationPath } from './operation.ts';

const tag = 'Webhooks';

const forOperators = {
  access: 'operator',
  path: '/api/v1/webhook-endpoints',
  own: '',
  create: CreateWebhookEndpointRequest,
  update: UpdateWebhookEndpointRequest,
  refusals: [],
} as const;

const forCustomers = {
  access: 'scoped',
  path: '/api/v1/embedded/webhook-endpoints',
  own: 'own ',
  create: CreateOwnWebhookEndpointRequest,
  update: UpdateOwnWebhookEndpointRequest,
  refusals: ['webhooks_not_offered'],
} as const;

function webhookEndpointsFor<
  A extends Operation['access'],
  P extends OperationPath,
  Create extends TSchema,
  Update extends TSchema,
>(audience: { access: A; path: P; own: string; create: Create; update: Update; refusals: readonly ErrorCode[] }) {
  const { access, path, own, refusals } = audience;
  const collection = { access, tag } as const;
  const about = { access, tag, params: WebhookEndpointPath } as const;
  const errors = ['webhook_endpoint_not_found', ...refusals] as const;
  return {
    list: {
      ...collection,
      route: `GET ${path}`,
      summary: `List ${own}webhook endpoints`,
      description: 'Returns the webhook endpoints, oldest first. Secrets are not included.',
      answer: WebhookEndpointList,
      errors: refusals,
    },
    create: {
      ...collection,
      route: `POST ${path}`,
      summary: `Create ${own}webhook endpoint`,
      description:
        'Creates a webhook endpoint, which receives all future events of its types, signed according to Standard Webhooks 1.0. The secret is returned only once.',
      body: audience.create,
      status: 201,
      isAdministration: true,
      answer: WebhookEndpointWithSecret,
      errors: ['webhook_endpoint_limit', ...refusals],
    },
    get: {
      ...about,
      route: `GET ${path}/{webhook_endpoint_id}`,
      summary: `Get ${own}webhook endpoint`,
      answer: WebhookEndpoint,
      errors,
    },
    update: {
      ...about,
      route: `PATCH ${path}/{webhook_endpoint_id}`,
      summary: `Update ${own}webhook endpoint`,
      description:
        'Updates the given fields. `headers` replaces all headers, and masked values keep the stored ones. A re-enabled endpoint receives only new events. Recover the missed ones separately.',
      body: audience.update,
      isAdministration: true,
      answer: WebhookEndpoint,
      errors,
    },
    delete: {
      ...about,
      route: `DELETE ${path}/{webhook_endpoint_id}`,
      summary: `Delete ${own}webhook endpoint`,
      description: 'Deletes the webhook endpoint. Pending deliveries are dropped.',
      // The endpoint may be the one that archives audit checkpoints.
      isAdministration: true,
      answer: DeletedWebhookEndpoint,
      errors,
    },
    rotateSecret: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/rotate-secret`,
      summary: `Rotate secret of ${own}webhook endpoint`,
      description:
        'Creates a new secret or key. During the overlap, webhooks carry an old and a new signature, so that receivers can switch at any time.',
      body: RotateWebhookSecretRequest,
      isAdministration: true,
      answer: WebhookEndpointWithSecret,
      errors,
    },
    listDeliveries: {
      ...about,
      route: `GET ${path}/{webhook_endpoint_id}/deliveries`,
      paging: 'cursor',
      summary: `List deliveries of ${own}webhook endpoint`,
      description:
        "Returns each delivery with the receiver's responses, newest first. Follow `next` until it is null. Deliveries are kept for a limited time (`INLAY_WEBHOOK_HISTORY_DAYS`).",
      query: ListDeliveriesQuery,
      answer: WebhookDeliveryPage,
      errors,
    },
    recover: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/recover`,
      summary: `Recover events for ${own}webhook endpoint`,
      description:
        'Sends past events again with their original `webhook-id`: those that the receiver has not confirmed, for example while the endpoint was disabled, or all of them. With `dry_run`, events are only counted.',
      body: RecoverRequest,
      answer: Recovery,
      errors: [...errors, 'webhook_endpoint_disabled'],
    },
    test: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/test`,
      summary: `Test ${own}webhook endpoint`,
      description:
        "Sends a `webhook_endpoint.test` event immediately, even if the endpoint is disabled, and returns the receiver's response.",
      answer: WebhookTestResult,
      errors,
    },
  } as const;
}

export const embeddedWebhookEndpoints = webhookEndpointsFor(forCustomers);

export const webhookEndpoints = {
  ...webhookEndpointsFor(forOperators),
  listPublicKeys: {
    route: 'GET /.well-known/inlay/webhook-keys/{webhook_endpoint_id}',
    access: 'public',
    tag,
    summary: 'Get public keys of webhook endpoint',
    description:
      'Returns the public keys for verifying `v1a` signatures, newest first. Empty if the endpoint signs only with a shared secret.',
    params: WebhookEndpointPath,
    answer: WebhookKeySet,
    errors: ['webhook_endpoint_not_found'],
  },
} as const satisfies Record<string, Operation>;
