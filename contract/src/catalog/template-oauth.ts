/** How customers sign in to a source instead of entering keys: the part of a source template, and what customers see of it. */
import { type Static, Type } from 'typebox';
import { credentialGrants } from '../credentials/credentials.ts';
import { Enumeration, Uuid } from '../fields.ts';
import { ConnectorSpecification } from './definitions.ts';

const exampleClientId = '0b8f6f0e-6a1d-4f39-8a57-2f1e0c9d4b63';

const Scopes = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
    maxItems: 200,
    description,
    examples: [['contacts.read']],
  });
const Path = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 10 });

export const handOvers = ['access_token', 'refresh_token'] as const;

export const TemplateOAuth = Type.Object(
  {
    oauth_client_id: Uuid('An OAuth client of the organization', exampleClientId),
    grant: Type.Optional(
      Enumeration(credentialGrants, {
        default: 'authorization_code',
        description:
          '`authorization_code`: the customer signs in. The others are grants of your own: nobody signs in, and the template has to fix every address',
      }),
    ),
    scopes: Type.Optional(Scopes('What every customer has to grant, beside what the client always asks for')),
    optional_scopes: Type.Optional(Scopes('Asked for as well; a customer may leave them out')),
    fields: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), Path, {
        maxProperties: 30,
        description:
          "Where in the connector's configuration each value goes: `access_token`, and where the connector asks for them `refresh_token`, `client_id`, `client_secret`, `expires_at` and the values of the provider. Without it, the connector's own specification says it",
        examples: [{ access_token: ['credentials', 'access_token'] }],
      }),
    ),
    may_paste: Type.Optional(
      Type.Boolean({ default: false, description: 'Customers may also enter the fields that a sign-in covers' }),
    ),
    hand_over: Type.Optional(
      Enumeration(handOvers, {
        default: 'access_token',
        description:
          '`access_token`: the connector gets an access token only, and a fresh one in time. `refresh_token`: for a connector that refreshes by itself; it gets the refresh token and the secret of the client, and only one of its processes runs at a time. The template has to fix every address then',
      }),
    ),
    return_to: Type.Optional(
      Type.Array(Type.String({ maxLength: 2_048, pattern: '^https?://' }), {
        maxItems: 20,
        description: 'Addresses of your product where the browser may go after a sign-in that had no popup',
        examples: [['https://app.example.com/integrations']],
      }),
    ),
  },
  {
    title: 'Template OAuth',
    description: 'Customers sign in with the provider instead of entering keys',
    additionalProperties: false,
  },
);
export type TemplateOAuth = Static<typeof TemplateOAuth>;

/** What a customer is told. */
export const OfferedOAuth = Type.Object(
  {
    provider: Type.String({ description: 'As the provider writes its name', examples: ['HubSpot'] }),
    scopes: Scopes('What is asked for'),
    may_paste: Type.Boolean({ description: 'The fields can be entered instead' }),
    covers: Type.Array(Path, { description: 'The fields of the configuration that the sign-in fills' }),
    values: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['subdomain'] }),
        title: Type.String({ examples: ['Subdomain'] }),
        hosts: Type.Union([Type.Array(Type.String()), Type.Null()], {
          description: 'It is one of these, where `*.` stands for one label that the customer enters',
        }),
        default: Type.Union([Type.String(), Type.Null()]),
      }),
      { description: 'What the customer enters before the sign-in' },
    ),
    user_config_spec: Type.Union([ConnectorSpecification, Type.Null()], {
      description:
        'What is left to enter after the sign-in, where the fields can also be entered instead; null: what is asked for anyway',
    }),
    return_to: Type.Array(Type.String(), {
      description: 'Where the browser may go after a sign-in without a popup',
      examples: [['https://app.example.com/integrations']],
    }),
  },
  { title: 'Offered OAuth' },
);
export type OfferedOAuth = Static<typeof OfferedOAuth>;
