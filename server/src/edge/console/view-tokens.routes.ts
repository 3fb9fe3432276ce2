/** The endpoint with which an operator sees what a customer sees. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { widgetSettingsOf } from '../../tenancy/tokens/widget-tokens.ts';
import { makeViewToken, type ViewTokensContext } from './view-tokens.ts';

export function viewTokenRoutes(app: FastifyInstance, ctx: ViewTokensContext): void {
  serve(app, operations.viewTokens, {
    create: async ({ params, body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const made = await makeViewToken(ctx, principal, params.workspace_id, widgetSettingsOf(body), cause);
      return { token: made.token, widget_url: made.widgetUrl, expires_at: isoTime(made.expiresAt) };
    },
  });
}
