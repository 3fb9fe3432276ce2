/**
 * Schemas for operator, scoped and widget tokens. Field names with a space are the specification's own.
 */
import { type Static, Type } from 'typebox';
import { templateFilterFields } from '../catalog/template-filters.ts';
import { Enumeration, operatorPermissions, RegionId, Timestamp, Uuid, WorkspaceName } from '../fields.ts';
import { WidgetLocale, WidgetTheme } from '../widget-theme.ts';

const ExpiresInSeconds = Type.Integer({
  minimum: 1,
  maximum: 3_153_600_000,
  description:
    'Lifetime of the token, at most `INLAY_SCOPED_TOKEN_TTL_SECONDS`. Defaults to that maximum or, without one, to no expiry.',
  examples: [3_600],
});

export const ScopedTokenRequest = Type.Object(
  {
    workspace_name: WorkspaceName,
    region_id: Type.Optional(RegionId),
    expires_in_seconds: Type.Optional(ExpiresInSeconds),
  },
  { title: 'Scoped token request', examples: [{ workspace_name: 'acme-inc' }] },
);
export type ScopedTokenRequest = Static<typeof ScopedTokenRequest>;

export const CustomerLabel = Type.String({
  format: 'name',
  minLength: 1,
  maxLength: 100,
  description:
    'Name of your customer. Shown to customers for confirmation before they sign in with a provider, so that nobody connects an account for somebody else.',
  examples: ['Acme Inc.'],
});

export const WidgetTokenRequest = Type.Object(
  {
    workspace_name: WorkspaceName,
    allowed_origin: Type.String({
      format: 'web-origin',
      description: 'Origin of the page that embeds the widget: scheme, host and any non-default port.',
      examples: ['https://app.example.com', 'http://localhost:3000'],
    }),
    region_id: Type.Optional(RegionId),
    ...templateFilterFields,
    theme: Type.Optional(WidgetTheme),
    locale: Type.Optional(WidgetLocale),
    customer_label: Type.Optional(CustomerLabel),
    expires_in_seconds: Type.Optional(ExpiresInSeconds),
  },
  {
    title: 'Widget token request',
    examples: [
      {
        workspace_name: 'acme-inc',
        allowed_origin: 'https://app.example.com',
        selected_source_template_tags: ['crm'],
        selected_source_template_tags_mode: 'any',
      },
    ],
  },
);
export type WidgetTokenRequest = Static<typeof WidgetTokenRequest>;

export const TokenResponse = Type.Object(
  {
    token: Type.String({
      description:
        'A scoped token (a JWT), or a widget token: base64 of a JSON object with `token` (a scoped token) and `widgetUrl`.',
      examples: ['eyJhbGciOiJFZERTQSIs…'],
    }),
  },
  { title: 'Token response' },
);
export type TokenResponse = Static<typeof TokenResponse>;

export const ScopedTokenInfo = Type.Object(
  {
    organization_id: Uuid('Organization of the token.', '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20'),
    'workspace ID': Uuid(
      'Workspace of the token. The field name contains a space.',
      '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11',
    ),
  },
  { title: 'Scoped token info' },
);
export type ScopedTokenInfo = Static<typeof ScopedTokenInfo>;

export const RevokeTokenRequest = Type.Object(
  {
    token: Type.String({
      description: 'A scoped or widget token, as issued.',
      examples: ['eyJhbGciOiJFZERTQSIs…'],
    }),
  },
  { title: 'Revoke token request' },
);
export type RevokeTokenRequest = Static<typeof RevokeTokenRequest>;

export const RevokeTokenResponse = Type.Object(
  {
    revoked: Type.Boolean({
      description: 'Whether the token was revoked. False if it does not belong to this organization.',
      examples: [true],
    }),
  },
  { title: 'Revoke token response' },
);
export type RevokeTokenResponse = Static<typeof RevokeTokenResponse>;

const TimestampOrNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const permissionWords =
  'What the token may do. `full`: everything. `operator`: everything except manage operator tokens, OAuth clients, webhook secrets and workers. `read`: GET requests only.';

export const OperatorToken = Type.Object(
  {
    id: Uuid('Identifier of the operator token.', '5b0e8f3a-98a1-4d8e-8d4e-3c2c5f1d7a55'),
    name: Type.String({ description: 'Purpose of the token.', examples: ['production backend'] }),
    permission: Enumeration(operatorPermissions, {
      description: permissionWords,
      examples: ['full'],
    }),
    created_at: Timestamp('When the token was created.'),
    expires_at: TimestampOrNull('When the token expires. Null if it does not.'),
    last_used_at: TimestampOrNull('Last use, to the minute. Null if unused.'),
    revoked_at: TimestampOrNull('When the token was revoked or will be. Null if it is not revoked.'),
  },
  { title: 'Operator token' },
);
export type OperatorToken = Static<typeof OperatorToken>;

export const OperatorTokenList = Type.Object(
  { data: Type.Array(OperatorToken, { description: 'Operator tokens of the organization, oldest first.' }) },
  { title: 'Operator token list' },
);
export type OperatorTokenList = Static<typeof OperatorTokenList>;

export const OperatorTokenWithSecret = Type.Object(
  {
    ...OperatorToken.properties,
    token: Type.String({ description: 'The secret. Returned only once.', examples: ['inlay_op_…'] }),
  },
  { title: 'Operator token with secret' },
);
export type OperatorTokenWithSecret = Static<typeof OperatorTokenWithSecret>;

const OperatorTokenName = Type.String({
  format: 'name',
  minLength: 1,
  maxLength: 255,
  description: 'Purpose of the token.',
  examples: ['production backend'],
});

export const CreateOperatorTokenRequest = Type.Object(
  {
    name: OperatorTokenName,
    permission: Type.Optional(Enumeration(operatorPermissions, { default: 'full', description: permissionWords })),
    expires_at: Type.Optional(Timestamp('When the token expires. Never by default.')),
  },
  { title: 'Create operator token request', examples: [{ name: 'production backend', permission: 'full' }] },
);
export type CreateOperatorTokenRequest = Static<typeof CreateOperatorTokenRequest>;

export const RotateOperatorTokenRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 0,
        description: 'How long the old token keeps working alongside the new one. 0 revokes it immediately.',
        examples: [86_400],
      }),
    ),
    expires_at: Type.Optional(Timestamp('When the new token expires. Defaults to the expiry of the old token.')),
  },
  { title: 'Rotate operator token request' },
);
export type RotateOperatorTokenRequest = Static<typeof RotateOperatorTokenRequest>;

export const OperatorTokenPath = Type.Object({
  operator_token_id: Uuid('Identifier of the operator token.', '5b0e8f3a-98a1-4d8e-8d4e-3c2c5f1d7a55'),
});
export type OperatorTokenPath = Static<typeof OperatorTokenPath>;

/** The JSON object inside a widget token. */
export const WidgetTokenEnvelope = Type.Object({ token: Type.String(), widgetUrl: Type.String() });
export type WidgetTokenEnvelope = Static<typeof WidgetTokenEnvelope>;
