/** What crosses the wire while a customer signs in with a provider. */
import { type Static, Type } from 'typebox';
import { signInFailureCodes } from '../embedding.ts';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { CustomerLabel } from '../tenancy/tokens.ts';

/** What a customer has entered in the form of a source so far. */
export const EnteredSource = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 255, description: 'Name of the source', examples: ['Our contacts'] })),
    source_config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Configuration of the connector, complete or not',
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

/** What the widget tells its page, without `cancelled`: a customer who cancels in the widget ends no sign-in. */
export const flowFailures = signInFailureCodes.filter((code) => code !== 'cancelled');
export type FlowFailure = (typeof flowFailures)[number];

export const StartSignInRequest = Type.Object(
  {
    source_template_id: Uuid('Template of the source that is to be connected', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    source_id: Type.Optional(Uuid('To connect an existing source again', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7')),
    values: Type.Optional(
      Type.Record(Type.String({ maxLength: 50 }), Type.String({ maxLength: 255 }), {
        maxProperties: 5,
        description: "What the provider's addresses need",
        examples: [{ subdomain: 'acme' }],
      }),
    ),
    frame_proof: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'What the page of the widget holds if it was loaded into a frame' }),
    ),
    return_to: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description:
          'Where the browser goes afterwards, without a popup; on the list of the template, and of the origin of the token',
      }),
    ),
    entered: Type.Optional(
      Type.Unsafe<EnteredSource>({
        ...EnteredSource,
        description:
          'Comes back with the sign-in, so that a page that was reloaded can fill in its form again. Secrets are never stored, nor is anything beyond 32 kB',
      }),
    ),
    offer_later: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'For a page that cannot remember the sign-in. Once connected, it is listed at `GET /api/v1/embedded/credentials` until a source uses it. Always so with `return_to`',
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
    id: Uuid('Identifier of the sign-in', exampleId),
    state: Enumeration(flowStates, {
      description:
        '`created`: the start address was not opened yet. `started`: the customer is with the provider. `exchanging`: the customer is back. `unconfirmed`: another account than before signed in, and nothing is used until this is confirmed. `connected` and `failed` are final',
    }),
    source_template_id: StartSignInRequest.properties.source_template_id,
    source_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The source that is connected again; null for a new source',
    }),
    used_by: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The source that uses the credential; null if the sign-in still has to be used',
    }),
    values: Type.Record(Type.String(), Type.String(), {
      description: "What the provider's addresses were completed with",
      examples: [{ subdomain: 'acme' }],
    }),
    entered: Type.Unsafe<EnteredSource | null>({
      anyOf: [EnteredSource, { type: 'null' }],
      description: 'What the customer had entered when the sign-in began, without secrets',
    }),
    start_url: Type.Optional(
      Type.String({
        description: 'To be opened by the customer, in a window of its own. Told once, when the sign-in is made',
        examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
      }),
    ),
    credential_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Once it is connected: to make the source with, or to update the source with',
    }),
    account: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Who signed in',
      examples: ['ada@example.com'],
    }),
    previous_account: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Who had signed in before, where the source is connected again',
      examples: ['bob@example.com'],
    }),
    missing_scopes: Type.Array(Type.String(), { description: 'What is needed and was not granted' }),
    failure: Type.Unsafe<FlowFailure | null>({
      type: ['string', 'null'],
      enum: [...flowFailures, null],
      description: 'Why it failed; `other_account` while it is `unconfirmed`',
    }),
    message: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'What the customer can do, in English',
    }),
    expires_at: Timestamp('Until then it has to be finished'),
  },
  { title: 'Sign-in' },
);
export type SignIn = Static<typeof SignIn>;

export const CreateSignInLinkRequest = Type.Object(
  {
    workspace_id: Uuid('Workspace of the customer', '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11'),
    source_template_id: Type.Optional(
      Uuid('To connect a new source of this template', '3a1d9f6c-0f0b-4b7e-a9a7-6f8f3f0f2b11'),
    ),
    source_id: Type.Optional(
      Uuid('To connect this source again, instead of a template', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'),
    ),
    values: StartSignInRequest.properties.values,
    customer_label: Type.Optional(CustomerLabel),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 2_592_000,
        default: 604_800,
        description: 'How long the link works; a week if not given',
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
    id: Uuid('Identifier of the sign-in', exampleId),
    url: Type.String({
      description: 'To be sent to the customer. Told once',
      examples: ['https://inlay.example.com/oauth/start/5Zc0n2b8'],
    }),
    expires_at: Timestamp('Until then it works, until it has connected once'),
  },
  { title: 'Sign-in link' },
);
export type SignInLink = Static<typeof SignInLink>;

export const SignInPath = Type.Object({ flow_id: Uuid('Identifier of the sign-in', exampleId) });

export const SignInQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      default: 0,
      description: 'How many seconds to wait for another state',
      examples: [20],
    }),
  ),
  known: Type.Optional(
    Enumeration(flowStates, {
      description: 'The state that the caller knows. The answer comes at once if the state is another one by now',
    }),
  ),
});
export type SignInQuery = Static<typeof SignInQuery>;
