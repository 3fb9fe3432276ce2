/** Schemas for OAuth clients, the apps that an operator registered with providers so that customers can sign in. */
import { type Static, Type } from 'typebox';
import { Timestamp, Uuid } from '../fields.ts';
import { OAuthProvider } from './oauth-providers.ts';

const exampleId = '0b8f6f0e-6a1d-4f39-8a57-2f1e0c9d4b63';

const Name = Type.String({
  format: 'name',
  minLength: 1,
  maxLength: 255,
  description: 'Name of the client, for operators.',
  examples: ['HubSpot'],
});
const ClientId = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Client ID that the provider issued to your app.',
  examples: ['5f2b1c0a-app'],
});
const ClientSecret = Type.String({
  minLength: 1,
  maxLength: 8_192,
  description:
    'Client secret that the provider issued to your app or, for `private_key_jwt`, a private key as a JSON Web Key. Stored encrypted and never returned.',
  examples: ['9d0c7e11'],
});
const SecretExpiry = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  description: 'When the provider expires the secret, if it does. Inlay warns you in advance.',
  examples: ['2027-01-31T00:00:00.000Z'],
});
const Preset = Type.String({
  pattern: '^[a-z0-9_]{1,50}$',
  description: 'Key of a built-in provider. See the list of OAuth providers.',
  examples: ['hubspot'],
});
const Issuer = Type.String({
  maxLength: 2_048,
  pattern: '^https?://',
  description: 'Issuer URL of a provider that supports discovery (RFC 8414 or OpenID Connect Discovery).',
  examples: ['https://login.example.com'],
});
const Params = (description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 2_048 }), {
    maxProperties: 50,
    description,
    examples: [{ prompt: 'consent' }],
  });

const DefinitionId = Uuid(
  'A source definition whose specification describes the sign-in. Read once, so send it again after the definition changes.',
  '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
);

const settings = {
  provider: Type.Optional(Preset),
  issuer: Type.Optional(Issuer),
  endpoints: Type.Optional(OAuthProvider),
  definition_id: Type.Optional(DefinitionId),
  authorization_params: Type.Optional(
    Params('Additional parameters of the authorization URL. Override those of the provider.'),
  ),
  token_params: Type.Optional(Params('Additional parameters of token requests. Override those of the provider.')),
};

export const CreateOAuthClientRequest = Type.Object(
  {
    name: Name,
    client_id: ClientId,
    client_secret: Type.Optional(ClientSecret),
    client_secret_expires_at: Type.Optional(SecretExpiry),
    ...settings,
  },
  {
    title: 'Create OAuth client request',
    description: 'Exactly one of `provider`, `issuer`, `endpoints` and `definition_id` identifies the provider.',
    examples: [{ name: 'HubSpot', provider: 'hubspot', client_id: '5f2b1c0a-app', client_secret: '9d0c7e11' }],
  },
);
export type CreateOAuthClientRequest = Static<typeof CreateOAuthClientRequest>;

export const UpdateOAuthClientRequest = Type.Object(
  {
    name: Type.Optional(Name),
    client_id: Type.Optional(ClientId),
    client_secret: Type.Optional(ClientSecret),
    client_secret_expires_at: Type.Optional(SecretExpiry),
    ...settings,
  },
  { title: 'Update OAuth client request', examples: [{ name: 'HubSpot (production)' }] },
);
export type UpdateOAuthClientRequest = Static<typeof UpdateOAuthClientRequest>;

export const RotateOAuthSecretRequest = Type.Object(
  {
    client_secret: ClientSecret,
    client_secret_expires_at: Type.Optional(SecretExpiry),
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 86_400,
        description: 'How long the old secret is still tried when the provider rejects the new one.',
      }),
    ),
  },
  { title: 'Rotate OAuth secret request', examples: [{ client_secret: '1f4d8a20' }] },
);
export type RotateOAuthSecretRequest = Static<typeof RotateOAuthSecretRequest>;

const HeldSecret = Type.Object(
  {
    fingerprint: Type.String({
      description: 'Fingerprint that identifies the secret without revealing it.',
      examples: ['3f9a0c1b7d2e'],
    }),
    created_at: Timestamp('When the secret was added.'),
    used_until: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the secret stops being tried. Null for the current secret.',
    }),
  },
  { title: 'Held secret' },
);

export const OAuthClient = Type.Object(
  {
    id: Uuid('Identifier of the client.', exampleId),
    name: Name,
    redirect_url: Type.String({
      description: 'Redirect URL to register with the provider. Unique to this client.',
      examples: ['https://inlay.example.com/oauth/callback/3vQm8sYk1hT0wq2ZpX7c4A'],
    }),
    provider: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Key of the built-in provider.',
      examples: ['hubspot'],
    }),
    issuer: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Issuer URL, if the client was created with one.',
    }),
    definition_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Source definition that described the provider.',
    }),
    endpoints: OAuthProvider,
    authorization_params: Params('Additional parameters of the authorization URL.'),
    token_params: Params('Additional parameters of token requests.'),
    client_id: ClientId,
    client_secret: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Masked secret. Null if there is none.',
      examples: ['**********'],
    }),
    client_secret_expires_at: SecretExpiry,
    client_secrets: Type.Array(HeldSecret, { description: 'Secrets of the client, the current one first.' }),
    secret_hosts: Type.Array(Type.String(), {
      description:
        'The only hosts that the secret is sent to. An asterisk stands for a value that the customer enters.',
      examples: [['api.hubapi.com']],
    }),
    needs_secret: Type.Boolean({
      description:
        "True if the provider's hosts changed since the secret was entered. Nobody can sign in until you enter the secret again.",
    }),
    created_at: Timestamp('When the client was created.'),
    updated_at: Timestamp('When the client was last changed.'),
  },
  { title: 'OAuth client' },
);
export type OAuthClient = Static<typeof OAuthClient>;

export const OAuthClientList = Type.Object({ data: Type.Array(OAuthClient) }, { title: 'OAuth client list' });
export const OAuthClientPath = Type.Object({ oauth_client_id: Uuid('Identifier of the OAuth client.', exampleId) });
export const DeletedOAuthClient = Type.Object(
  { id: Uuid('Identifier of the client.', exampleId), deleted_at: Timestamp('When the client was deleted.') },
  { title: 'Deleted OAuth client' },
);

export const KnownOAuthProvider = Type.Object(
  {
    key: Preset,
    name: Type.String({ examples: ['HubSpot'] }),
    documentation: Type.Array(Type.String(), { description: "Pages of the provider's documentation." }),
    tried: Type.Boolean({ description: 'Whether a sign-in with this provider has been tested.' }),
    notes: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What to know before you use the provider.',
    }),
    endpoints: OAuthProvider,
  },
  { title: 'Known OAuth provider' },
);
export const KnownOAuthProviderList = Type.Object(
  { data: Type.Array(KnownOAuthProvider) },
  { title: 'Known OAuth provider list' },
);
