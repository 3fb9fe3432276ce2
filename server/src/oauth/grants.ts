/**
 * What a client asks of its provider: the address where a customer signs in, tokens for a code or a refresh token, tokens
 * for the client itself, and the end of a token.
 *
 * What always holds: an answer is one of four, and the caller can rely on which. `tokens` and `refused` are words of the
 * provider about this very request. After `not_sent` the provider knows nothing of the request. After `unknown` the provider
 * may have done it, so a code or a rotating refresh token may be spent. Errors hold no secret, code or token.
 */
import type { webcrypto } from 'node:crypto';
import type { OAuthProvider } from '@inlay/contract/oauth-providers';
import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { fillAddress } from './addresses.ts';
import type { ProviderNetwork } from './context.ts';
import { conform } from './token-answers.ts';

export interface GrantClient {
  clientId: string;
  /** The one that is used first; the others while a rotation lasts. */
  secrets: readonly string[];
  provider: OAuthProvider;
  /** Known where the provider describes itself. */
  issuer: string | null;
  authorizationParams: Record<string, string>;
  tokenParams: Record<string, string>;
  /** As checkValues gives them. */
  values: Record<string, string>;
}

export interface Tokens {
  kind: 'tokens';
  accessToken: string;
  /** Undefined: the provider gave none, so the old one stays. */
  refreshToken: string | undefined;
  /** Undefined: the provider does not say it. */
  expiresInSeconds: number | undefined;
  /** Undefined: as asked. */
  scopes: string[] | undefined;
  /** All that the provider said, for values and the account that are taken from it. */
  answer: Record<string, unknown>;
}

export type Grant =
  | Tokens
  | { kind: 'refused'; code: string; description: string | undefined }
  | { kind: 'not_sent'; reason: string }
  /** `answered`: the provider said that it failed. Otherwise its answer was lost. */
  | { kind: 'unknown'; reason: string; answered: boolean };

/** A redirect that does not belong to the flow, or that says that the customer did not sign in. */
export class CallbackRefused extends Error {
  /** `access_denied` and others of RFC 6749, or `invalid_callback`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface SignIn {
  redirectUrl: string;
  state: string;
  scopes: readonly string[];
  /** Undefined where the provider refuses PKCE. */
  verifier: string | undefined;
  /** What an ID token has to repeat; undefined where none is asked for. */
  nonce?: string | undefined;
}

export const usesPkce = ({ pkce = true }: Pick<OAuthProvider, 'pkce'>) => pkce;
export const newVerifier = () => oauth.generateRandomCodeVerifier();

/** Where the customer signs in. */
export async function signInAddress(client: GrantClient, signIn: SignIn): Promise<string> {
  const { provider } = client;
  const url = new URL(fillAddress(provider.authorization_url, client.values));
  const set = (params: Record<string, string>) => {
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  };
  set({ ...provider.authorization_params, ...client.authorizationParams });
  if (signIn.scopes.length > 0) {
    set({ [provider.scope_parameter ?? 'scope']: signIn.scopes.join(provider.scope_separator ?? ' ') });
  }
  // These last: nobody's parameters replace what protects the flow.
  set({ response_type: 'code', client_id: client.clientId, redirect_uri: signIn.redirectUrl, state: signIn.state });
  if (signIn.verifier !== undefined) {
    const code_challenge = await oauth.calculatePKCECodeChallenge(signIn.verifier);
    set({ code_challenge, code_challenge_method: 'S256' });
  }
  if (signIn.nonce !== undefined) set({ nonce: signIn.nonce });
  return url.href;
}

/** Throws a CallbackRefused before anything is sent. */
export async function exchangeCode(
  network: ProviderNetwork,
  client: GrantClient,
  callback: URLSearchParams,
  signIn: Omit<SignIn, 'scopes'>,
): Promise<Grant> {
  const server = serverOf(client);
  const params = readCallback(server, client, callback, signIn.state);
  return await ask(client, async (authentication) => {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      { client_id: client.clientId },
      authentication,
      params,
      signIn.redirectUrl,
      signIn.verifier ?? oauth.nopkce,
      optionsFor(network, client),
    );
    const expected = signIn.nonce === undefined ? {} : { expectedNonce: signIn.nonce };
    return await oauth.processAuthorizationCodeResponse(server, { client_id: client.clientId }, response, expected);
  });
}

export async function refreshTokens(
  network: ProviderNetwork,
  client: GrantClient,
  refreshToken: string,
): Promise<Grant> {
  const server = serverOf(client, 'refresh_url');
  return await ask(client, async (authentication) => {
    const self = { client_id: client.clientId };
    const options = optionsFor(network, client);
    const response = await oauth.refreshTokenGrantRequest(server, self, authentication, refreshToken, options);
    return await oauth.processRefreshTokenResponse(server, self, response);
  });
}

