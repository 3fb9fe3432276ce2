/** What crosses the wire for webhook endpoints: where events are sent, and what became of each. */
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
    'Where events are sent, with POST. `https`; also `http` where private addresses are allowed. Without user name and fragment',
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
    description: 'Types of events to send; a star stands for the rest of a type, `*` for every type',
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
    '`hmac`: a shared secret (`v1`). `ed25519`: a private key that only the service has, receivers verify with the public key (`v1a`). `both`: two signatures',
});
const Secret = Type.String({
  maxLength: 200,
  description: 'A secret of your own: `whsec_` and 24 to 64 bytes in base64. If not given, the service makes one',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

const settings = {
  description: Type.Optional(
    Type.String({ format: 'name', minLength: 1, maxLength: 255, description: 'What it is for', examples: ['billing'] }),
  ),
  types: Type.Optional(Types),
  headers: Type.Optional(
    Headers('Headers that are sent along, such as a token of your own. Their values are never shown again'),
  ),
  rate_per_second: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 10_000,
      description: 'At most so many requests a second, per replica of the service; null: no limit',
    }),
  ),
  ordered: Type.Optional(
    Type.Boolean({
      description:
        'Send events strictly in their order, one at a time. An event that fails then holds back all events after it until it succeeds or is given up after three days',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'Whether events are sent' })),
};
const narrowing = {
  workspace_ids: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Uuid('A workspace', exampleWorkspaceId),
      maxItems: 100,
      description: 'Only events of these workspaces; null: of all, and those of no workspace',
    }),
  ),
  tags: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Tag,
      maxItems: 100,
      description: 'Only events about templates with one of these tags, and about what was made from them; null: all',
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
  webhook_endpoint_id: Uuid('Identifier of the webhook endpoint', exampleEndpointId),
});

const WebhookKey = Type.Object(
  {
    scheme: Enumeration(['hmac', 'ed25519'], { description: 'What it signs with' }),
    public_key: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What receivers verify `v1a` signatures with; null for a secret',
      examples: ['whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='],
    }),
    created_at: Timestamp('When it was made'),
    expires_at: TimestampOrNull('When it stops signing, after a rotation; null: not planned'),
  },
  { title: 'Webhook key' },
);

const endpoint = {
  id: Uuid('Identifier of the webhook endpoint', exampleEndpointId),
  workspace_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'uuid',
    description: 'The workspace whose customer made it; null: an operator made it',
  }),
  url: Type.String({ description: 'Where events are sent', examples: ['https://app.example.com/webhooks/inlay'] }),
  description: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'What it is for' }),
  types: Type.Array(Type.String(), { description: 'Types of events that are sent', examples: [['sync.*']] }),
  workspace_ids: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Only events of these workspaces; null: all',
  }),
  tags: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Only events about templates with one of these tags; null: all',
  }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers that are sent along, with masked values',
    examples: [{ authorization: '**********' }],
  }),
  signing: Signing,
  keys: Type.Array(WebhookKey, {
    description: 'What signs at the moment, the newest first; several during a rotation',
  }),
  rate_per_second: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Requests a second at most' }),
  ordered: Type.Boolean({ description: 'Whether events are sent strictly in their order' }),
  enabled: Type.Boolean({ description: 'Whether events are sent' }),
  disabled_reason: Type.Unsafe<DisabledReason | null>({
    type: ['string', 'null'],
    enum: [...disabledReasons, null],
    description:
      '`requested`: by a request. `gone`: it answered 410. `failing`: it did nothing but fail for five days. null while it is enabled',
  }),
  disabled_at: TimestampOrNull('Since when it is disabled'),
  failing_since: TimestampOrNull('Since when it does nothing but fail'),
  last_delivered_at: TimestampOrNull('When an event was last delivered'),
  created_at: Timestamp('When it was created'),
  updated_at: Timestamp('When its settings were last changed'),
};

export const WebhookEndpoint = Type.Object(endpoint, { title: 'Webhook endpoint' });
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointList = Type.Object(
  { data: Type.Array(WebhookEndpoint, { description: 'All of them, oldest first' }) },
  { title: 'Webhook endpoint list' },
);

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...endpoint,
    secret: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What receivers verify `v1` signatures with. It is shown only once; null without HMAC',
      examples: ['whsec_…'],
    }),
  },
  { title: 'Webhook endpoint with secret' },
);
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;

export const DeletedWebhookEndpoint = Type.Object(
  { id: endpoint.id, deleted_at: Timestamp('When it was deleted') },
  { title: 'Deleted webhook endpoint' },
);

