/** What crosses the wire when an operator tries out how customers sign in. */
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
    source_template_id: Uuid('The source template, as it is saved', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
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
    id: Uuid('Identifier of the test', exampleId),
    start_url: Type.String({
      description: 'To be opened within ten minutes, by the person who signs in. Told once',
      examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
    }),
  },
  { title: 'Started OAuth test' },
);
export type StartedOAuthTest = Static<typeof StartedOAuthTest>;

export const OAuthTestReport = Type.Object(
  {
    account: nullable<string>('string', 'Who signed in, where the provider tells', { examples: ['ada@example.com'] }),
    can_tell_accounts: Type.Boolean({
      description: 'Whether another account would be noticed when a customer signs in again',
    }),
    scopes_asked: Scopes('What was asked for'),
    scopes_granted: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'What was granted; null: the provider does not say it, so it is as asked',
      examples: [['contacts.read']],
    }),
    scopes_missing: Scopes('What was asked for and not granted'),
    expires_in_seconds: nullable<number>('integer', 'The life of the access token, where the provider tells it', {
      examples: [1800],
    }),
    has_refresh_token: Type.Boolean({
      description: 'False: customers have to sign in again when the access token ends',
    }),
    values: Type.Array(Type.String(), { description: 'The names of the values that the provider told' }),
  },
  { title: 'OAuth test report' },
);
export type OAuthTestReport = Static<typeof OAuthTestReport>;

export const OAuthTest = Type.Object(
  {
    id: Uuid('Identifier of the test', exampleId),
    state: Enumeration(['open', 'succeeded', 'failed'], {
      description: '`open`: nobody has signed in yet. The others are final',
    }),
    report: Type.Union([OAuthTestReport, Type.Null()], { description: 'What came back, once it has succeeded' }),
    failure: Type.Unsafe<FlowFailure | null>({
      type: ['string', 'null'],
      enum: [...flowFailures, null],
      description: 'Why it failed',
    }),
    message: nullable<string>('string', 'The same in words, with what the provider said'),
    revocation: Type.Unsafe<CredentialRevocation | null>({
      type: ['string', 'null'],
      enum: [...credentialRevocations, null],
      description:
        'Whether the provider was told that the tokens have ended; null: there are none, or nobody has signed in yet',
    }),
  },
  { title: 'OAuth test' },
);
export type OAuthTest = Static<typeof OAuthTest>;

export const OAuthTestPath = Type.Object({ oauth_test_id: Uuid('Identifier of the test', exampleId) });