/** Tokens of the operator's own: no customer signs in. */
export async function clientCredentials(
  network: ProviderNetwork,
  client: GrantClient,
  scopes: readonly string[],
): Promise<Grant> {
  const server = serverOf(client);
  const { scope_separator = ' ' } = client.provider;
  const params = scopes.length === 0 ? {} : { scope: scopes.join(scope_separator) };
  return await ask(client, async (authentication) => {
    const self = { client_id: client.clientId };
    const asked = { ...client.provider.token_params, ...client.tokenParams, ...params };
    const options = optionsFor(network, client, {});
    const response = await oauth.clientCredentialsGrantRequest(server, self, authentication, asked, options);
    return await oauth.processClientCredentialsResponse(server, self, response);
  });
}

const signatures = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Whether the provider has ended a token (RFC 7009). `refused` may be mended by the operator; `again` passes by itself. */
export type Revoked = { kind: 'done' } | { kind: 'refused' | 'again'; reason: string };

export async function revokeToken(
  network: ProviderNetwork,
  client: GrantClient,
  { token, hint }: { token: string; hint: 'refresh_token' | 'access_token' },
): Promise<Revoked> {
  const { provider, values, clientId } = client;
  const revocation_endpoint = fillAddress(provider.revocation_url ?? '', values);
  const server = { issuer: new URL(revocation_endpoint).origin, revocation_endpoint };
  let status = 0;
  const options = {
    additionalParameters: { token_type_hint: hint },
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (url: string, request: { method: string; headers: object; body?: unknown }) => {
      const headers = { ...request.headers } as Record<string, string>;
      const answer = await network.request(url, { method: request.method, headers, body: String(request.body ?? '') });
      status = answer.status;
      return new Response(null, { status: 200 });
    },
  };
  for (const secret of client.secrets.length === 0 ? [''] : client.secrets) {
    try {
      await oauth.revocationRequest(
        server,
        { client_id: clientId },
        await authenticationOf(provider, secret),
        token,
        options,
      );
    } catch {
      // What the network says may name addresses; that it did not work is enough.
      return { kind: 'again', reason: 'The provider cannot be reached.' };
    }
    if (status >= 200 && status < 300) return { kind: 'done' };
    if (status === 429 || status >= 500) return { kind: 'again', reason: `The provider answered with ${status}.` };
  }
  return { kind: 'refused', reason: `The provider answered with ${status}.` };
}

/**
 * The same with a token that the client itself signs (RFC 7523). Its private key is what it would authenticate with, and
 * proves who it is.
 */
export async function jwtBearer(
  network: ProviderNetwork,
  client: GrantClient,
  scopes: readonly string[],
  now: number,
): Promise<Grant> {
  const server = serverOf(client);
  const { scope_separator = ' ', assertion = {} } = client.provider;
  const scope = scopes.join(scope_separator);
  return await ask(
    { ...client, provider: { ...client.provider, client_authentication: 'none' } },
    async (none, secret) => {
      const self = { client_id: client.clientId };
      const seconds = Math.floor(now / 1000);
      const signed = await signWith(secret, {
        iss: client.clientId,
        sub: assertion.subject ?? client.clientId,
        aud: assertion.audience ?? fillAddress(client.provider.token_url, client.values),
        iat: seconds,
        exp: seconds + 300,
        jti: oauth.generateRandomState(),
        ...(scope !== '' && { scope }),
      });
      const response = await oauth.genericTokenEndpointRequest(
        server,
        self,
        none,
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        { ...tokenParamsOf(client), assertion: signed, ...(scope !== '' && { scope }) },
        optionsFor(network, client, {}),
      );
      return await oauth.processGenericTokenEndpointResponse(server, self, response);
    },
  );
}

async function signWith(secret: string, claims: JWTPayload): Promise<string> {
  const jwk: JWK = JSON.parse(secret);
  const header = { alg: jwk.alg ?? usualAlgorithm(jwk), typ: 'JWT', ...(jwk.kid !== undefined && { kid: jwk.kid }) };
  return await new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(jwk, header.alg));
}

function usualAlgorithm({ kty, crv }: JWK): string {
  if (kty === 'RSA') return 'RS256';
  return kty === 'OKP' ? 'EdDSA' : `ES${crv?.slice(2) === '521' ? '512' : (crv?.slice(2) ?? '256')}`;
}

