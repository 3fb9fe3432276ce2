/**
 * What a client asks of its provider: the address where a customer signs in, tokens for a code or a refresh token, tokens
 * for the client itself, and the end of a token.
 *
 * What always holds: an answer is one of five, and the caller can rely on which. `tokens` and `refused` are words of the
 * provider about this very request. After `not_sent` the provider knows nothing of the request. `unavailable` was answered, but
 * decides nothing: the same request can be repeated. After `lost` the provider may have done it, so a code or a rotating
 * refresh token may be spent. Errors hold no secret, code or token.
 */
import type { webcrypto } from 'node:crypto';
import type { OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { addressToAsk, OpenAddress, type Provider, WrongValue } from './addresses.ts';
import type { ProviderNetwork } from './network.ts';
import { errorCodeIn, type RawAnswer, readBody, readTokenAnswer, type TokenAnswer } from './token-answers.ts';

export interface OpenClient {
  clientId: string;
  /** The one that is used first; the others while a rotation lasts. */
  secrets: readonly string[];
  provider: Provider;
  /** Known where the provider describes itself, or the operator has said it. */
  issuer: string | null;
  authorizationParams: Record<string, string>;
  tokenParams: Record<string, string>;
  /** What the customer entered, as it is stored. */
  values: Record<string, string>;
}

export type TokenResult =
  | TokenAnswer
  /** `isUnreachable`: the way to the provider is broken. Otherwise the request could not be made here. */
  | { kind: 'not_sent'; reason: string; isUnreachable: boolean }
  | { kind: 'lost'; reason: string };

/** A redirect that does not belong to the flow, or that says that the customer did not sign in. */
export class CallbackRefused extends Error {
  /** `access_denied` and others of RFC 6749, or `invalid_callback`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AuthorizationRequest {
  redirectUrl: string;
  state: string;
  scopes: readonly string[];
  /** Undefined where the provider refuses PKCE. */
  verifier: string | undefined;
  /** What an ID token has to repeat; undefined where none is requested. */
  nonce?: string | undefined;
}

export const usesPkce = ({ pkce = true }: Pick<OAuthProvider, 'pkce'>) => pkce;
export const newVerifier = () => oauth.generateRandomCodeVerifier();

/** Where the customer signs in. */
export async function signInAddress(client: OpenClient, signIn: AuthorizationRequest): Promise<string> {
  const { provider } = client;
  const url = new URL(await addressToAsk(provider, provider.authorization_url, client.values));
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
  client: OpenClient,
  callback: URLSearchParams,
  signIn: Omit<AuthorizationRequest, 'scopes'>,
): Promise<TokenResult> {
  const params = await readCallback(client, callback, signIn.state);
  const self = { client_id: client.clientId };
  const result = await ask(network, client, async (authentication, options) => {
    const server = await serverOf(network, client);
    const { redirectUrl, verifier = oauth.nopkce } = signIn;
    await oauth.authorizationCodeGrantRequest(server, self, authentication, params, redirectUrl, verifier, options);
  });
  // Without a known issuer an ID token cannot be checked, and nothing depends on it.
  if (result.kind !== 'tokens' || client.issuer === null) return result;
  const expected = signIn.nonce === undefined ? {} : { expectedNonce: signIn.nonce };
  const checked = { access_token: result.accessToken, token_type: 'bearer', id_token: result.idToken };
  try {
    const server = await serverOf(network, client);
    await oauth.processAuthorizationCodeResponse(server, self, Response.json(checked), expected);
    return result;
  } catch (error) {
    return { kind: 'refused', code: 'invalid_id_token', description: (error as Error).message };
  }
}

export async function refreshTokens(
  network: ProviderNetwork,
  client: OpenClient,
  refreshToken: string,
): Promise<TokenResult> {
  const self = { client_id: client.clientId };
  return await ask(
    network,
    client,
    async (authentication, options) => {
      const server = await serverOf(network, client, 'refresh_url');
      await oauth.refreshTokenGrantRequest(server, self, authentication, refreshToken, options);
    },
    { keepsOldRefreshToken: true },
  );
}

/** Tokens of the operator's own: no customer signs in. */
export async function clientCredentials(
  network: ProviderNetwork,
  client: OpenClient,
  scopes: readonly string[],
): Promise<TokenResult> {
  const { scope_separator = ' ' } = client.provider;
  const params = scopes.length === 0 ? {} : { scope: scopes.join(scope_separator) };
  return await ask(network, client, async (authentication, { additionalParameters, ...options }) => {
    const server = await serverOf(network, client);
    const self = { client_id: client.clientId };
    const asked = { ...additionalParameters, ...params };
    await oauth.clientCredentialsGrantRequest(server, self, authentication, asked, options);
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

/**
 * Outcome of revoking a token (RFC 7009). `refused`: the operator may be able to fix it; `again`: a transient failure.
 */
export type Revoked = { kind: 'done' } | { kind: 'refused' | 'again'; reason: string };

export async function revokeToken(
  network: ProviderNetwork,
  client: OpenClient,
  { accessToken, refreshToken }: { accessToken: string; refreshToken: string | null },
): Promise<Revoked> {
  const { revocation_url = '', revocation: form = {} } = client.provider;
  const isRefresh = refreshToken !== null && form.token !== 'access_token';
  const token = isRefresh ? refreshToken : accessToken;
  const hint = isRefresh ? 'refresh_token' : 'access_token';
  const headers = withToken(form.headers, accessToken);
  let answer = { status: 0, body: '' };
  const request = async (
    url: string,
    sent: { method: string; headers: Record<string, string>; body?: string | undefined },
  ) => {
    answer = await network.request(url, { ...sent, headers: { ...sent.headers, ...headers } });
    return new Response(null, { status: 200 });
  };
  for (const secret of client.secrets.length === 0 ? [''] : client.secrets) {
    try {
      const revocation_endpoint = await target(network, client, revocation_url);
      const { method = 'POST', body = 'form' } = form;
      if (body === 'none') await request(revocation_endpoint, { method, headers: { accept: 'application/json' } });
      else {
        await oauth.revocationRequest(
          { issuer: new URL(revocation_endpoint).origin, revocation_endpoint },
          { client_id: client.clientId },
          await authenticationOf(client.provider, secret),
          token,
          {
            additionalParameters: body === 'json' ? {} : { token_type_hint: hint },
            [oauth.allowInsecureRequests]: true,
            [oauth.customFetch]: (url: string, sent: { headers: object; body?: unknown }) =>
              request(url, { method, ...written(sent, body) }),
          },
        );
      }
    } catch (error) {
      if (error instanceof NotSent) return { kind: 'refused', reason: error.message };
      // What the network says may name addresses; that it did not work is enough.
      return { kind: 'again', reason: 'The provider cannot be reached.' };
    }
    const { status } = answer;
    if (status >= 200 && status < 300) return revokedBy(answer.body, form.error);
    if (status === 429 || status >= 500)
      return { kind: 'again', reason: `The provider responded with status ${status}.` };
  }
  return { kind: 'refused', reason: `The provider responded with status ${answer.status}.` };
}

/** Some say with status 200 that they did nothing. That the token is over already is what was wanted. */
function revokedBy(body: string, path: readonly string[] | undefined): Revoked {
  const error = path && errorCodeIn(readBody(body) ?? {}, path, 200);
  if (error === undefined || error === 'invalid_grant') return { kind: 'done' };
  return { kind: 'again', reason: `The provider responded with the error ${error}.` };
}

/** What the provider knows about an access token, for which the client proves who it is (RFC 7662). */
export async function introspect(
  network: ProviderNetwork,
  client: OpenClient,
  address: string,
  accessToken: string,
): Promise<{ status: number; body: string } | undefined> {
  const introspection_endpoint = await target(network, client, address);
  let answer: { status: number; body: string } | undefined;
  for (const secret of client.secrets.length === 0 ? [''] : client.secrets) {
    await oauth.introspectionRequest(
      { issuer: new URL(introspection_endpoint).origin, introspection_endpoint },
      { client_id: client.clientId },
      await authenticationOf(client.provider, secret),
      accessToken,
      {
        additionalParameters: { token_type_hint: 'access_token' },
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (url: string, sent: { headers: object; body?: unknown }) => {
          answer = await network.request(url, { method: 'POST', ...written(sent, 'form') });
          return new Response(null, { status: 200 });
        },
      },
    );
    if (answer && answer.status !== 401) return answer;
  }
  return answer;
}

/** Headers of a description, with the token in them. Names are written as this service writes its own. */
export function withToken(headers: Record<string, string> | undefined, accessToken: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, text]) => [
      name.toLowerCase(),
      text.replaceAll('{access_token}', () => accessToken),
    ]),
  );
}

