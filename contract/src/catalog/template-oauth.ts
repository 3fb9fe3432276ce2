/** Schemas for customer sign-in on source templates, and for what customers see of it. */
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
    oauth_client_id: Uuid('An OAuth client of the organization.', exampleClientId),
    grant: Type.Optional(
      Enumeration(credentialGrants, {
        default: 'authorization_code',
        description:
          'OAuth grant. With `authorization_code`, the customer signs in. With the other grants nobody signs in, and the template must set every address field.',
      }),
    ),
    scopes: Type.Optional(Scopes('Scopes that every customer must grant, in addition to those of the client.')),
    optional_scopes: Type.Optional(Scopes('Scopes that are requested but that a customer may decline.')),
    fields: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), Path, {
        maxProperties: 30,
        description:
          "Configuration fields that receive the values of the sign-in: `access_token` and, if the connector needs them, `refresh_token`, `client_id`, `client_secret`, `expires_at` and values of the provider. Defaults to the connector's own specification.",
        examples: [{ access_token: ['credentials', 'access_token'] }],
      }),
    ),
    may_paste: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether customers may enter the fields by hand instead of signing in.',
      }),
    ),
    hand_over: Type.Optional(
      Enumeration(handOvers, {
        default: 'access_token',
        description:
          'What the connector receives. `access_token`: a short-lived access token, refreshed by Inlay. `refresh_token`: the refresh token and client secret, for connectors that refresh tokens themselves. Only one process of such a connector runs at a time, and the template must set every address field.',
      }),
    ),
    return_to: Type.Optional(
      Type.Array(Type.String({ maxLength: 2_048, pattern: '^https?://' }), {
        maxItems: 20,
        description: 'URLs of your product to which the browser may return after a sign-in without a popup.',
        examples: [['https://app.example.com/integrations']],
      }),
    ),
  },
  {
    title: 'Template OAuth',
    description: 'Customers sign in with the provider instead of entering keys.',
    additionalProperties: false,
  },
);
export type TemplateOAuth = Static<typeof TemplateOAuth>;

/** The customer's view. */
export const OfferedOAuth = Type.Object(
  {
    provider: Type.String({ description: 'Name of the provider, as the provider writes it.', examples: ['HubSpot'] }),
    scopes: Scopes('Requested scopes.'),
    may_paste: Type.Boolean({ description: 'Whether the fields can be entered by hand instead.' }),
    covers: Type.Array(Path, { description: 'Configuration fields that the sign-in fills.' }),
    values: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['subdomain'] }),
        title: Type.String({ examples: ['Subdomain'] }),
        hosts: Type.Union([Type.Array(Type.String()), Type.Null()], {
          description: 'Permitted hosts, where `*.` stands for one label that the customer enters.',
        }),
        default: Type.Union([Type.String(), Type.Null()]),
      }),
      { description: 'Values that the customer enters before signing in.' },
    ),
    user_config_spec: Type.Union([ConnectorSpecification, Type.Null()], {
      description:
        'What the customer still has to enter after the sign-in, if the fields can also be entered by hand. Null if that makes no difference.',
    }),
    return_to: Type.Array(Type.String(), {
      description: 'URLs to which the browser may return after a sign-in without a popup.',
      examples: [['https://app.example.com/integrations']],
    }),
  },
  { title: 'Offered OAuth' },
);
export type OfferedOAuth = Static<typeof OfferedOAuth>;
