/**
 * How a provider does OAuth: its addresses, and where it differs from the standards. Presets are written in this form
 * (server/src/credentials/presets), and operators describe other providers in it.
 */
import { type Static, Type } from 'typebox';
import { Enumeration } from '../fields.ts';

export const clientAuthentications = ['basic', 'post', 'none', 'private_key_jwt'] as const;
export type ClientAuthentication = (typeof clientAuthentications)[number];

/** An address of the provider; `{name}` stands for a value of the customer, where `values` says what it may be. */
const Address = (description: string, example: string) =>
  Type.String({ maxLength: 2_048, pattern: '^https?://', description, examples: [example] });
const Params = (description: string) =>
  Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_048 }), {
    maxProperties: 50,
    description,
    examples: [{ access_type: 'offline' }],
  });
const Path = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 10, description });

/** Neither a port nor upper case: hosts are compared as text. */
const host = '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$';
const Hosts = (description: string) =>
  Type.Array(Type.String({ maxLength: 255, pattern: host, examples: ['login.example.com'] }), {
    minItems: 1,
    maxItems: 100,
    description,
  });

const Value = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 100, description: 'What the customer is asked for' }),
    hosts: Type.Optional(
      Hosts(
        'The value is one of these hosts, where `*.` stands for one label; without it the value is one label of a host name, such as `acme`',
      ),
    ),
    sets: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), Hosts('One for each of `hosts`, in the same order'), {
        maxProperties: 5,
        description: 'Other values that follow from the choice, such as the host of the API in the same region',
      }),
    ),
    default: Type.Optional(Type.String({ maxLength: 255, description: 'Used where the customer enters nothing' })),
  },
  { title: 'Value in an address' },
);
export type ProviderValue = Static<typeof Value>;

const TakenValue = Type.Object(
  {
    from: Enumeration(['token', 'redirect', 'account'], {
      description: 'Where it is: in the token answer, in the redirect, or in the answer about the account',
    }),
    path: Path('Where in it'),
  },
  { title: 'Taken value' },
);

const Headers = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
  Type.String({ maxLength: 500, pattern: '^[\\x20-\\x7e]*$' }),
  {
    maxProperties: 10,
    description: 'Headers; `{access_token}` stands for the access token',
    examples: [{ 'X-Access-Token': '{access_token}' }],
  },
);

const Account = Type.Object(
  {
    url: Type.Optional(
      Address(
        'Asked with the access token. Without it, or where its answer says nothing, the token answer is read',
        'https://api.example.com/me',
      ),
    ),
    from: Type.Optional(
      Enumeration(['token', 'redirect'], {
        description: 'What is read where there is no address: the token answer, which is the default, or the redirect',
      }),
    ),
    method: Type.Optional(Enumeration(['GET', 'POST'], { description: '`GET` by default' })),
    headers: Type.Optional(Headers),
    body: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_048 }), {
        maxProperties: 10,
        description: 'Sent as JSON with `POST`, such as a query of GraphQL',
      }),
    ),
    introspects: Type.Optional(
      Type.Boolean({ description: 'The address is asked about the access token by the client itself (RFC 7662)' }),
    ),
    newest: Type.Optional(
      Path('Of a list of accounts, the one with the latest time here has signed in; without it, the first one'),
    ),
    id: Path('What never changes: tells one account from another'),
    label: Type.Optional(Path('What a customer knows the account by')),
  },
  { title: 'Account at a provider', description: 'Who has signed in' },
);

const Answer = Type.Object(
  {
    access_token: Type.Optional(Path('Where the access token is, if not at `access_token`')),
    refresh_token: Type.Optional(Path('Where the refresh token is')),
    expires_in: Type.Optional(Path('Where the seconds of its life are')),
    scope: Type.Optional(Path('Where the granted scopes are')),
    scope_separator: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1, description: 'Between granted scopes; as in requests by default' }),
    ),
    error: Type.Optional(Path('Where an error is said, also with status 200')),
  },
  { title: 'Form of a token answer' },
);

const Revocation = Type.Object(
  {
    method: Type.Optional(Enumeration(['POST', 'DELETE'], { description: '`POST` by default' })),
    body: Type.Optional(
      Enumeration(['form', 'json', 'none'], {
        description: '`form` by default. With `none` only the headers say which token is meant',
      }),
    ),
    token: Type.Optional(
      Enumeration(['access_token', 'refresh_token'], {
        description: 'Which token ends both; the refresh token by default, where there is one',
      }),
    ),
    headers: Type.Optional(Headers),
    error: Type.Optional(Path('Where an error is said with status 200')),
  },
  { title: 'Form of a revocation', description: 'Where it differs from RFC 7009' },
);

