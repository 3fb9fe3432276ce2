/** Operations on quotas and usage. */
import {
  ListUsageQuery,
  PutQuotasRequest,
  PutWorkspaceQuotasRequest,
  Quotas,
  Usage,
  UsagePage,
  WorkspaceQuotas,
} from '../tenancy/quotas.ts';
import { WorkspacePath } from '../tenancy/workspaces.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Quotas' } as const;

export const quotas = {
  get: {
    ...about,
    route: 'GET /api/v1/quotas',
    summary: 'Get quotas',
    description: 'Returns the quotas of each workspace that has none of its own.',
    answer: Quotas,
  },
  set: {
    ...about,
    route: 'PUT /api/v1/quotas',
    summary: 'Set quotas',
    description: 'Replaces all quotas of the organization. They apply to each workspace separately.',
    body: PutQuotasRequest,
    answer: Quotas,
  },
  remove: {
    ...about,
    route: 'DELETE /api/v1/quotas',
    summary: 'Remove quotas',
    description: 'Removes the quotas of the organization. Only workspaces with their own quotas stay limited.',
    answer: Quotas,
  },
} as const satisfies Record<string, Operation>;

export const workspaceQuotas = {
  get: {
    ...about,
    route: 'GET /api/v1/workspaces/{workspace_id}/quotas',
    summary: 'Get quotas of a workspace',
    params: WorkspacePath,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
  },
  set: {
    ...about,
    route: 'PUT /api/v1/workspaces/{workspace_id}/quotas',
    summary: 'Set quotas of a workspace',
    description: 'Replaces all quotas of the workspace. Omitted quotas default to those of the organization.',
    params: WorkspacePath,
    body: PutWorkspaceQuotasRequest,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
  },
  remove: {
    ...about,
    route: 'DELETE /api/v1/workspaces/{workspace_id}/quotas',
    summary: 'Remove quotas of a workspace',
    description: 'Removes the quotas of the workspace, so that those of the organization apply.',
    params: WorkspacePath,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const usage = {
  get: {
    ...about,
    route: 'GET /api/v1/workspaces/{workspace_id}/usage',
    summary: 'Get usage of a workspace',
    description: 'Returns the current usage of a workspace and its limits.',
    params: WorkspacePath,
    answer: Usage,
    errors: ['workspace_not_found'],
  },
  list: {
    ...about,
    route: 'GET /api/v1/usage',
    paging: 'cursor',
    summary: 'List usage of all workspaces',
    description: 'Returns the usage of all workspaces, newest workspaces first. Follow `next` until it is null.',
    query: ListUsageQuery,
    answer: UsagePage,
  },
} as const satisfies Record<string, Operation>;
