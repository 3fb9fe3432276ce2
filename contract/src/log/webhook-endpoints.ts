/** Schemas for webhook endpoints and their deliveries. */
import { type Static, Type } from 'typebox';
import { Enumeration, Tag, Timestamp, Uuid } from '../fields.ts';

export const webhookSignings = ['hmac', 'ed25519', 'both'] as const;
export type WebhookSigning = (typeof webhookSignings)[number];
export const disabledReasons = ['requested', 'gone', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];
export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const exampleEndpointId = 'c2b8a5f0-3c59-4f0e-9a52-5a9b0f3d7e21';
const exampleEventId = '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';

const TimestampOrNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const Url = Type.String({
  maxLength: 2_048,
  description:
    'URL that receives events by POST. Must be `https`, or `http` if private addresses are allowed, without user name or fragment.',
  examples: ['https://app.example.com/webhooks/inlay'],
});
const Types = Type.Array(
  Type.String({
    maxLength: 100,
    pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$',
    pattern_descriptor: 'source.created, sync.* or *',
    examples: ['sync.*'],
  }),
  {
    minItems: 1,
    maxItems: 100,
    description: 'Event types to send. An asterisk matches the rest of a type. `*` matches every type.',
    examples: [['sync.failed', 'source.*']],
  },
);
const HeaderName = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$";
const Headers = (description: string) =>
  Type.Record(Type.String({ pattern: HeaderName }), Type.String({ maxLength: 4_096 }), {
    maxProperties: 20,
    description,
    examples: [{ authorization: 'Bearer 1a2b3c' }],
  });
const Signing = Enumeration(webhookSignings, {
  description:
    'Signature scheme. `hmac`: shared secret (`v1`). `ed25519`: a private key held by Inlay, verified with its public key (`v1a`). `both`: two signatures.',
});
const Secret = Type.String({
  maxLength: 200,
  description: 'Your own secret: `whsec_` followed by 24 to 64 bytes in base64. Generated if omitted.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

const settings = {
  description: Type.Optional(
    Type.String({
      format: 'name',
      minLength: 1,
      maxLength: 255,
      description: 'Purpose of the endpoint.',
      examples: ['billing'],
    }),
  ),
  types: Type.Optional(Types),
  headers: Type.Optional(
    Headers('Additional request headers, such as an API key of yours. Their values are never returned.'),
  ),
  rate_per_second: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 10_000,
      description: 'Maximum number of requests per second and replica. Null means no limit.',
    }),
  ),
  ordered: Type.Optional(
    Type.Boolean({
      description:
        'Whether to deliver events strictly in order, one at a time. A failing event holds back later ones until it succeeds or is given up after three days.',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'Whether events are sent.' })),
};
const narrowing = {
  workspace_ids: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Uuid('A workspace.', exampleWorkspaceId),
      maxItems: 100,
      description:
        'Sends only events of these workspaces. Null sends events of all workspaces and of the organization.',
    }),
  ),
  tags: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Tag,
      maxItems: 100,
      description:
        'Sends only events about templates with one of these tags, and about sources and connections made from them. Null sends all.',
    }),
  ),
};
const signing = { signing: Type.Optional(Signing), secret: Type.Optional(Secret) };

export const CreateWebhookEndpointRequest = Type.Object(
  { url: Url, ...settings, ...narrowing, ...signing },
  {
    title: 'Create webhook endpoint request',
    examples: [{ url: 'https://app.example.com/webhooks/inlay', types: ['sync.failed', 'source.*'] }],
  },
);
export type CreateWebhookEndpointRequest = Static<typeof CreateWebhookEndpointRequest>;

export const UpdateWebhookEndpointRequest = Type.Object(
  { url: Type.Optional(Url), ...settings, ...narrowing },
  { title: 'Update webhook endpoint request', examples: [{ enabled: true }] },
);
export type UpdateWebhookEndpointRequest = Static<typeof UpdateWebhookEndpointRequest>;

export const CreateOwnWebhookEndpointRequest = Type.Object(
  { url: Url, ...settings, ...signing },
  { title: 'Create own webhook endpoint request', examples: [{ url: 'https://app.example.com/webhooks/inlay' }] },
);
export type CreateOwnWebhookEndpointRequest = Static<typeof CreateOwnWebhookEndpointRequest>;

