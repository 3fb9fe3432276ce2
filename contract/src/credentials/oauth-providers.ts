/**
 * Describes a provider's OAuth endpoints and its deviations from the standards. Presets use this format
 * (server/src/credentials/presets), and operators describe other providers in it.
 */
import { type Static, Type } from 'typebox';
import { Enumeration } from '../fields.ts';

export const clientAuthentications = ['basic', 'post', 'none', 'private_key_jwt'] as const;
export type ClientAuthentication = (typeof clientAuthentications)[number];

/** A URL of the provider. `{name}` is a placeholder for a customer's value, restricted by `values`. */
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

/** No port and no upper case, because hosts are compared as text. */
const host = '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$';
const Hosts = (description: string) =>
  Type.Array(Type.String({ maxLength: 255, pattern: host, examples: ['login.example.com'] }), {
    minItems: 1,
    maxItems: 100,
    description,
  });

const Value = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 100, description: "Label of the value in the customer's form." }),
    hosts: Type.Optional(
      Hosts(
        'Permitted hosts, where `*.` stands for one label. If absent, the value is a single label of a host name, such as `acme`.',
      ),
    ),
    sets: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[a-z_]{1,50}$' }),
        Hosts('One host for each entry of `hosts`, in the same order.'),
        {
          maxProperties: 5,
          description: 'Other values implied by the choice, such as the API host of the same region.',
        },
      ),
    ),
    default: Type.Optional(Type.String({ maxLength: 255, description: 'Value used if the customer enters nothing.' })),
  },
  { title: 'Value in an address' },
);
export type ProviderValue = Static<typeof Value>;

const TakenValue = Type.Object(
  {
    from: Enumeration(['token', 'redirect', 'account'], {
      description: 'Where the value comes from: the token response, the redirect, or the account response.',
    }),
    path: Path('Path to the value.'),
  },
  { title: 'Taken value' },
);

const Headers = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
  Type.String({ maxLength: 500, pattern: '^[\\x20-\\x7e]*$' }),
  {
    maxProperties: 10,
    description: 'Request headers. `{access_token}` is replaced by the access token.',
    examples: [{ 'X-Access-Token': '{access_token}' }],
  },
);

const Account = Type.Object(
  {
    url: Type.Optional(
      Address(
        'URL to request with the access token. If absent, or if the response lacks the account, the token response is used.',
        'https://api.example.com/me',
      ),
    ),
    from: Type.Optional(
      Enumeration(['token', 'redirect'], {
        description: 'Where to read the account if there is no URL: the token response (default) or the redirect.',
      }),
    ),
    method: Type.Optional(Enumeration(['GET', 'POST'], { description: 'Defaults to `GET`.' })),
    headers: Type.Optional(Headers),
    body: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_048 }), {
        maxProperties: 10,
        description: 'JSON body of a `POST` request, such as a GraphQL query.',
      }),
    ),
    introspects: Type.Optional(
      Type.Boolean({
        description:
          "Whether the URL is a token introspection endpoint (RFC 7662), called with the client's own credentials.",
      }),
    ),
    newest: Type.Optional(
      Path(
        'Path to a timestamp in a list of accounts. The account with the latest one signed in. If absent, the first account is used.',
      ),
    ),
    id: Path("Path to the account's permanent identifier."),
    label: Type.Optional(Path('Path to a name that the customer recognizes.')),
  },
  { title: 'Account at a provider', description: 'How to identify the account that signed in.' },
);

const Answer = Type.Object(
  {
    access_token: Type.Optional(Path('Path to the access token. Defaults to `access_token`.')),
    refresh_token: Type.Optional(Path('Path to the refresh token.')),
    expires_in: Type.Optional(Path('Path to the lifetime in seconds.')),
    scope: Type.Optional(Path('Path to the granted scopes.')),
    scope_separator: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1,
        description: 'Separator of granted scopes. Defaults to that of requests.',
      }),
    ),
    error: Type.Optional(Path('Path to an error, which may come with status 200.')),
  },
  { title: 'Form of a token answer' },
);

const Revocation = Type.Object(
  {
    method: Type.Optional(Enumeration(['POST', 'DELETE'], { description: 'Defaults to `POST`.' })),
    body: Type.Optional(
      Enumeration(['form', 'json', 'none'], {
        description: 'Format of the request. Defaults to `form`. With `none`, only the headers identify the token.',
      }),
    ),
    token: Type.Optional(
      Enumeration(['access_token', 'refresh_token'], {
        description: 'Token whose revocation ends both. Defaults to the refresh token if there is one.',
      }),
    ),
    headers: Type.Optional(Headers),
    error: Type.Optional(Path('Path to an error that comes with status 200.')),
  },
  { title: 'Form of a revocation', description: 'Differences from RFC 7009.' },
);