export const RotateWebhookSecretRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 86_400,
        description: 'How long the old secret, or key, still signs beside the new one; 0: it stops at once',
      }),
    ),
    secret: Type.Optional(Secret),
  },
  { title: 'Rotate webhook secret request', examples: [{ overlap_seconds: 86_400 }] },
);
export type RotateWebhookSecretRequest = Static<typeof RotateWebhookSecretRequest>;

const attempt = {
  at: Timestamp('When it was sent'),
  status_code: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'What the receiver answered; null without an answer',
    examples: [204],
  }),
  duration_ms: Type.Integer({ minimum: 0, description: 'How long that took', examples: [38] }),
  response: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The first kilobyte of the answer, without secrets',
  }),
  error: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'What went wrong; null when it was delivered',
    examples: ['The receiver answered with 503.'],
  }),
};
export const WebhookAttempt = Type.Object(attempt, { title: 'Webhook attempt' });
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookTestResult = Type.Object(
  {
    webhook_id: Type.String({ description: 'The `webhook-id` of the test' }),
    delivered: Type.Boolean({ description: 'Whether the receiver answered with a status of 2xx' }),
    ...attempt,
  },
  { title: 'Webhook test result' },
);
export type WebhookTestResult = Static<typeof WebhookTestResult>;

export const WebhookDelivery = Type.Object(
  {
    webhook_id: Type.String({
      description: 'The `webhook-id` of every attempt: the id of the event',
      examples: [exampleEventId],
    }),
    event_id: Uuid('The event', exampleEventId),
    type: Type.String({ description: 'Type of the event', examples: ['sync.failed'] }),
    position: Type.Integer({ minimum: 1, description: 'Position of the event in the log' }),
    status: Enumeration(deliveryStatuses, {
      description: '`pending`: it is tried again. `failed`: it was given up, or the endpoint was disabled',
    }),
    attempts: Type.Integer({ minimum: 0, description: 'How often it was sent since it was last asked for' }),
    next_attempt_at: TimestampOrNull('When it is sent again; null unless it is pending'),
    created_at: Timestamp('When it was first sent, or asked for'),
    delivered_at: TimestampOrNull('When the receiver confirmed it'),
    attempt_list: Type.Array(WebhookAttempt, { description: 'The last attempts, at most 12, the newest last' }),
  },
  { title: 'Webhook delivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryPage = Type.Object(
  {
    data: Type.Array(WebhookDelivery),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Full URL of the next page; null on the last page',
    }),
  },
  { title: 'Webhook delivery page' },
);

export const ListDeliveriesQuery = Type.Object({
  status: Type.Optional(Enumeration(deliveryStatuses, { description: 'Only those with this status' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })),
  cursor: Type.Optional(
    Type.String({
      format: 'list-cursor',
      maxLength: 200,
      description: 'Opaque; taken from the `next` of an earlier page, never built',
    }),
  ),
});
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

export const RecoverRequest = Type.Object(
  {
    since: Type.String({
      format: 'date-time',
      description: 'Events that happened at this time or later',
      examples: ['2026-01-31T09:30:00Z'],
    }),
    until: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Events that happened before this time; until now if not given',
        examples: ['2026-01-31T10:30:00Z'],
      }),
    ),
    only_failed: Type.Optional(
      Type.Boolean({ default: true, description: 'Only events that the receiver has not confirmed' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only count' })),
  },
  { title: 'Recover request', examples: [{ since: '2026-01-31T09:30:00Z', dry_run: true }] },
);
export type RecoverRequest = Static<typeof RecoverRequest>;

export const Recovery = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'How many events there are to send' }),
    queued: Type.Integer({ minimum: 0, description: 'How many of them are sent now; 0 with `dry_run`' }),
  },
  { title: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;

export const RedeliverRequest = Type.Object({}, { title: 'Redeliver request', examples: [{}] });

export const Redelivery = Type.Object(
  {
    webhook_id: Type.String({ description: 'The `webhook-id`, the same as before', examples: [exampleEventId] }),
    webhook_endpoint_ids: Type.Array(Uuid('A webhook endpoint', exampleEndpointId), {
      description: 'The endpoints that the event matches; it is sent to each of them',
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
    kid: Type.String({ description: 'Thumbprint of the key (RFC 7638)' }),
    x: Type.String({ description: 'The key in base64url' }),
  },
  { title: 'Webhook JWK' },
);

export const WebhookKeySet = Type.Object(
  {
    keys: Type.Array(WebhookJwk, { description: 'As JSON Web Keys' }),
    public_keys: Type.Array(Type.String({ examples: ['whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='] }), {
      description: 'The same keys as Standard Webhooks writes them',
    }),
  },
  { title: 'Webhook key set' },
);
export type WebhookKeySet = Static<typeof WebhookKeySet>;
