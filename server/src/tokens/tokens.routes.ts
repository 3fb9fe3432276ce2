/** The endpoints that issue, explain and revoke scoped and widget tokens, and publish the keys that verify them. */
import { regions } from '@inlay/contract/fields';
import {
  RevokeTokenRequest,
  RevokeTokenResponse,
  ScopedTokenInfo,
  ScopedTokenRequest,
  TokenResponse,
  WidgetTokenRequest,
} from '@inlay/contract/tokens';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Cause } from '../cause.ts';
import type { ErrorCode } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import type { ResponseHeaderName } from '../http/response-headers.ts';
import { isoTime } from '../iso-time.ts';
import type { ScopedPrincipal } from '../principals.ts';
import type { IssuedToken, ScopedTokens, TokenSubject } from './scoped-tokens.ts';
import type { SigningKeys } from './signing-keys.ts';
import { unwrapWidgetToken, type WidgetTokens, widgetSettingsOf } from './widget-tokens.ts';

interface TokenRoutesOptions {
  scopedTokens: ScopedTokens;
  widgetTokens: WidgetTokens;
  keys: SigningKeys;
  /** The workspace of that name, created if there is none. */
  ensureSubject(organizationId: string, name: string, regionId: string, cause: Cause): Promise<TokenSubject>;
}

const tag = 'Tokens';
const infoPath = '/api/v1/embedded/scoped-token/info';
const creationErrors: ErrorCode[] = [
  'workspace_being_deleted',
  'creation_unconfirmed',
  'creation_timed_out',
  'creation_pending',
  'platform_unavailable',
  'platform_rate_limited',
  'platform_credentials_rejected',
  'platform_refused',
];

const issuedTokenHeaders: ResponseHeaderName[] = ['X-Inlay-Workspace-Id', 'X-Inlay-Token-Expires-At'];

/** In headers, because the specification fixes the body. */
function describeToken(reply: FastifyReply, { workspaceId }: TokenSubject, { token, expiresAt }: IssuedToken) {
  reply.header('x-inlay-workspace-id', workspaceId);
  if (expiresAt !== undefined) reply.header('x-inlay-token-expires-at', isoTime(expiresAt));
  return { token };
}

export function tokenRoutes(app: FastifyInstance, options: TokenRoutesOptions): void {
  const { scopedTokens, widgetTokens, keys, ensureSubject } = options;

  endpoint(app, {
    method: 'POST',
    url: '/api/v1/embedded/scoped-token',
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Generate scoped token',
    description:
      'A token that acts inside one workspace. A workspace that is not known by this name is looked up on the platform, and created if it is not there either. The answer names the workspace in `X-Inlay-Workspace-Id` and, if the token expires, when in `X-Inlay-Token-Expires-At`.',
    body: ScopedTokenRequest,
    answer: TokenResponse,
    answerHeaders: issuedTokenHeaders,
    errors: creationErrors,
    handle: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { workspace_name, region_id = regions.us } = body;
      const lifetimeSeconds = scopedTokens.lifetimeOf(body.expires_in_seconds);
      const subject = await ensureSubject(principal.organizationId, workspace_name, region_id, cause);
      return describeToken(reply, subject, scopedTokens.issue(subject, lifetimeSeconds));
    },
  });

  endpoint(app, {
    method: 'POST',
    url: '/api/v1/embedded/widget-token',
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Generate widget token',
    description:
      'A token for the embedded widget: bound to one browser origin, and restricted to the templates that match the tags. Set an iframe to its `widgetUrl`. The answer names the workspace in `X-Inlay-Workspace-Id` and, if the token expires, when in `X-Inlay-Token-Expires-At`.',
    body: WidgetTokenRequest,
    answer: TokenResponse,
    answerHeaders: issuedTokenHeaders,
    errors: creationErrors,
    handle: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { workspace_name, allowed_origin, region_id = regions.us } = body;
      const settings = widgetSettingsOf(body);
      const lifetimeSeconds = scopedTokens.lifetimeOf(body.expires_in_seconds);
      const subject = await ensureSubject(principal.organizationId, workspace_name, region_id, cause);
      return describeToken(reply, subject, widgetTokens.issue(subject, allowed_origin, settings, lifetimeSeconds));
    },
  });

  const info = ({ principal }: { principal: ScopedPrincipal }): Promise<ScopedTokenInfo> =>
    Promise.resolve({ organization_id: principal.organizationId, 'workspace ID': principal.workspaceId });

  endpoint(app, {
    method: 'GET',
    url: infoPath,
    access: 'scoped',
    tag,
    summary: 'Get scoped token information',
    answer: ScopedTokenInfo,
    handle: info,
  });

  for (const url of ['/api/v1/embedded/scoped-token-info', '/api/v1/embedded/organizations/current-scoped']) {
    endpoint(app, {
      method: 'GET',
      url,
      access: 'scoped',
      tag,
      summary: 'Get scoped token information (old path)',
      description: `Use \`${infoPath}\`.`,
      deprecated: true,
      answer: ScopedTokenInfo,
      handle: (input) => {
        // RFC 9745 wants the moment of deprecation; these were deprecated before the first release.
        input.reply.header('deprecation', '@1767225600');
        input.reply.header('link', `<${infoPath}>; rel="successor-version"`);
        return info(input);
      },
    });
  }

  endpoint(app, {
    method: 'POST',
    url: '/api/v1/embedded/tokens/revoke',
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Revoke a scoped or widget token',
    description:
      'In force at once, on other replicas within two seconds. Revoking twice is fine; a token of another organization is left alone.',
    body: RevokeTokenRequest,
    answer: RevokeTokenResponse,
    handle: async ({ body, principal, cause }) => ({
      revoked: await scopedTokens.revoke(principal.organizationId, unwrapWidgetToken(body.token), cause),
    }),
  });

  endpoint(app, {
    method: 'GET',
    url: '/.well-known/jwks.json',
    access: 'public',
    tag,
    summary: 'Public keys that verify scoped tokens',
    answer: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }, { title: 'JSON Web Key Set' }),
    handle: async ({ reply }) => {
      reply.header('cache-control', 'public, max-age=60');
      return keys.jwks() as { keys: Record<string, string>[] };
    },
  });
}
