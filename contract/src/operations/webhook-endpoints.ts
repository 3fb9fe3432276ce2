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
      description: 'Where events are sent, oldest first. Secrets are not shown.',
      answer: WebhookEndpointList,
      errors: refusals,
    },
    create: {
      ...collection,
      route: `POST ${path}`,
      summary: `Create ${own}webhook endpoint`,
      description:
        'Events that happen from now on are sent there, signed as Standard Webhooks 1.0 says. The secret is shown only once.',
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
        'Changes what is given. `headers` replaces all headers; a masked value keeps the one that is stored. An endpoint that is enabled again gets what happens from then on; use recover for what it has missed.',
      body: audience.update,
      isAdministration: true,
      answer: WebhookEndpoint,
      errors,
    },
    delete: {
      ...about,
      route: `DELETE ${path}/{webhook_endpoint_id}`,
      summary: `Delete ${own}webhook endpoint`,
      description: 'What still waits is not sent any more.',
      // It may be the endpoint that keeps checkpoints of the audit trail.
      isAdministration: true,
      answer: DeletedWebhookEndpoint,
      errors,
    },
    rotateSecret: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/rotate-secret`,
      summary: `Rotate secret of ${own}webhook endpoint`,
      description:
        'Makes a new secret, or key. During the overlap webhooks have a signature of the old and one of the new, so no receiver has to change at that very moment.',
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
        'What became of each event, with the answers of the receiver, newest first. Follow `next` until it is null. Kept for some days (`INLAY_WEBHOOK_HISTORY_DAYS`).',
      query: ListDeliveriesQuery,
      answer: WebhookDeliveryPage,
      errors,
    },
    recover: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/recover`,
      summary: `Recover events for ${own}webhook endpoint`,
      description:
        'Sends events of the past, each under its old `webhook-id`: those that the receiver has not confirmed, also because the endpoint was disabled, or all. With `dry_run` it only counts.',
      body: RecoverRequest,
      answer: Recovery,
      errors: [...errors, 'webhook_endpoint_disabled'],
    },
    test: {
      ...about,
      route: `POST ${path}/{webhook_endpoint_id}/test`,
      summary: `Test ${own}webhook endpoint`,
      description:
        'Sends an event of the type `webhook_endpoint.test` now, also to an endpoint that is disabled, and tells what the receiver answered.',
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
      'The keys with which receivers verify `v1a` signatures, the newest first; none for an endpoint that signs with a secret alone.',
    params: WebhookEndpointPath,
    answer: WebhookKeySet,
    errors: ['webhook_endpoint_not_found'],
  },
} as const satisfies Record<string, Operation>;
