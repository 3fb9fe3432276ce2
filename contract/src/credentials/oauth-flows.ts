/** Schemas for a customer's sign-in with a provider. */
import { type Static, Type } from 'typebox';
import { signInFailureCodes } from '../embedding.ts';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { CustomerLabel } from '../tenancy/tokens.ts';

/** What a customer has entered in a source's form so far. */
export const EnteredSource = Type.Object(
  {
    name: Type.Optional(
      Type.String({ maxLength: 255, description: 'Name of the source.', examples: ['Our contacts'] }),
    ),
    source_config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Configuration of the connector, which may be incomplete.',
        examples: [{ region: 'eu' }],
      }),
    ),
  },
  { title: 'Entered source' },
);
export type EnteredSource = Static<typeof EnteredSource>;

const exampleId = 'c2b7f0b1-0f4e-4f0e-9d0a-5d1b6c7e8f90';

export const flowStates = ['created', 'started', 'exchanging', 'unconfirmed', 'connected', 'failed'] as const;
export type FlowState = (typeof flowStates)[number];

/**
 * Sign-in failures of the widget protocol except `cancelled`, because cancelling in the widget does not end the flow.
 */
export const flowFailures = signInFailureCodes.filter((code) => code !== 'cancelled');
export type FlowFailure = (typeof flowFailures)[number];

export const StartSignInRequest = Type.Object(
  {
    source_template_id: Uuid('Template of the source to connect.', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    source_id: Type.Optional(Uuid('Existing source to reconnect.', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7')),
    values: Type.Optional(
      Type.Record(Type.String({ maxLength: 50 }), Type.String({ maxLength: 255 }), {
        maxProperties: 5,
        description: "Values for placeholders in the provider's URLs.",
        examples: [{ subdomain: 'acme' }],
      }),
    ),
    frame_proof: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'Proof that the widget page was loaded in a frame.' }),
    ),
    return_to: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description:
          "Where the browser returns after a sign-in without a popup. Must be on the template's list and on the token's origin.",
      }),
    ),
    entered: Type.Optional(
      Type.Unsafe<EnteredSource>({
        ...EnteredSource,
        description:
          'What the customer has entered so far, returned with the sign-in so that a reloaded page can restore its form. Secrets are never stored, nor is anything beyond 32 kB.',
      }),
    ),
    offer_later: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'For pages that cannot remember the sign-in: lists the result at `GET /api/v1/embedded/credentials` until a source uses it. Implied by `return_to`.',
      }),
    ),
  },
  {
    title: 'Start sign-in request',
    examples: [{ source_template_id: '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11' }],
  },
);
export type StartSignInRequest = Static<typeof StartSignInRequest>;

export const SignIn = Type.Object(
  {
    id: Uuid('Identifier of the sign-in.', exampleId),
    state: Enumeration(flowStates, {
      description:
        'State of the sign-in. `created`: the start URL has not been opened. `started`: the customer is at the provider. `exchanging`: the customer is back. `unconfirmed`: a different account signed in and awaits confirmation. `connected` and `failed` are final.',
    }),
    source_template_id: StartSignInRequest.properties.source_template_id,
    source_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Source that is being reconnected. Null for a new source.',
    }),
    used_by: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Source that uses the credential. Null if none does yet.',
    }),
    values: Type.Record(Type.String(), Type.String(), {
      description: "Values used for placeholders in the provider's URLs.",
      examples: [{ subdomain: 'acme' }],
    }),
    entered: Type.Unsafe<EnteredSource | null>({
      anyOf: [EnteredSource, { type: 'null' }],
      description: 'What the customer had entered when the sign-in started, without secrets.',
    }),
    start_url: Type.Optional(
      Type.String({
        description: 'URL for the customer to open in a new window. Returned only once, when the sign-in is created.',
        examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
      }),
    ),
    credential_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Credential to create or update the source with. Present once connected.',
    }),
    account: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Account that signed in.',
      examples: ['ada@example.com'],
    }),
    previous_account: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Account that signed in before, if a source is being reconnected.',
      examples: ['bob@example.com'],
    }),
    missing_scopes: Type.Array(Type.String(), { description: 'Required scopes that were not granted.' }),
    failure: Type.Unsafe<FlowFailure | null>({
      type: ['string', 'null'],
      enum: [...flowFailures, null],
      description: 'Why the sign-in failed. `other_account` while it is `unconfirmed`.',
    }),
    message: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What the customer can do, in English.',
    }),
    expires_at: Timestamp('When the sign-in expires.'),
  },
  { title: 'Sign-in' },
);
export type SignIn = Static<typeof SignIn>;

export const CreateSignInLinkRequest = Type.Object(
  {
    workspace_id: Uuid('Workspace of the customer.', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
    source_template_id: Type.Optional(
      Uuid('Template of a new source to connect.', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    ),
    source_id: Type.Optional(
      Uuid('Existing source to reconnect, instead of a template.', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'),
    ),
    values: StartSignInRequest.properties.values,
    customer_label: Type.Optional(CustomerLabel),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 2_592_000,
        default: 604_800,
        description: 'How long the link works. Defaults to one week.',
        examples: [86_400],
      }),
    ),
  },
  {
    title: 'Create sign-in link request',
    examples: [
      {
        workspace_id: '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11',
        source_id: '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7',
        customer_label: 'Acme Inc.',
      },
    ],
  },
);
export type CreateSignInLinkRequest = Static<typeof CreateSignInLinkRequest>;

export const SignInLink = Type.Object(
  {
    id: Uuid('Identifier of the sign-in.', exampleId),
    url: Type.String({
      description: 'URL to send to the customer. Returned only once.',
      examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
    }),
    expires_at: Timestamp('When the link expires. Works for one successful sign-in.'),
  },
  { title: 'Sign-in link' },
);
export type SignInLink = Static<typeof SignInLink>;

export const SignInPath = Type.Object({ flow_id: Uuid('Identifier of the sign-in.', exampleId) });

export const SignInQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      default: 0,
      description: 'Maximum number of seconds to wait for a change of state.',
      examples: [20],
    }),
  ),
  known: Type.Optional(
    Enumeration(flowStates, {
      description: 'Last state the caller has seen. Returns immediately if the state differs.',
    }),
  ),
});
export type SignInQuery = Static<typeof SignInQuery>;