/**
 * The same with a token that the client itself signs (RFC 7523). Its private key is what it would authenticate with, and
 * proves who it is.
 */
export async function jwtBearer(
  network: ProviderNetwork,
  client: OpenClient,
  scopes: readonly string[],
  now: number,
): Promise<TokenResult> {
  const { scope_separator = ' ', assertion = {} } = client.provider;
  const scope = scopes.join(scope_separator);
  const unauthenticated = { ...client, provider: { ...client.provider, client_authentication: 'none' as const } };
  return await ask(network, unauthenticated, async (none, { additionalParameters, ...options }, secret) => {
    const server = await serverOf(network, client);
    const self = { client_id: client.clientId };
    const seconds = Math.floor(now / 1000);
    const signed = await signWith(secret, {
      iss: client.clientId,
      sub: assertion.subject ?? client.clientId,
      aud: assertion.audience ?? server.token_endpoint,
      iat: seconds,
      exp: seconds + 300,
      jti: oauth.generateRandomState(),
      ...(scope !== '' && { scope }),
    });
    const params = { ...additionalParameters, assertion: signed, ...(scope !== '' && { scope }) };
    const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    await oauth.genericTokenEndpointRequest(server, self, none, grantType, params, options);
  });
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

async function serverOf(
  network: ProviderNetwork,
  client: OpenClient,
  tokens: 'token_url' | 'refresh_url' = 'token_url',
): Promise<oauth.AuthorizationServer & { token_endpoint: string }> {
  const { provider, issuer } = client;
  const token_endpoint = await target(network, client, provider[tokens] ?? provider.token_url);
  return {
    // Only compared where the provider has said which it is.
    issuer: issuer ?? new URL(token_endpoint).origin,
    token_endpoint,
    // The answer comes from the provider itself over TLS, so any signature of an ID token will do.
    id_token_signing_alg_values_supported: signatures,
  };
}

/** Where a secret or a token is about to go. Throws NotSent: what is stored may be older than the rules. */
export async function target(network: ProviderNetwork, client: OpenClient, address: string): Promise<string> {
  try {
    const url = await addressToAsk(client.provider, address, client.values);
    const fault = network.addressFault(new URL(url));
    if (fault === undefined) return url;
    throw new OpenAddress(fault);
  } catch (error) {
    if (!(error instanceof OpenAddress || error instanceof WrongValue)) throw error;
    throw new NotSent(`The request was not sent: ${error.message}`);
  }
}

async function readCallback(client: OpenClient, callback: URLSearchParams, state: string): Promise<URLSearchParams> {
  const params = new URLSearchParams(callback);
  const { checks_issuer = false, authorization_url } = client.provider;
  try {
    const { origin } = new URL(await addressToAsk(client.provider, authorization_url, client.values));
    const issuer = client.issuer ?? (checks_issuer ? issuerAt(origin, params.getAll('iss')) : null);
    // A provider without a configured issuer may still send one; there is nothing to compare it with.
    if (issuer === null) params.delete('iss');
    const server = { issuer: issuer ?? origin, authorization_response_iss_parameter_supported: checks_issuer };
    return oauth.validateAuthResponse(server, { client_id: client.clientId }, params, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new CallbackRefused(error.error, error.error_description ?? 'The customer was not signed in.');
    }
    throw new CallbackRefused('invalid_callback', "The provider's response does not belong to this sign-in.");
  }
}

/**
 * Where nobody has said what the provider calls itself, its issuer is known by the origin where the customer was sent to
 * sign in: another provider, whose code this would be, has another one (RFC 9207, 2.4).
 */
function issuerAt(origin: string, [said, ...others]: readonly string[]): string {
  const isThere = said !== undefined && others.length === 0 && URL.canParse(said) && new URL(said).origin === origin;
  return isThere ? said : origin;
}
type Send = (authentication: oauth.ClientAuth, options: RequestOptions, secret: string) => Promise<void>;
type Reading = Parameters<typeof readTokenAnswer>[2];

/** With the first secret, and with the next one where the provider says that it does not know the client by that one. */
async function ask(network: ProviderNetwork, client: OpenClient, send: Send, reading?: Reading): Promise<TokenResult> {
  const secrets = client.secrets.length === 0 ? [''] : client.secrets;
  let result: TokenResult = { kind: 'not_sent', reason: 'The client has no secret.', isUnreachable: false };
  for (const secret of secrets) {
    result = await once(network, client, async (options) =>
      send(await authenticationOf(client.provider, secret), options, secret),
    );
    if (result.kind !== 'refused' || result.code !== 'invalid_client') return result;
  }
  return result;

  async function once(
    network: ProviderNetwork,
    { provider, tokenParams }: OpenClient,
    request: (options: RequestOptions) => Promise<void>,
  ): Promise<TokenResult> {
    let isSent = false;
    let raw: RawAnswer | undefined;
    try {
      await request({
        additionalParameters: { ...provider.token_params, ...tokenParams },
        // The guard of the network decides about plain http.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (url, form) => {
          isSent = true;
          raw = await exchange(network, provider, url, form);
          // The library makes requests; their answers are read by readTokenAnswer alone.
          return new Response();
        },
      });
    } catch (error) {
      if (error instanceof NotSent)
        return { kind: 'not_sent', reason: error.message, isUnreachable: error.isUnreachable };
      if (isSent) return { kind: 'lost', reason: wordsOf(error) };
    }
    if (raw) return readTokenAnswer(provider, raw, reading);
    // What the error says may hold a part of the secret.
    return { kind: 'not_sent', reason: 'The client secret cannot be used.', isUnreachable: false };
  }
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
export class NotSent extends Error {
  readonly isUnreachable: boolean;

  constructor(message: string, { isUnreachable = false } = {}) {
    super(message);
    this.isUnreachable = isUnreachable;
  }
}

/** Failures before a connection stands: nothing has left this machine. */
function isBeforeSending(error: { code?: unknown; name?: unknown; syscall?: unknown; message?: unknown }): boolean {
  // The guard of the network refuses the address.
  if (error.name === 'ConnectorError') return true;
  if (error.syscall === 'connect' || error.syscall === 'getaddrinfo') return true;
  const code = String(error.code);
  if (['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_SSL_WRONG_VERSION_NUMBER'].includes(code)) return true;
  // The certificate is checked, and a broken handshake noticed, before the request is written.
  if (/^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/.test(code)) return true;
  return code === 'ECONNRESET' && String(error.message).includes('before secure TLS connection');
}

interface RequestOptions {
  additionalParameters: Record<string, string>;
  [oauth.allowInsecureRequests]: true;
  [oauth.customFetch]: (
    url: string,
    form: { method: string; headers: Record<string, string>; body?: unknown },
  ) => Promise<Response>;
}

/** A request of the library, as the provider wants it written. */
function written({ headers, body }: { headers: object; body?: unknown }, as: 'form' | 'json' = 'form') {
  const form = String(body ?? '');
  const all = { ...headers } as Record<string, string>;
  if (as === 'form') return { headers: all, body: form };
  return {
    headers: { ...all, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(new URLSearchParams(form))),
  };
}

async function exchange(
  network: ProviderNetwork,
  provider: OAuthProvider,
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
): Promise<RawAnswer> {
  const request = { method, ...written({ headers, body }, provider.token_body) };
  const answer = await network.request(url, request).catch((error) => {
    if (!isBeforeSending(error)) throw error;
    throw new NotSent('The provider cannot be reached.', { isUnreachable: true });
  });
  // A failure is known by its status. In a truncated success, the missing part may be the tokens.
  if (answer.isCut && answer.status < 400) throw new Error("The provider's response was incomplete.");
  return answer;
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