function serverOf(client: GrantClient, tokens: 'token_url' | 'refresh_url' = 'token_url'): oauth.AuthorizationServer {
  const { provider, values, issuer } = client;
  const token_endpoint = fillAddress(provider[tokens] ?? provider.token_url, values);
  return {
    // Only compared where the provider has said which it is.
    issuer: issuer ?? new URL(token_endpoint).origin,
    token_endpoint,
    authorization_response_iss_parameter_supported: provider.checks_issuer === true,
    // The answer comes from the provider itself over TLS, so any signature of an ID token will do.
    id_token_signing_alg_values_supported: signatures,
  };
}

function readCallback(
  server: oauth.AuthorizationServer,
  client: GrantClient,
  callback: URLSearchParams,
  state: string,
): URLSearchParams {
  const params = new URLSearchParams(callback);
  // A provider that has not told its issuer may still send one; there is nothing to compare it with.
  if (client.issuer === null) params.delete('iss');
  try {
    return oauth.validateAuthResponse(server, { client_id: client.clientId }, params, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new CallbackRefused(error.error, error.error_description ?? 'The customer was not signed in.');
    }
    throw new CallbackRefused('invalid_callback', 'The answer of the provider does not belong to this sign-in.');
  }
}

/** With the first secret, and with the next one where the provider says that it does not know the client by that one. */
async function ask(
  client: GrantClient,
  request: (authentication: oauth.ClientAuth, secret: string) => Promise<oauth.TokenEndpointResponse>,
): Promise<Grant> {
  const secrets = client.secrets.length === 0 ? [''] : client.secrets;
  let grant: Grant = { kind: 'not_sent', reason: 'The client has no secret.' };
  for (const secret of secrets) {
    grant = await once(async () => await request(await authenticationOf(client.provider, secret), secret));
    if (grant.kind !== 'refused' || grant.code !== 'invalid_client') return grant;
  }
  return grant;
}

async function once(request: () => Promise<oauth.TokenEndpointResponse>): Promise<Grant> {
  try {
    const answer = await request();
    return {
      kind: 'tokens',
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresInSeconds: answer.expires_in,
      scopes: answer.scope?.split(' ').filter((scope) => scope !== ''),
      answer: { ...answer },
    };
  } catch (error) {
    if (error instanceof NotSent) return { kind: 'not_sent', reason: error.message };
    if (error instanceof oauth.ResponseBodyError) return judge(error);
    return { kind: 'unknown', reason: error instanceof Error ? error.message : String(error), answered: false };
  }
}

/** A provider that is overloaded has not looked at the request; one that fails may have done it all the same. */
function judge({ status, error, error_description: description }: oauth.ResponseBodyError): Grant {
  if (status === 429) return { kind: 'not_sent', reason: 'The provider gets too many requests.' };
  if (status >= 500) return { kind: 'unknown', reason: `The provider answered with ${status}.`, answered: true };
  return { kind: 'refused', code: error, description };
}

async function authenticationOf(provider: OAuthProvider, secret: string): Promise<oauth.ClientAuth> {
  switch (provider.client_authentication ?? 'post') {
    case 'basic':
      return oauth.ClientSecretBasic(secret);
    case 'post':
      return oauth.ClientSecretPost(secret);
    case 'none':
      return oauth.None();
    case 'private_key_jwt': {
      const jwk = JSON.parse(secret);
      const key = (await importJWK(jwk)) as webcrypto.CryptoKey;
      return oauth.PrivateKeyJwt(jwk.kid === undefined ? key : { key, kid: jwk.kid });
    }
  }
}

/** Nothing has left this machine. A network throws it, too, where a request may not be sent any more. */
export class NotSent extends Error {}

/** Failures before a connection stands: nothing has left this machine. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function optionsFor(network: ProviderNetwork, client: GrantClient, more = tokenParamsOf(client)) {
  return {
    additionalParameters: more,
    // The guard of the network decides about plain http.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, options: { method: string; headers: Record<string, string>; body?: unknown }) =>
      send(network, client, url, options),
  };
}

const tokenParamsOf = ({ provider, tokenParams }: GrantClient) => ({ ...provider.token_params, ...tokenParams });

async function send(
  network: ProviderNetwork,
  { provider, issuer }: GrantClient,
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
): Promise<Response> {
  const form = String(body ?? '');
  const isJson = provider.token_body === 'json';
  const request = {
    method,
    headers: isJson ? { ...headers, 'content-type': 'application/json' } : headers,
    body: isJson ? JSON.stringify(Object.fromEntries(new URLSearchParams(form))) : form,
  };
  try {
    // Without a known issuer an ID token cannot be checked. Nothing depends on it.
    return conform(provider, await network.request(url, request), { keepsIdToken: issuer !== null });
  } catch (error) {
    const { code, name } = error as { code?: string; name?: string };
    if (name === 'ConnectorError' || (code !== undefined && beforeSending.has(code))) {
      throw new NotSent('The provider cannot be reached.');
    }
    throw error;
  }
}
