/** Schemas for testing a customer sign-in as an operator. */
import { type Static, Type } from 'typebox';
import { Enumeration, Uuid } from '../fields.ts';
import { type CredentialRevocation, credentialRevocations } from './credentials.ts';
import { type FlowFailure, flowFailures, StartSignInRequest } from './oauth-flows.ts';

const exampleId = 'c2b7f0b1-0f4e-4f0e-9d0a-5d1b6c7e8f90';
const nullable = <T>(type: string, description: string, options: object = {}) =>
  Type.Unsafe<T | null>({ type: [type, 'null'], description, ...options });
const Scopes = (description: string) => Type.Array(Type.String(), { description, examples: [['contacts.read']] });

export const StartOAuthTestRequest = Type.Object(
  {
    source_template_id: Uuid('The source template, as saved.', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    values: StartSignInRequest.properties.values,
  },
  {
    title: 'Start OAuth test request',
    examples: [{ source_template_id: '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11' }],
  },
);
export type StartOAuthTestRequest = Static<typeof StartOAuthTestRequest>;

export const StartedOAuthTest = Type.Object(
  {
    id: Uuid('Identifier of the test.', exampleId),
    start_url: Type.String({
      description: 'URL to open within ten minutes, by the person who signs in. Returned only once.',
      examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
    }),
  },
  { title: 'Started OAuth test' },
);
export type StartedOAuthTest = Static<typeof StartedOAuthTest>;

export const OAuthTestReport = Type.Object(
  {
    account: nullable<string>('string', 'Account that signed in, if the provider reports it.', {
      examples: ['ada@example.com'],
    }),
    can_tell_accounts: Type.Boolean({
      description: 'Whether a different account would be detected when a customer signs in again.',
    }),
    scopes_asked: Scopes('Requested scopes.'),
    scopes_granted: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Granted scopes. Null if the provider does not report them, which means as requested.',
      examples: [['contacts.read']],
    }),
    scopes_missing: Scopes('Requested scopes that were not granted.'),
    expires_in_seconds: nullable<number>('integer', 'Lifetime of the access token, if the provider reports it.', {
      examples: [1800],
    }),
    has_refresh_token: Type.Boolean({
      description:
        'Whether there is a refresh token. If false, customers must sign in again when the access token expires.',
    }),
    values: Type.Array(Type.String(), { description: 'Names of the values that the provider returned.' }),
  },
  { title: 'OAuth test report' },
);
export type OAuthTestReport = Static<typeof OAuthTestReport>;

export const OAuthTest = Type.Object(
  {
    id: Uuid('Identifier of the test.', exampleId),
    state: Enumeration(['open', 'succeeded', 'failed'], {
      description: 'State of the test. `open` until somebody signs in. The other states are final.',
    }),
    report: Type.Union([OAuthTestReport, Type.Null()], {
      description: 'What the provider returned. Present after success.',
    }),
    failure: Type.Unsafe<FlowFailure | null>({
      type: ['string', 'null'],
      enum: [...flowFailures, null],
      description: 'Why the test failed.',
    }),
    message: nullable<string>('string', "Why the test failed, in words, including the provider's message."),
    revocation: Type.Unsafe<CredentialRevocation | null>({
      type: ['string', 'null'],
      enum: [...credentialRevocations, null],
      description:
        'Whether the tokens were revoked at the provider. Null if there are none, or if nobody has signed in yet.',
    }),
    revocation_error: nullable<string>('string', 'Why the last attempt to revoke the tokens failed, if it did.'),
  },
  { title: 'OAuth test' },
);
export type OAuthTest = Static<typeof OAuthTest>;

export const OAuthTestPath = Type.Object({ oauth_test_id: Uuid('Identifier of the test.', exampleId) });
