/** The endpoints about credentials: for operators, and for customers about their own workspace. No answer holds a token. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { OAuthContext } from '../context.ts';
import { endCredential, getCredential, getOwnCredential, listCredentials, listOwnUnused } from './credential-list.ts';

export function credentialRoutes(app: FastifyInstance, ctx: OAuthContext): void {
  serve(app, operations.credentials, {
    list: async ({ principal, query: { workspace_id: workspaceId, limit = 100 } }) => ({
      data: await listCredentials(ctx, principal.organizationId, { workspaceId, limit }),
    }),

    get: ({ principal, params }) => getCredential(ctx, principal.organizationId, params.credential_id),

    delete: ({ principal, params, cause }) =>
      endCredential(causedBy(ctx, cause), principal.organizationId, params.credential_id),
  });

  serve(app, operations.embeddedCredentials, {
    list: async ({ principal: { organizationId, workspaceId, allowedOrigin: origin }, query }) => ({
      data: await listOwnUnused(ctx, { organizationId, workspaceId, templateId: query.source_template_id, origin }),
    }),

    get: ({ principal: { organizationId, workspaceId }, params }) =>
      getOwnCredential(ctx, { organizationId, workspaceId, credentialId: params.credential_id }),
  });
}
