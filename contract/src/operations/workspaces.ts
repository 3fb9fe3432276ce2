/** Operations on workspaces. */
import { AppliedTemplates, ApplyTemplatesRequest } from '../catalog/apply-templates.ts';
import { ListAllWorkspacesQuery, OperatorWorkspacePage, WorkspaceHealth } from '../pipelines/operating.ts';
import { RevokeTokenResponse } from '../tenancy/tokens.ts';
import {
  DeletedWorkspace,
  ListWorkspacesQuery,
  SyncResult,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspacePage,
  WorkspacePath,
  WorkspaceStatistics,
} from '../tenancy/workspaces.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Workspaces' } as const;

export const workspaces = {
  list: {
    ...about,
    route: 'GET /api/v1/workspaces',
    paging: 'cursor',
    summary: 'List workspaces',
    description:
      'Returns a list of workspaces, newest first. Follow `next` until it is null. Filters can be combined and are kept in `next`.',
    query: ListWorkspacesQuery,
    answer: WorkspacePage,
  },
  getStatistics: {
    ...about,
    route: 'GET /api/v1/workspaces/stats',
    summary: 'Get workspace statistics',
    answer: WorkspaceStatistics,
  },
  sync: {
    ...about,
    route: 'POST /api/v1/workspaces/sync',
    summary: 'Sync workspaces',
    description:
      'Fetches all workspaces of the organization from the platform and records those that are missing here.',
    isRepeatable: true,
    answer: SyncResult,
    errors: ['sync_stopped', 'platform_credentials_rejected'],
  },
  get: {
    ...about,
    route: 'GET /api/v1/workspaces/{workspace_id}',
    summary: 'Get workspace',
    params: WorkspacePath,
    answer: Workspace,
    errors: ['workspace_not_found'],
  },
  update: {
    ...about,
    route: 'PUT /api/v1/workspaces/{workspace_id}',
    summary: 'Update workspace',
    description:
      'Renames, activates or deactivates a workspace. Both fields are optional. Unchanged values have no effect.',
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
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/workspaces/{workspace_id}',
    summary: 'Delete workspace',
    description:
      'Deletes the workspace with its sources, destinations and connections, here and on the platform. Its tokens stop working immediately, within two seconds on other replicas. Its name is free afterwards.',
    params: WorkspacePath,
    answer: DeletedWorkspace,
    errors: ['workspace_not_found', 'deletion_recorded'],
  },
  revokeTokens: {
    ...about,
    route: 'POST /api/v1/workspaces/{workspace_id}/tokens/revoke',
    tag: 'Tokens',
    summary: 'Revoke all tokens of a workspace',
    description:
      'Revokes all scoped and widget tokens issued so far for the workspace, within two seconds on other replicas. New tokens can be issued immediately.',
    params: WorkspacePath,
    isRepeatable: true,
    answer: RevokeTokenResponse,
    errors: ['workspace_not_found'],
  },
  listWithHealth: {
    ...about,
    route: 'GET /api/v1/integrations/workspaces',
    paging: 'cursor',
    tag: 'Operating',
    summary: 'List workspaces with their health',
    description:
      'Returns workspaces with their connections counted by health, newest first unless `sort` says otherwise. Follow `next` until it is null. Filters can be combined and are kept in `next`.',
    query: ListAllWorkspacesQuery,
    answer: OperatorWorkspacePage,
  },
  getHealth: {
    ...about,
    route: 'GET /api/v1/workspaces/{workspace_id}/health',
    tag: 'Operating',
    summary: 'Get the health of a workspace',
    description: "Returns the worst health of the workspace's connections, and their number by health.",
    params: WorkspacePath,
    answer: WorkspaceHealth,
    errors: ['workspace_not_found'],
  },
  applyTemplates: {
    ...about,
    route: 'POST /api/v1/workspaces/{workspace_id}/templates/apply',
    summary: 'Apply templates to a workspace',
    description:
      'Updates a workspace after its customer moved to another plan. Creates the missing connections that the tags select, and lists those that no longer match. With `plan`, nothing is changed.',
    params: WorkspacePath,
    body: ApplyTemplatesRequest,
    isRepeatable: true,
    answer: AppliedTemplates,
    errors: ['workspace_not_found', 'workspace_being_deleted', 'quota_reached'],
  },
} as const satisfies Record<string, Operation>;
