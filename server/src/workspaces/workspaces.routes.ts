/** The workspace endpoints: schema, who may call, one call, reply. */

import { RevokeTokenResponse } from '@inlay/contract/tokens';
import {
  DeletedWorkspace,
  ListWorkspacesQuery,
  SyncResult,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspacePage,
  WorkspacePath,
  WorkspaceStatistics,
} from '@inlay/contract/workspaces';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import type { WorkspacesContext } from './context.ts';
import { syncWorkspaces } from './sync.ts';
import * as workspaces from './workspaces.ts';

const path = '/api/v1/workspaces';
const tag = 'Workspaces';

export function workspaceRoutes(app: FastifyInstance, ctx: WorkspacesContext, publicUrl: string): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List workspaces',
    description: 'Newest first. Follow `next` until it is null; filters can be combined and stay in `next`.',
    query: ListWorkspacesQuery,
    answer: WorkspacePage,
    handle: async ({ query, principal }) => {
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
  });

  function nextUrl({ name_contains, status, limit, cursor }: ListWorkspacesQuery): string {
    const query = new URLSearchParams();
    if (name_contains !== undefined) query.set('name_contains', name_contains);
    if (status !== undefined) query.set('status', status);
    query.set('limit', String(limit));
    query.set('cursor', cursor ?? '');
    return `${publicUrl}${path}?${query}`;
  }

  endpoint(app, {
    method: 'GET',
    url: `${path}/stats`,
    access: 'operator',
    tag,
    summary: 'Get workspace statistics',
    answer: WorkspaceStatistics,
    handle: ({ principal }) => workspaces.countWorkspaces(ctx, principal.organizationId),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/sync`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Sync workspaces',
    description: "Fetches all of the organization's workspaces from the platform and records those missing here.",
    answer: SyncResult,
    errors: ['sync_stopped', 'platform_credentials_rejected'],
    handle: ({ principal, cause }) => syncWorkspaces(causedBy(ctx, cause), principal.organizationId),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:workspace_id`,
    access: 'operator',
    tag,
    summary: 'Get workspace',
    params: WorkspacePath,
    answer: Workspace,
    errors: ['workspace_not_found'],
    handle: async ({ params, principal }) =>
      workspaces.presentWorkspace(await workspaces.getWorkspace(ctx, principal.organizationId, params.workspace_id)),
  });

  endpoint(app, {
    method: 'PUT',
    url: `${path}/:workspace_id`,
    access: 'operator',
    tag,
    summary: 'Update workspace',
    description:
      'Renames, activates or deactivates. Both fields are optional; what equals the present value changes nothing.',
    params: WorkspacePath,
    body: UpdateWorkspaceRequest,
    answer: Workspace,
    errors: [
      'workspace_not_found',
      'workspace_name_taken',
      'workspace_being_deleted',
      'rename_recorded',
      'status_recorded',
      'connections_pending',
      'platform_lost_workspace',
    ],
    handle: async ({ params, body, principal, cause }) =>
      workspaces.presentWorkspace(
        await workspaces.updateWorkspace(causedBy(ctx, cause), principal.organizationId, params.workspace_id, body),
      ),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:workspace_id`,
    access: 'operator',
    tag,
    summary: 'Delete workspace',
    description:
      'Deletes the workspace with its sources, destinations and connections, here and on the platform. Its tokens stop working at once, on other replicas within two seconds; its name is free afterwards.',
    params: WorkspacePath,
    answer: DeletedWorkspace,
    errors: ['workspace_not_found', 'deletion_recorded'],
    handle: async ({ params, principal, cause }) => {
      const by = causedBy(ctx, cause);
      const { id, deleted_at } = await workspaces.deleteWorkspace(by, principal.organizationId, params.workspace_id);
      return { id, deleted_at: isoTime(deleted_at ?? 0) };
    },
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:workspace_id/tokens/revoke`,
    isRepeatable: true,
    access: 'operator',
    tag: 'Tokens',
    summary: 'Revoke all tokens of a workspace',
    description:
      'Every scoped and widget token issued so far for the workspace stops working, on other replicas within two seconds. New ones can be issued at once.',
    params: WorkspacePath,
    answer: RevokeTokenResponse,
    errors: ['workspace_not_found'],
    handle: async ({ params, principal, cause }) => {
      await workspaces.revokeWorkspaceTokens(causedBy(ctx, cause), principal.organizationId, params.workspace_id);
      return { revoked: true };
    },
  });
}
