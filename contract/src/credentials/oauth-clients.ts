/** What crosses the wire for OAuth clients: what an operator has registered with a provider, so that customers can sign in. */
import { type Static, Type } from 'typebox';
import { Timestamp, Uuid } from '../fields.ts';
import { OAuthProvider } from './oauth-providers.ts';

const exampleId = '0b8f6f0e-6a1d-4f39-8a57-2f1e0c9d4b63';

const Name = Type.String({
  format: 'name',
  minLength: 1,
  maxLength: 255,
  description: 'What operators know it by',
  examples: ['HubSpot'],
});
const ClientId = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'The id that the provider gave to your app',
  examples: ['5f2b1c0a-app'],
});
const ClientSecret = Type.String({
  minLength: 1,
  maxLength: 8_192,
  description:
    'The secret that the provider gave to your app, or for `private_key_jwt` a private key as a JSON Web Key. It is stored encrypted and never shown again',
  examples: ['9d0c7e11'],
});
const SecretExpiry = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  description: 'When the provider ends the secret, if it does; the service warns ahead',
  examples: ['2027-01-31T00:00:00.000Z'],
});
const Preset = Type.String({
  pattern: '^[a-z0-9_]{1,50}$',
  description: 'A provider that the service knows: see the list of OAuth providers',
  examples: ['hubspot'],
});
const Issuer = Type.String({
  maxLength: 2_048,
  pattern: '^https?://',
  description: 'A provider that describes itself (RFC 8414, OpenID Connect Discovery): its issuer',
  examples: ['https://login.example.com'],
});
const Params = (description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 2_048 }), {
    maxProperties: 50,
    description,
    examples: [{ prompt: 'consent' }],
  });

const DefinitionId = Uuid(
  'A source definition whose own specification describes the sign-in. It is read once: name it again after a new version',
  '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
);

const settings = {
  provider: Type.Optional(Preset),
  issuer: Type.Optional(Issuer),
  endpoints: Type.Optional(OAuthProvider),
  definition_id: Type.Optional(DefinitionId),
  authorization_params: Type.Optional(
    Params('More parameters of the sign-in address; they win over those of the provider'),
  ),
  token_params: Type.Optional(Params('More parameters of every token request; they win over those of the provider')),
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
    description: 'Exactly one of `provider`, `issuer`, `endpoints` and `definition_id` says where the provider is.',
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
        description: 'How long the old secret is tried where the provider refuses the new one',
      }),
    ),
  },
  { title: 'Rotate OAuth secret request', examples: [{ client_secret: '1f4d8a20' }] },
);
export type RotateOAuthSecretRequest = Static<typeof RotateOAuthSecretRequest>;

const HeldSecret = Type.Object(
  {
    fingerprint: Type.String({
      description: 'Tells one secret from another without telling it',
      examples: ['3f9a0c1b7d2e'],
    }),
    created_at: Timestamp('When it was given'),
    used_until: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Until when it is tried; null: it is the current one',
    }),
  },
  { title: 'Held secret' },
);

export const OAuthClient = Type.Object(
  {
    id: Uuid('Identifier of the client', exampleId),
    name: Name,
    redirect_url: Type.String({
      description: 'Enter this with the provider as the redirect address of your app; no other client has the same',
      examples: ['https://inlay.example.com/oauth/callback/3vQm8sYk1hT0wq2ZpX7c4A'],
    }),
    provider: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The known provider',
      examples: ['hubspot'],
    }),
    issuer: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The issuer, where it was given' }),
    definition_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The source definition that described it',
    }),
    endpoints: OAuthProvider,
    authorization_params: Params('More parameters of the sign-in address'),
    token_params: Params('More parameters of every token request'),
    client_id: ClientId,
    client_secret: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Masked; null if there is none',
      examples: ['**********'],
    }),
    client_secret_expires_at: SecretExpiry,
    client_secrets: Type.Array(HeldSecret, { description: 'The current one first' }),
    secret_hosts: Type.Array(Type.String(), {
      description: 'The only hosts that get the secret; a star stands for what a customer enters',
      examples: [['api.hubapi.com']],
    }),
    needs_secret: Type.Boolean({
      description:
        'The provider has other hosts than the secret was given for: nobody can sign in until it is given anew',
    }),
    created_at: Timestamp('When it was made'),
    updated_at: Timestamp('When it was changed last'),
  },
  { title: 'OAuth client' },
);
export type OAuthClient = Static<typeof OAuthClient>;

export const OAuthClientList = Type.Object({ data: Type.Array(OAuthClient) }, { title: 'OAuth client list' });
export const OAuthClientPath = Type.Object({ oauth_client_id: Uuid('Identifier of the OAuth client', exampleId) });
export const DeletedOAuthClient = Type.Object(
  { id: Uuid('Identifier of the client', exampleId), deleted_at: Timestamp('When it was deleted') },
  { title: 'Deleted OAuth client' },
);

export const KnownOAuthProvider = Type.Object(
  {
    key: Preset,
    name: Type.String({ examples: ['HubSpot'] }),
    documentation: Type.Array(Type.String(), { description: 'The pages of the provider that say so' }),
    tried: Type.Boolean({ description: 'Whether somebody has signed in with it' }),
    notes: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'What to know before' }),
    endpoints: OAuthProvider,
  },
  { title: 'Known OAuth provider' },
);
export const KnownOAuthProviderList = Type.Object(
  { data: Type.Array(KnownOAuthProvider) },
  { title: 'Known OAuth provider list' },
);
