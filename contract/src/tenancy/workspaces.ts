/** What crosses the wire for workspaces. Field names with a space are the specification's own. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid, WorkspaceName, workspaceStatuses } from '../fields.ts';

const exampleId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleOrganizationId = '7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20';

export const Workspace = Type.Object(
  {
    id: Uuid('Identifier of the workspace, here and on the platform', exampleId),
    name: Type.String({ description: 'Workspace name', examples: ['acme-inc'] }),
    organization_id: Uuid('Owning organization', exampleOrganizationId),
    status: Enumeration(workspaceStatuses, {
      description: 'An inactive workspace runs no syncs',
      examples: ['active'],
    }),
    created_at: Timestamp('When the workspace became known to this service, in UTC'),
    updated_at: Timestamp('Grows with every change of the workspace'),
  },
  { title: 'Workspace' },
);
export type Workspace = Static<typeof Workspace>;

export const WorkspacePage = Type.Object(
  {
    data: Type.Array(Workspace, { description: 'One page of workspaces, newest first' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Full URL of the next page; null on the last page',
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
      description: 'Part of the name, case-insensitive for all of Unicode; `%` and `_` are ordinary characters',
      examples: ['acme'],
    }),
  ),
  status: Type.Optional(Enumeration(workspaceStatuses, { description: 'Only workspaces with this status' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Workspaces on a page', examples: [20] }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'cursor',
      description: 'Opaque: take it from the `next` of an earlier page, never build it',
    }),
  ),
});
export type ListWorkspacesQuery = Static<typeof ListWorkspacesQuery>;

/** The path parameter is called `workspace_id` in error locations. */
export const WorkspacePath = Type.Object({ workspace_id: Uuid('Identifier of the workspace', exampleId) });
export type WorkspacePath = Static<typeof WorkspacePath>;

export const UpdateWorkspaceRequest = Type.Object(
  {
    name: Type.Optional(WorkspaceName),
    status: Type.Optional(
      Enumeration(workspaceStatuses, {
        description:
          '`inactive` disables every active connection and remembers which; `active` enables exactly those again',
      }),
    ),
  },
  { title: 'Update workspace request', examples: [{ name: 'acme-europe', status: 'inactive' }] },
);
export type UpdateWorkspaceRequest = Static<typeof UpdateWorkspaceRequest>;

export const DeletedWorkspace = Type.Object(
  {
    id: Uuid('Identifier of the deleted workspace', exampleId),
    deleted_at: Timestamp('When the deletion was completed'),
  },
  { title: 'Deleted workspace' },
);
export type DeletedWorkspace = Static<typeof DeletedWorkspace>;

export const WorkspaceStatistics = Type.Object(
  {
    active_count: Type.Integer({ description: 'Workspaces with status `active`', examples: [41] }),
    inactive_count: Type.Integer({ description: 'Workspaces with status `inactive`', examples: [1] }),
    total_count: Type.Integer({ description: 'All workspaces that are not deleted', examples: [42] }),
  },
  { title: 'Workspace statistics' },
);
export type WorkspaceStatistics = Static<typeof WorkspaceStatistics>;

export const SyncResult = Type.Object(
  {
    total_count: Type.Integer({ description: "The organization's workspaces found on the platform", examples: [42] }),
    created_count: Type.Integer({ description: 'Workspaces newly recorded here', examples: [1] }),
    'created_workspace IDs': Type.Array(Uuid('A newly recorded workspace', exampleId), {
      description: 'Identifiers of the newly recorded workspaces. The field name contains a space.',
    }),
  },
  { title: 'Sync result' },
);
export type SyncResult = Static<typeof SyncResult>;
