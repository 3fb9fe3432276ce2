/** The endpoint with which an operator sees what a customer sees. */
import { ViewToken, ViewTokenRequest } from '@inlay/contract/console';
import { WorkspacePath } from '@inlay/contract/workspaces';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import { widgetSettingsOf } from '../tokens/widget-tokens.ts';
import { makeViewToken, type ViewTokensContext } from './view-tokens.ts';

export function viewTokenRoutes(app: FastifyInstance, ctx: ViewTokensContext): void {
  endpoint(app, {
    method: 'POST',
    url: '/api/v1/workspaces/:workspace_id/view-token',
    isRepeatable: true,
    access: 'operator',
    tag: 'Console',
    summary: 'See what a customer sees',
    description:
      'A token that reads what the customer of the workspace reads, and cannot write, with the address of the widget. It works for 15 minutes, and ends with the session of the console, or the operator token, that asked for it. The address works in a frame on a page of the service itself.',
    params: WorkspacePath,
    body: ViewTokenRequest,
    answer: ViewToken,
    errors: ['workspace_not_found'],
    handle: async ({ params, body, principal, cause, reply }) => {
      reply.header('cache-control', 'no-store');
      const made = await makeViewToken(ctx, principal, params.workspace_id, widgetSettingsOf(body), cause);
      return { token: made.token, widget_url: made.widgetUrl, expires_at: isoTime(made.expiresAt) };
    },
  });
}