export const UpdateOwnWebhookEndpointRequest = Type.Object(
  { url: Type.Optional(Url), ...settings },
  { title: 'Update own webhook endpoint request', examples: [{ enabled: true }] },
);
export type UpdateOwnWebhookEndpointRequest = Static<typeof UpdateOwnWebhookEndpointRequest>;

export const WebhookEndpointPath = Type.Object({
  webhook_endpoint_id: Uuid('Identifier of the webhook endpoint.', exampleEndpointId),
});

const WebhookKey = Type.Object(
  {
    scheme: Enumeration(['hmac', 'ed25519'], { description: 'Signature scheme of the key.' }),
    public_key: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Public key for verifying `v1a` signatures. Null for a shared secret.',
      examples: ['whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='],
    }),
    created_at: Timestamp('When the key was created.'),
    expires_at: TimestampOrNull('When the key stops signing after a rotation. Null if it is current.'),
  },
  { title: 'Webhook key' },
);

const endpoint = {
  id: Uuid('Identifier of the webhook endpoint.', exampleEndpointId),
  workspace_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'uuid',
    description: 'The workspace whose customer created the endpoint. Null if an operator did.',
  }),
  url: Type.String({ description: 'URL that receives events.', examples: ['https://app.example.com/webhooks/inlay'] }),
  description: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Purpose of the endpoint.' }),
  types: Type.Array(Type.String(), { description: 'Event types that are sent.', examples: [['sync.*']] }),
  workspace_ids: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Sends only events of these workspaces. Null sends all.',
  }),
  tags: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Sends only events about templates with one of these tags. Null sends all.',
  }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Additional request headers, with masked values.',
    examples: [{ authorization: '**********' }],
  }),
  signing: Signing,
  keys: Type.Array(WebhookKey, {
    description: 'Active keys and secrets, newest first. There are several during a rotation.',
  }),
  rate_per_second: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Maximum number of requests per second.',
  }),
  ordered: Type.Boolean({ description: 'Whether events are delivered strictly in order.' }),
  enabled: Type.Boolean({ description: 'Whether events are sent.' }),
  disabled_reason: Type.Unsafe<DisabledReason | null>({
    type: ['string', 'null'],
    enum: [...disabledReasons, null],
    description:
      'Why the endpoint is disabled. `requested`: by a request. `gone`: it responded with 410. `failing`: it failed for five days. Null while enabled.',
  }),
  disabled_at: TimestampOrNull('When the endpoint was disabled.'),
  failing_since: TimestampOrNull('When the endpoint started failing.'),
  last_delivered_at: TimestampOrNull('When an event was last delivered.'),
  created_at: Timestamp('When the endpoint was created.'),
  updated_at: Timestamp('When the settings were last changed.'),
};

export const WebhookEndpoint = Type.Object(endpoint, { title: 'Webhook endpoint' });
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointList = Type.Object(
  { data: Type.Array(WebhookEndpoint, { description: 'Webhook endpoints, oldest first.' }) },
  { title: 'Webhook endpoint list' },
);

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...endpoint,
    secret: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Secret for verifying `v1` signatures. Returned only once. Null without HMAC.',
      examples: ['whsec_…'],
    }),
  },
  { title: 'Webhook endpoint with secret' },
);
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;

export const DeletedWebhookEndpoint = Type.Object(
  { id: endpoint.id, deleted_at: Timestamp('When the endpoint was deleted.') },
  { title: 'Deleted webhook endpoint' },
);

export const RotateWebhookSecretRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 86_400,
        description: 'How long the old secret or key still signs alongside the new one. 0 stops it immediately.',
      }),
    ),
    secret: Type.Optional(Secret),
  },
  { title: 'Rotate webhook secret request', examples: [{ overlap_seconds: 86_400 }] },
);
export type RotateWebhookSecretRequest = Static<typeof RotateWebhookSecretRequest>;

const attempt = {
  at: Timestamp('When the attempt was made.'),
  status_code: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Status of the response. Null if there was none.',
    examples: [204],
  }),
  duration_ms: Type.Integer({ minimum: 0, description: 'Duration of the attempt.', examples: [38] }),
  response: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The first kilobyte of the response, without secrets.',
  }),
  error: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'What went wrong. Null if delivered.',
    examples: ['The receiver answered with 503.'],
  }),
};
export const WebhookAttempt = Type.Object(attempt, { title: 'Webhook attempt' });
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookTestResult = Type.Object(
  {
    webhook_id: Type.String({ description: 'The `webhook-id` of the test.' }),
    delivered: Type.Boolean({ description: 'Whether the receiver responded with a 2xx status.' }),
    ...attempt,
  },
  { title: 'Webhook test result' },
);
export type WebhookTestResult = Static<typeof WebhookTestResult>;

