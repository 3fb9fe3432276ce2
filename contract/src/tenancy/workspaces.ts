/** Schemas for workspaces. Field names with a space are the specification's own. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid, WorkspaceName, workspaceStatuses } from '../fields.ts';

const exampleId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleOrganizationId = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';

export const Workspace = Type.Object(
  {
    id: Uuid('Identifier of the workspace, here and on the platform.', exampleId),
    name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
    organization_id: Uuid('Organization that owns the workspace.', exampleOrganizationId),
    status: Enumeration(workspaceStatuses, {
      description: 'Status of the workspace. Inactive workspaces run no syncs.',
      examples: ['active'],
    }),
    created_at: Timestamp('When the workspace was first recorded by this service, in UTC.'),
    updated_at: Timestamp('When the workspace was last changed. Increases with every change.'),
  },
  { title: 'Workspace' },
);
export type Workspace = Static<typeof Workspace>;

export const WorkspacePage = Type.Object(
  {
    data: Type.Array(Workspace, { description: 'Workspaces, newest first.' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'URL of the next page. Null on the last page.',
      examples: ['http://localhost:8080/api/v1/workspaces?limit=20&cursor=…'],
    }),
  },
  { title: 'Workspace page' },
);
export type WorkspacePage = Static<typeof WorkspacePage>;

export const ListWorkspacesQuery = Type.Object({
  name_contains: Type.Optional(
    Type.String({
      format: 'search-text',
      maxLength: 10_240,
      description: 'Part of the name, case-insensitive for all of Unicode. `%` and `_` are literal characters.',
      examples: ['acme'],
    }),
  ),
  status: Type.Optional(Enumeration(workspaceStatuses, { description: 'Returns only workspaces with this status.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'Number of workspaces per page.',
      examples: [20],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'cursor',
      description: 'Opaque cursor from the `next` URL of an earlier page.',
    }),
  ),
});
export type ListWorkspacesQuery = Static<typeof ListWorkspacesQuery>;

/** The path parameter is called `workspace_id` in error locations. */
export const WorkspacePath = Type.Object({ workspace_id: Uuid('Identifier of the workspace.', exampleId) });
export type WorkspacePath = Static<typeof WorkspacePath>;

export const UpdateWorkspaceRequest = Type.Object(
  {
    name: Type.Optional(WorkspaceName),
    status: Type.Optional(
      Enumeration(workspaceStatuses, {
        description:
          'New status. `inactive` disables all active connections and remembers them. `active` re-enables exactly those.',
      }),
    ),
  },
  { title: 'Update workspace request', examples: [{ name: 'acme-europe', status: 'inactive' }] },
);
export type UpdateWorkspaceRequest = Static<typeof UpdateWorkspaceRequest>;

export const DeletedWorkspace = Type.Object(
  {
    id: Uuid('Identifier of the deleted workspace.', exampleId),
    deleted_at: Timestamp('When the deletion was completed.'),
  },
  { title: 'Deleted workspace' },
);
export type DeletedWorkspace = Static<typeof DeletedWorkspace>;

export const WorkspaceStatistics = Type.Object(
  {
    active_count: Type.Integer({ description: 'Number of workspaces with status `active`.', examples: [41] }),
    inactive_count: Type.Integer({ description: 'Number of workspaces with status `inactive`.', examples: [1] }),
    total_count: Type.Integer({ description: 'Number of workspaces that are not deleted.', examples: [42] }),
  },
  { title: 'Workspace statistics' },
);
export type WorkspaceStatistics = Static<typeof WorkspaceStatistics>;

export const SyncResult = Type.Object(
  {
    total_count: Type.Integer({
      description: "Number of the organization's workspaces on the platform.",
      examples: [42],
    }),
    created_count: Type.Integer({ description: 'Number of newly recorded workspaces.', examples: [1] }),
    'created_workspace IDs': Type.Array(Uuid('A newly recorded workspace.', exampleId), {
      description: 'Identifiers of the newly recorded workspaces. The field name contains a space.',
    }),
  },
  { title: 'Sync result' },
);
export type SyncResult = Static<typeof SyncResult>;
