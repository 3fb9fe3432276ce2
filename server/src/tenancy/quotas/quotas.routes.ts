/** The endpoints of quotas and of what is used of them. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import * as quotas from './quotas.ts';

const usage = '/api/v1/usage';

export function quotaRoutes(app: FastifyInstance, ctx: WorkspacesContext, publicUrl: string): void {
  serve(app, operations.quotas, {
    get: ({ principal }) => quotas.getQuotas(ctx, principal.organizationId),
    set: ({ principal, body, cause }) => quotas.putQuotas(causedBy(ctx, cause), principal.organizationId, body),
    remove: ({ principal, cause }) => quotas.deleteQuotas(causedBy(ctx, cause), principal.organizationId),
  });

  serve(app, operations.workspaceQuotas, {
    get: ({ principal, params }) => quotas.getWorkspaceQuotas(ctx, principal.organizationId, params.workspace_id),

    set: ({ principal, params, body, cause }) =>
      quotas.putWorkspaceQuotas(causedBy(ctx, cause), principal.organizationId, params.workspace_id, body),

    remove: ({ principal, params, cause }) =>
      quotas.deleteWorkspaceQuotas(causedBy(ctx, cause), principal.organizationId, params.workspace_id),
  });

  serve(app, operations.usage, {
    get: ({ principal, params }) => quotas.getUsage(ctx, principal.organizationId, params.workspace_id),

    list: async ({ principal, query: { limit = 20, cursor } }) => {
      const { data, next } = await quotas.listUsage(ctx, principal.organizationId, { limit, cursor });
      const query = new URLSearchParams({ limit: String(limit), cursor: next ?? '' });
      return { data, next: next === undefined ? null : `${publicUrl}${usage}?${query}` };
    },
  });
}
