/** The endpoints that issue, explain and revoke scoped and widget tokens, and publish the keys that verify them. */
import { regions } from '@inlay/contract/fields';
import { operations } from '@inlay/contract/operations';
import { methodAndPath } from '@inlay/contract/operations/operation';
import type { ScopedTokenInfo } from '@inlay/contract/tenancy/tokens';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Cause } from '../../kernel/cause.ts';
import { type Handle, serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { ScopedPrincipal } from '../../kernel/principals.ts';
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

/** In headers, because the specification fixes the body. */
function describeToken(reply: FastifyReply, { workspaceId }: TokenSubject, { token, expiresAt }: IssuedToken) {
  reply.header('x-inlay-workspace-id', workspaceId);
  if (expiresAt !== undefined) reply.header('x-inlay-token-expires-at', isoTime(expiresAt));
  return { token };
}

export function tokenRoutes(app: FastifyInstance, options: TokenRoutesOptions): void {
  const { scopedTokens, widgetTokens, keys, ensureSubject } = options;

  const info = ({ principal }: { principal: ScopedPrincipal }): ScopedTokenInfo => ({
    organization_id: principal.organizationId,
    'workspace ID': principal.workspaceId,
  });

  const infoAtOldPath: Handle<typeof operations.tokens.getCurrentScoped> = (input) => {
    // RFC 9745 wants the moment of deprecation; these were deprecated before the first release.
    input.reply.header('deprecation', '@1767225600');
    input.reply.header('link', `<${methodAndPath(operations.tokens.getScopedInfo).path}>; rel="successor-version"`);
    return info(input);
  };

  serve(app, operations.tokens, {
    createScoped: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { workspace_name, region_id = regions.us } = body;
      const lifetimeSeconds = scopedTokens.lifetimeOf(body.expires_in_seconds);
      const subject = await ensureSubject(principal.organizationId, workspace_name, region_id, cause);
      return describeToken(reply, subject, scopedTokens.issue(subject, lifetimeSeconds));
    },

    createWidget: async ({ body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const { workspace_name, allowed_origin, region_id = regions.us } = body;
      const settings = widgetSettingsOf(body);
      const lifetimeSeconds = scopedTokens.lifetimeOf(body.expires_in_seconds);
      const subject = await ensureSubject(principal.organizationId, workspace_name, region_id, cause);
      return describeToken(reply, subject, widgetTokens.issue(subject, allowed_origin, settings, lifetimeSeconds));
    },

    getScopedInfo: info,

    getScopedInfoAtOldPath: infoAtOldPath,

    getCurrentScoped: infoAtOldPath,

    revoke: async ({ body, principal, cause }) => ({
      revoked: await scopedTokens.revoke(principal.organizationId, unwrapWidgetToken(body.token), cause),
    }),

    listKeys: async ({ reply }) => {
      reply.header('cache-control', 'public, max-age=60');
      return keys.jwks() as { keys: Record<string, string>[] };
    },
  });
}