export const oauthEndpoints = {
  authorization_url: Address('Where the customer signs in', 'https://provider.example.com/oauth/authorize'),
  token_url: Address('Where codes and refresh tokens are exchanged', 'https://provider.example.com/oauth/token'),
  refresh_url: Type.Optional(
    Address('Where refresh tokens are exchanged, if elsewhere', 'https://provider.example.com/refresh'),
  ),
  revocation_url: Type.Optional(
    Address('Where tokens are revoked (RFC 7009)', 'https://provider.example.com/oauth/revoke'),
  ),
};

export const oauthKnobs = {
  issuer: Type.Optional(
    Type.String({
      maxLength: 2_048,
      pattern: '^https?://',
      description: 'What the provider calls itself in redirects (`iss`) and ID tokens',
      examples: ['https://provider.example.com'],
    }),
  ),
  values: Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), Value, {
      maxProperties: 5,
      description: 'What customers enter and addresses need',
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 200, description: 'Always asked for' }),
  ),
  scope_separator: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1, description: 'Between scopes; a blank by default' }),
  ),
  scope_parameter: Type.Optional(
    Type.String({ maxLength: 100, description: 'Its name in the address; `scope` by default' }),
  ),
  adds_up_scopes: Type.Optional(
    Type.Boolean({ description: 'What was granted before stays granted: only what is missing is asked for' }),
  ),
  implied_scopes: Type.Optional(
    Type.Record(Type.String({ maxLength: 500 }), Type.Array(Type.String({ maxLength: 500 }), { maxItems: 100 }), {
      maxProperties: 100,
      description:
        'Scopes that an answer leaves out where it names a wider one, or names otherwise. A `*` at the end of both stands for the same text',
      examples: [{ repo: ['public_repo'], 'write_*': ['read_*'] }],
    }),
  ),
  silent_scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 50,
      description: 'Scopes that answers never name',
      examples: [['offline_access']],
    }),
  ),
  authorization_params: Type.Optional(Params('More parameters of the sign-in address')),
  token_params: Type.Optional(Params('More parameters of every token request')),
  pkce: Type.Optional(Type.Boolean({ description: 'PKCE with S256, which is on by default' })),
  client_authentication: Type.Optional(
    Enumeration(clientAuthentications, { description: 'How the client proves who it is; `post` by default' }),
  ),
  token_body: Type.Optional(
    Enumeration(['form', 'json'], { description: 'How token requests are written; `form` by default' }),
  ),
  assertion: Type.Optional(
    Type.Object(
      {
        subject: Type.Optional(
          Type.String({ maxLength: 500, description: 'For whom the tokens are; the client itself by default' }),
        ),
        audience: Type.Optional(
          Type.String({ maxLength: 2_048, description: 'Who reads it; the token address by default' }),
        ),
      },
      { title: 'Assertion of a client', description: 'What a client signs for the grant `jwt_bearer`' },
    ),
  ),
  answer: Type.Optional(Answer),
  access_token_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: 'The life of an access token where the answer does not say it',
    }),
  ),
  checks_issuer: Type.Optional(
    Type.Boolean({
      description:
        'The provider puts `iss` into every redirect (RFC 9207): a redirect without it is refused. It must be `issuer`; where that is not given, an address of the same origin as `authorization_url`',
    }),
  ),
  taken: Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), TakenValue, {
      maxProperties: 10,
      description: 'Values that a source needs and the provider tells',
    }),
  ),
  account: Type.Optional(Account),
  revocation: Type.Optional(Revocation),
};

export const OAuthProvider = Type.Object(
  { ...oauthEndpoints, ...oauthKnobs },
  { title: 'OAuth provider', additionalProperties: false },
);
export type OAuthProvider = Static<typeof OAuthProvider>;

/** A provider that Inlay knows. */
export const OAuthPreset = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'As the provider writes it' }),
    documentation: Type.Array(Type.String({ pattern: '^https://' }), {
      minItems: 1,
      description: 'The pages of the provider from which this was taken',
    }),
    tried: Type.Boolean({ description: 'Whether somebody has signed in with it' }),
    notes: Type.Optional(Type.String({ description: 'What an operator has to know' })),
    own_suffixes: Type.Optional(
      Type.Array(Type.String({ pattern: host }), {
        description:
          'Public suffixes of which the provider serves every host itself. Only a preset can say so, and only for itself',
      }),
    ),
    ...OAuthProvider.properties,
  },
  { title: 'OAuth preset', additionalProperties: false },
);
export type OAuthPreset = Static<typeof OAuthPreset>;
