/** A provider that describes itself: RFC 8414, and OpenID Connect Discovery, which many have alone. */
import type { ClientAuthentication, OAuthProvider } from '@inlay/contract/credentials/oauth-providers';
import { plainText } from '@inlay/contract/text/storable-text';
import * as oauth from 'oauth4webapi';
import type { ProviderNetwork } from './network.ts';

const longestAddress = 2_000;

/** The words are for the operator. */
export class DiscoveryFailed extends Error {}

export async function discoverProvider(network: ProviderNetwork, issuer: string): Promise<OAuthProvider> {
  const url = new URL(issuer);
  const fault = network.addressFault(url);
  if (fault !== undefined) throw new DiscoveryFailed(fault);
  const reasons: string[] = [];
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    try {
      const answer = await oauth.discoveryRequest(url, {
        algorithm,
        [oauth.customFetch]: fetchThrough(network),
        [oauth.allowInsecureRequests]: true,
      });
      return providerOf(await oauth.processDiscoveryResponse(url, answer));
    } catch (error) {
      reasons.push(wordsOf(error));
    }
  }
  throw new DiscoveryFailed(`The issuer does not provide usable metadata: ${[...new Set(reasons)].join('; ')}`);
}

/** The guard of the network decides about plain http, so the library need not. */
function fetchThrough(network: ProviderNetwork) {
  return async (url: string, options: { method: string; headers: Record<string, string> }): Promise<Response> => {
    const { status, contentType, body } = await network.request(url, {
      method: options.method,
      headers: options.headers,
    });
    return new Response(body, { status, headers: { 'content-type': contentType } });
  };
}

/** The library checks that the issuer is the right one, and nothing else. */
function providerOf(said: oauth.AuthorizationServer): OAuthProvider {
  const server = readDescription(said);
  const { authorization_endpoint, token_endpoint } = server;
  if (!authorization_endpoint || !token_endpoint) {
    throw new DiscoveryFailed('the authorization endpoint or token endpoint is missing');
  }
  return {
    authorization_url: authorization_endpoint,
    token_url: token_endpoint,
    ...(server.revocation_endpoint !== undefined && { revocation_url: server.revocation_endpoint }),
    client_authentication: authenticationOf(server.token_endpoint_auth_methods_supported),
    // A server that does not say it often knows PKCE all the same; a server that says others does not.
    ...(server.code_challenge_methods_supported?.includes('S256') === false && { pkce: false }),
    ...(server.authorization_response_iss_parameter_supported === true && { checks_issuer: true }),
    ...(server.userinfo_endpoint !== undefined && {
      scopes: ['openid', ...(server.scopes_supported?.includes('offline_access') ? ['offline_access'] : [])],
      account: { url: server.userinfo_endpoint, id: ['sub'], label: ['email'] },
    }),
  };
}

/** What counts of a description, which may hold anything. */
function readDescription(said: oauth.AuthorizationServer) {
  const address = (name: keyof oauth.AuthorizationServer) => {
    const value = said[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string' && plainText(value, longestAddress) === value) return value;
    throw new DiscoveryFailed(`its ${name} is not a valid URL`);
  };
  const list = (name: keyof oauth.AuthorizationServer) => {
    const value = said[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
  };
  return {
    authorization_endpoint: address('authorization_endpoint'),
    token_endpoint: address('token_endpoint'),
    revocation_endpoint: address('revocation_endpoint'),
    userinfo_endpoint: address('userinfo_endpoint'),
    token_endpoint_auth_methods_supported: list('token_endpoint_auth_methods_supported'),
    code_challenge_methods_supported: list('code_challenge_methods_supported'),
    scopes_supported: list('scopes_supported'),
    authorization_response_iss_parameter_supported: said.authorization_response_iss_parameter_supported,
  };
}

/** RFC 8414: without a list it is basic. */
function authenticationOf(methods: readonly string[] | undefined): ClientAuthentication {
  if (!methods || methods.includes('client_secret_basic')) return 'basic';
  if (methods.includes('client_secret_post')) return 'post';
  return methods.includes('private_key_jwt') ? 'private_key_jwt' : 'none';
}

function wordsOf(error: unknown): string {
  if (error instanceof oauth.OperationProcessingError && error.code === oauth.RESPONSE_IS_NOT_CONFORM) {
    return 'there is no metadata document';
  }
  return error instanceof Error ? error.message : String(error);
}
