/** The workspace endpoints: schema, who may call, one call, reply. */
import { operations } from '@inlay/contract/operations';
import type { ListWorkspacesQuery } from '@inlay/contract/tenancy/workspaces';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { WorkspacesContext } from './context.ts';
import { syncWorkspaces } from './sync.ts';
import * as workspaces from './workspaces.ts';

const path = '/api/v1/workspaces';

export function workspaceRoutes(app: FastifyInstance, ctx: WorkspacesContext, publicUrl: string): void {
  function nextUrl({ name_contains, status, limit, cursor }: ListWorkspacesQuery): string {
    const query = new URLSearchParams();
    if (name_contains !== undefined) query.set('name_contains', name_contains);
    if (status !== undefined) query.set('status', status);
    query.set('limit', String(limit));
    query.set('cursor', cursor ?? '');
    return `${publicUrl}${path}?${query}`;
  }

  serve(app, operations.workspaces, {
    list: async ({ query, principal }) => {
      const { name_contains, status, limit = 20, cursor } = query;
      const page = await workspaces.listWorkspaces(ctx, principal.organizationId, {
        nameContains: name_contains,
        status,
        limit,
        cursor,
      });
      return {
        data: page.rows.map(workspaces.presentWorkspace),
        next: page.next === undefined ? null : nextUrl({ ...query, limit, cursor: page.next }),
      };
    },

    getStatistics: ({ principal }) => workspaces.countWorkspaces(ctx, principal.organizationId),
    sync: ({ principal, cause }) => syncWorkspaces(causedBy(ctx, cause), principal.organizationId),

    get: ({ params, principal }) => workspaces.showWorkspace(ctx, principal.organizationId, params.workspace_id),

    update: async ({ params, body, principal, cause }) =>
      workspaces.presentWorkspace(
        await workspaces.updateWorkspace(causedBy(ctx, cause), principal.organizationId, params.workspace_id, body),
      ),

    delete: async ({ params, principal, cause }) => {
      const by = causedBy(ctx, cause);
      const { id, deleted_at } = await workspaces.deleteWorkspace(by, principal.organizationId, params.workspace_id);
      return { id, deleted_at: isoTime(deleted_at ?? 0) };
    },

    revokeTokens: async ({ params, principal, cause }) => {
      await workspaces.revokeWorkspaceTokens(causedBy(ctx, cause), principal.organizationId, params.workspace_id);
      return { revoked: true };
    },
  });
}