export const WebhookDelivery = Type.Object(
  {
    webhook_id: Type.String({
      description: 'The `webhook-id` of every attempt, which is the ID of the event.',
      examples: [exampleEventId],
    }),
    event_id: Uuid('The event.', exampleEventId),
    type: Type.String({ description: 'Type of the event.', examples: ['sync.failed'] }),
    position: Type.Integer({ minimum: 1, description: 'Position of the event in the log.' }),
    status: Enumeration(deliveryStatuses, {
      description:
        'State of the delivery. `pending`: another attempt will follow. `failed`: given up, or the endpoint was disabled.',
    }),
    attempts: Type.Integer({ minimum: 0, description: 'Number of attempts since the delivery was last requested.' }),
    next_attempt_at: TimestampOrNull('When the next attempt is due. Null unless pending.'),
    created_at: Timestamp('When the delivery was first sent or requested.'),
    delivered_at: TimestampOrNull('When the receiver confirmed the event.'),
    attempt_list: Type.Array(WebhookAttempt, { description: 'Up to 12 attempts, newest last.' }),
  },
  { title: 'Webhook delivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryPage = Type.Object(
  {
    data: Type.Array(WebhookDelivery),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'URL of the next page. Null on the last page.',
    }),
  },
  { title: 'Webhook delivery page' },
);

export const ListDeliveriesQuery = Type.Object({
  status: Type.Optional(Enumeration(deliveryStatuses, { description: 'Returns only deliveries with this status.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of items per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'list-cursor',
      maxLength: 200,
      description: 'Opaque cursor from the `next` URL of an earlier page.',
    }),
  ),
});
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

export const RecoverRequest = Type.Object(
  {
    since: Type.String({
      format: 'date-time',
      description: 'Includes events that happened at this time or later.',
      examples: ['2026-01-31T09:30:00Z'],
    }),
    until: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Includes events that happened before this time. Defaults to now.',
        examples: ['2026-01-31T10:30:00Z'],
      }),
    ),
    only_failed: Type.Optional(
      Type.Boolean({ default: true, description: 'Includes only events that the receiver has not confirmed.' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Counts events without sending any.' })),
  },
  { title: 'Recover request', examples: [{ since: '2026-01-31T09:30:00Z', dry_run: true }] },
);
export type RecoverRequest = Static<typeof RecoverRequest>;

export const Recovery = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'Number of matching events.' }),
    queued: Type.Integer({ minimum: 0, description: 'Number of events queued for delivery. 0 with `dry_run`.' }),
  },
  { title: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;

export const RedeliverRequest = Type.Object({}, { title: 'Redeliver request', examples: [{}] });

export const Redelivery = Type.Object(
  {
    webhook_id: Type.String({ description: 'The `webhook-id`, unchanged.', examples: [exampleEventId] }),
    webhook_endpoint_ids: Type.Array(Uuid('A webhook endpoint.', exampleEndpointId), {
      description: 'Endpoints that match the event and receive it.',
    }),
  },
  { title: 'Redelivery' },
);
export type Redelivery = Static<typeof Redelivery>;

const WebhookJwk = Type.Object(
  {
    kty: Type.String({ examples: ['OKP'] }),
    crv: Type.String({ examples: ['Ed25519'] }),
    alg: Type.String({ examples: ['EdDSA'] }),
    use: Type.String({ examples: ['sig'] }),
    kid: Type.String({ description: 'Thumbprint of the key (RFC 7638).' }),
    x: Type.String({ description: 'The key in base64url.' }),
  },
  { title: 'Webhook JWK' },
);

export const WebhookKeySet = Type.Object(
  {
    keys: Type.Array(WebhookJwk, { description: 'Public keys, as JSON Web Keys.' }),
    public_keys: Type.Array(Type.String({ examples: ['whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='] }), {
      description: 'The same keys in Standard Webhooks format.',
    }),
  },
  { title: 'Webhook key set' },
);
export type WebhookKeySet = Static<typeof WebhookKeySet>;
