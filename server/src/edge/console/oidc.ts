/**
 * Signing in to the console with the operator's own provider (OpenID Connect): the code flow with PKCE, then a session of our
 * own.
 *
 * What always holds: the browser that comes back is the one that went, known by a cookie. State, verifier and nonce follow from
 * that cookie or are stored as a hash, so the store holds nothing that helps a thief. A sign-in is used once. Who someone is
 * for us is `iss` and `sub` of the ID token, whose signature is checked. The rules say what that person may do; without a rule
 * that fits, nobody gets in. Tokens of the provider are not kept.
 */
import { hash } from 'node:crypto';
import { plainText } from '@inlay/contract/text/storable-text';
import * as oauth from 'oauth4webapi';
import type { Cause } from '../../kernel/cause.ts';
import { findRule, type OidcSettings } from '../../kernel/config/oidc-settings.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { insertSignIn, takeSignIn } from './oidc.store.ts';
import { type ConsoleSessions, hashOf, isSecret, newSecret, type OpenSession } from './sessions.ts';

const lifeMs = 10 * 60_000;
const timeoutMs = 20_000;
const rememberedMs = 10 * 60_000;
const maxLabelLength = 255;

export interface OidcContext {
  store: Store;
  runtime: Pick<Runtime, 'newId' | 'elapsed'>;
  sessions: ConsoleSessions;
  settings: OidcSettings;
  secret: string | undefined;
  publicUrl: string;
  firstOrganizationId: string;
  organizationExists(id: string): Promise<boolean>;
}

/** The words are for the person who wants to sign in. */
export class OidcRefused extends Error {}

export interface OidcSignIns {
  /** Where to send the browser, and what it has to bring back in a cookie. */
  start(present: OpenSession | undefined): Promise<{ url: string; cookie: string }>;
  /** Throws `OidcRefused`. */
  finish(address: URL, cookie: string | undefined, cause: Cause): ReturnType<ConsoleSessions['begin']>;
}

const options = () => ({
  signal: AbortSignal.timeout(timeoutMs),
  // The configuration allows plain http on this machine only.
  [oauth.allowInsecureRequests]: true,
});

export async function discoverIssuer(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  return await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options()));
}

export function createOidcSignIns(ctx: OidcContext): OidcSignIns {
  const { store, runtime, sessions, settings, secret } = ctx;
  const redirectUrl = `${ctx.publicUrl}/console/oidc/callback`;
  const client: oauth.Client = { client_id: settings.clientId, [oauth.clockTolerance]: 30 };
  let known: { server: oauth.AuthorizationServer; at: number } | undefined;

  async function provider(): Promise<oauth.AuthorizationServer> {
    if (!known || runtime.elapsed() - known.at > rememberedMs) {
      known = { server: await discoverIssuer(settings.issuer), at: runtime.elapsed() };
    }
    return known.server;
  }

  function authenticationFor(server: oauth.AuthorizationServer): oauth.ClientAuth {
    if (secret === undefined) return oauth.None();
    const methods = server.token_endpoint_auth_methods_supported;
    return !methods || methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(secret)
      : oauth.ClientSecretPost(secret);
  }

  async function claimsOf(address: URL, state: string, cookie: string): Promise<oauth.IDToken> {
    const server = await provider();
    const params = oauth.validateAuthResponse(server, client, address, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authenticationFor(server),
      params,
      redirectUrl,
      derived('verifier', cookie),
      options(),
    );
    const result = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: derived('nonce', cookie),
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, answer, options());
    const claims = oauth.getValidatedIdTokenClaims(result);
    if (!claims) throw new Error('The response has no ID token.');
    return claims;
  }

  return {
    async start(present) {
      const server = await provider();
      if (!server.authorization_endpoint) throw new Error('The provider has no authorization endpoint.');
      const cookie = newSecret();
      const state = newSecret();
      await insertSignIn(
        store.db,
        {
          id: runtime.newId(),
          state_hash: hashOf(state),
          cookie_hash: hashOf(cookie),
          replaces_organization_id: present?.session.organization_id ?? null,
          replaces_session_id: present?.session.id ?? null,
        },
        lifeMs,
      );
      const url = new URL(server.authorization_endpoint);
      const parameters = {
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: redirectUrl,
        scope: settings.scopes,
        state,
        nonce: derived('nonce', cookie),
        code_challenge: await oauth.calculatePKCECodeChallenge(derived('verifier', cookie)),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, cookie };
    },

    async finish(address, cookie, cause) {
      const state = address.searchParams.get('state') ?? '';
      const isOurs = cookie !== undefined && isSecret(cookie) && isSecret(state);
      const signIn = isOurs ? await takeSignIn(store.db, hashOf(state), hashOf(cookie)) : undefined;
      if (!signIn || cookie === undefined) {
        throw new OidcRefused(
          'This sign-in started in another browser, took too long or was already used. Sign in again.',
        );
      }
      const claims = await claimsOf(address, state, cookie).catch((error) => {
        throw new OidcRefused(
          'The provider refused the sign-in or returned an invalid response. Try again or ask your administrator.',
          { cause: error },
        );
      });
      // Not changed for storing: another person could become the same text.
      if (plainText(claims.sub, maxLabelLength) !== claims.sub) {
        throw new OidcRefused("The provider's id for this account cannot be stored. Ask your administrator.");
      }
      const rule = findRule(settings.rules, claims);
      const organizationId = rule?.organizationId ?? ctx.firstOrganizationId;
      if (!rule || !(await ctx.organizationExists(organizationId))) {
        throw new OidcRefused('Your account has no access to this console. Ask your administrator.');
      }
      const begun = await store.transaction((tx) =>
        sessions.begin(
          tx,
          {
            ...{ organizationId, kind: 'oidc', permission: rule.permission, label: labelOf(claims) },
            identity: { issuer: claims.iss, subject: claims.sub },
          },
          {
            cause,
            replaces:
              signIn.replaces_session_id === null || signIn.replaces_organization_id === null
                ? undefined
                : { organizationId: signIn.replaces_organization_id, id: signIn.replaces_session_id },
          },
        ),
      );
      sessions.forget();
      return begun;
    },
  };
}

/** 256 bits that only this browser and this service know. */
const derived = (purpose: 'verifier' | 'nonce', cookie: string) => hash('sha256', `${purpose} ${cookie}`, 'base64url');

function labelOf({ email, name, sub }: oauth.IDToken): string {
  const labels = [email, name].map((text) => (typeof text === 'string' ? plainText(text, maxLabelLength) : ''));
  return labels.find((label) => label !== '') ?? sub;
}
