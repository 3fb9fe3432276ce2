/** Schemas for credentials: the tokens that a provider issued for a workspace. No schema contains a token. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { NullableReason } from '../reasons.ts';

const exampleId = '6e0f3a5d-94a8-4d6c-8c41-7a3c1f1d2b90';

export const credentialGrants = ['authorization_code', 'client_credentials', 'jwt_bearer'] as const;
export type CredentialGrant = (typeof credentialGrants)[number];
export const credentialOwners = ['service', 'platform'] as const;
export type CredentialOwner = (typeof credentialOwners)[number];
/** `ended`: deleted or replaced by another credential. */
export const credentialStates = ['connected', 'needs_attention', 'ended'] as const;
export type CredentialState = (typeof credentialStates)[number];
/**
 * `revoked`: the provider ended the grant. `uncertain`: a refresh token may be spent because the response was lost.
 * `expired`: the access token expired and there is no refresh token. `client_refused`: the provider rejects the client,
 * which the operator has to fix. `refused`: the provider refuses to refresh with a non-standard error.
 * `scopes_missing`: the provider no longer grants a scope that the template requires.
 */
export const credentialReasons = [
  'revoked',
  'uncertain',
  'expired',
  'client_refused',
  'refused',
  'scopes_missing',
] as const;
export type CredentialReason = (typeof credentialReasons)[number];
/** Whether the credential was revoked at the provider. `kept`: another credential shares the grant. */
export const credentialRevocations = ['due', 'done', 'kept', 'impossible', 'failed'] as const;
export type CredentialRevocation = (typeof credentialRevocations)[number];

const nullable = <T extends string>(description: string, more: object = {}) =>
  Type.Unsafe<T | null>({ type: ['string', 'null'], description, ...more });

export const Credential = Type.Object(
  {
    id: Uuid('Identifier of the credential.', exampleId),
    workspace_id: Uuid('Workspace of the credential.', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
    oauth_client_id: Uuid('OAuth client that the credential was granted to.', '0b8f6f0e-6a1d-4f39-8a57-2f1e0c9d4b63'),
    grant: Enumeration(credentialGrants, { description: 'OAuth grant that produced the tokens.' }),
    owner: Enumeration(credentialOwners, {
      description: 'Who refreshes the tokens: this service, or the hosted platform that received them.',
    }),
    state: Enumeration(credentialStates, {
      description:
        'State of the credential. `needs_attention` is explained in `reason`. `ended` credentials were deleted and are no longer used.',
    }),
    reason: nullable<CredentialReason>('Why the credential needs attention.', { enum: [...credentialReasons, null] }),
    last_error: nullable<string>('Last error from the provider or the network.', { examples: ['invalid_grant'] }),
    account: nullable<string>('Account that signed in, such as an email address.', { examples: ['ada@example.com'] }),
    scopes: Type.Array(Type.String(), { description: 'Granted scopes.' }),
    has_refresh_token: Type.Boolean({ description: 'Whether the tokens can be refreshed without the customer.' }),
    access_token_expires_at: nullable<string>('When the access token expires.', { format: 'date-time' }),
    revocation: nullable<CredentialRevocation>('Whether the credential was revoked at the provider after it ended.', {
      enum: [...credentialRevocations, null],
    }),
    source_ids: Type.Array(Uuid('A source.', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'), {
      description: 'Sources that use the credential.',
    }),
    created_at: Timestamp('When the customer first signed in.'),
    updated_at: Timestamp('When the credential last changed.'),
    signed_in_at: Timestamp('When the customer last signed in.'),
  },
  { title: 'Credential' },
);
export type Credential = Static<typeof Credential>;

export const CredentialList = Type.Object({ data: Type.Array(Credential) }, { title: 'Credential list' });

export const ListCredentialsQuery = Type.Object({
  workspace_id: Type.Optional(
    Uuid('Returns only credentials of this workspace.', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: 'Maximum number of credentials to return, newest first.',
    }),
  ),
});

/** The customer's view, without anything from the operator's side. */
export const OwnCredential = Type.Object(
  {
    id: Credential.properties.id,
    state: Credential.properties.state,
    attention_by: nullable<'operator' | 'customer'>('Who has to act. Null if nobody does.', {
      enum: ['operator', 'customer', null],
    }),
    message: nullable<string>('Message to show to the customer.', {
      examples: ['Your sign-in has expired or was revoked. Sign in again.'],
    }),
    reason: NullableReason('The message as a code and parameters.'),
    account: Credential.properties.account,
    scopes: Credential.properties.scopes,
    signed_in_at: Credential.properties.signed_in_at,
  },
  { title: 'Own credential' },
);
export type OwnCredential = Static<typeof OwnCredential>;

export const OwnCredentialList = Type.Object({ data: Type.Array(OwnCredential) }, { title: 'Own credential list' });

export const ListOwnCredentialsQuery = Type.Object({
  source_template_id: Type.Optional(
    Uuid('Returns only credentials for this template.', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
  ),
});

export const CredentialPath = Type.Object({ credential_id: Uuid('Identifier of the credential.', exampleId) });