export const oauthEndpoints = {
  authorization_url: Address(
    'Authorization endpoint, where the customer signs in.',
    'https://provider.example.com/oauth/authorize',
  ),
  token_url: Address('Token endpoint.', 'https://provider.example.com/oauth/token'),
  refresh_url: Type.Optional(
    Address('Token endpoint for refreshes, if different.', 'https://provider.example.com/refresh'),
  ),
  revocation_url: Type.Optional(
    Address('Revocation endpoint (RFC 7009).', 'https://provider.example.com/oauth/revoke'),
  ),
};

export const oauthKnobs = {
  issuer: Type.Optional(
    Type.String({
      maxLength: 2_048,
      pattern: '^https?://',
      description: 'Issuer in redirects (`iss`) and ID tokens.',
      examples: ['https://provider.example.com'],
    }),
  ),
  values: Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), Value, {
      maxProperties: 5,
      description: "Values that customers enter and that the provider's URLs need.",
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      maxItems: 200,
      description: 'Scopes that are always requested.',
    }),
  ),
  scope_separator: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1, description: 'Separator of scopes. Defaults to a space.' }),
  ),
  scope_parameter: Type.Optional(
    Type.String({ maxLength: 100, description: 'Name of the scope parameter. Defaults to `scope`.' }),
  ),
  adds_up_scopes: Type.Optional(
    Type.Boolean({ description: 'Whether earlier grants persist, so that only missing scopes are requested.' }),
  ),
  implied_scopes: Type.Optional(
    Type.Record(Type.String({ maxLength: 500 }), Type.Array(Type.String({ maxLength: 500 }), { maxItems: 100 }), {
      maxProperties: 100,
      description:
        'Scopes that responses omit because a wider scope implies them, or that they report under another name. A trailing `*` on both sides stands for the same text.',
      examples: [{ repo: ['public_repo'], 'write_*': ['read_*'] }],
    }),
  ),
  silent_scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 50,
      description: 'Scopes that responses never report.',
      examples: [['offline_access']],
    }),
  ),
  authorization_params: Type.Optional(Params('Additional parameters of the authorization URL.')),
  token_params: Type.Optional(Params('Additional parameters of token requests.')),
  pkce: Type.Optional(Type.Boolean({ description: 'Whether to use PKCE with S256. On by default.' })),
  client_authentication: Type.Optional(
    Enumeration(clientAuthentications, { description: 'How the client authenticates. Defaults to `post`.' }),
  ),
  token_body: Type.Optional(
    Enumeration(['form', 'json'], { description: 'Encoding of token requests. Defaults to `form`.' }),
  ),
  assertion: Type.Optional(
    Type.Object(
      {
        subject: Type.Optional(
          Type.String({ maxLength: 500, description: 'Subject of the assertion. Defaults to the client.' }),
        ),
        audience: Type.Optional(
          Type.String({ maxLength: 2_048, description: 'Audience of the assertion. Defaults to the token endpoint.' }),
        ),
      },
      {
        title: 'Assertion of a client',
        description: 'The assertion that the client signs for the `jwt_bearer` grant.',
      },
    ),
  ),
  answer: Type.Optional(Answer),
  access_token_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: 'Lifetime of access tokens if the response omits it.',
    }),
  ),
  checks_issuer: Type.Optional(
    Type.Boolean({
      description:
        'Whether the provider sends `iss` in every redirect (RFC 9207). Redirects without it are rejected. The value must equal `issuer` or, if that is absent, have the origin of `authorization_url`.',
    }),
  ),
  taken: Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z_]{1,50}$' }), TakenValue, {
      maxProperties: 10,
      description: 'Values that the provider returns and a source needs.',
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
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Name of the provider, as the provider writes it.',
    }),
    documentation: Type.Array(Type.String({ pattern: '^https://' }), {
      minItems: 1,
      description: 'Documentation pages that the settings are based on.',
    }),
    tried: Type.Boolean({ description: 'Whether a sign-in with this provider has been tested.' }),
    notes: Type.Optional(Type.String({ description: 'What an operator needs to know.' })),
    own_suffixes: Type.Optional(
      Type.Array(Type.String({ pattern: host }), {
        description: 'Public suffixes whose hosts all belong to the provider. Only a preset can declare them.',
      }),
    ),
    ...OAuthProvider.properties,
  },
  { title: 'OAuth preset', additionalProperties: false },
);
export type OAuthPreset = Static<typeof OAuthPreset>;
