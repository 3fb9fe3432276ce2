/** The endpoints of quotas and of what is used of them. */
import {
  ListUsageQuery,
  PutQuotasRequest,
  PutWorkspaceQuotasRequest,
  Quotas,
  Usage,
  UsagePage,
  WorkspaceQuotas,
} from '@inlay/contract/quotas';
import { WorkspacePath } from '@inlay/contract/workspaces';
import type { FastifyInstance } from 'fastify';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';
import * as quotas from './quotas.ts';

const about = { access: 'operator' as const, tag: 'Quotas' };
const ofOrganization = '/api/v1/quotas';
const ofWorkspace = '/api/v1/workspaces/:workspace_id/quotas';
const usage = '/api/v1/usage';

export function quotaRoutes(app: FastifyInstance, ctx: WorkspacesContext, publicUrl: string): void {
  endpoint(app, {
    ...about,
    method: 'GET',
    url: ofOrganization,
    summary: 'Get quotas',
    description: 'What each workspace of the organization may have, unless it has quotas of its own.',
    answer: Quotas,
    handle: ({ principal }) => quotas.getQuotas(ctx, principal.organizationId),
  });

  endpoint(app, {
    ...about,
    method: 'PUT',
    url: ofOrganization,
    summary: 'Set quotas',
    description: 'Replaces all quotas of the organization. They hold for each of its workspaces, not for all together.',
    body: PutQuotasRequest,
    answer: Quotas,
    handle: ({ principal, body, cause }) => quotas.putQuotas(causedBy(ctx, cause), principal.organizationId, body),
  });

  endpoint(app, {
    ...about,
    method: 'DELETE',
    url: ofOrganization,
    summary: 'Remove quotas',
    description: 'Afterwards only workspaces with quotas of their own have limits.',
    answer: Quotas,
    handle: ({ principal, cause }) => quotas.deleteQuotas(causedBy(ctx, cause), principal.organizationId),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: ofWorkspace,
    summary: 'Get quotas of a workspace',
    params: WorkspacePath,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
    handle: ({ principal, params }) => quotas.getWorkspaceQuotas(ctx, principal.organizationId, params.workspace_id),
  });

  endpoint(app, {
    ...about,
    method: 'PUT',
    url: ofWorkspace,
    summary: 'Set quotas of a workspace',
    description: "Replaces all quotas of the workspace itself. What is left out is as the organization's quotas say.",
    params: WorkspacePath,
    body: PutWorkspaceQuotasRequest,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
    handle: ({ principal, params, body, cause }) =>
      quotas.putWorkspaceQuotas(causedBy(ctx, cause), principal.organizationId, params.workspace_id, body),
  });

  endpoint(app, {
    ...about,
    method: 'DELETE',
    url: ofWorkspace,
    summary: 'Remove quotas of a workspace',
    description: "Afterwards the organization's quotas hold for it.",
    params: WorkspacePath,
    answer: WorkspaceQuotas,
    errors: ['workspace_not_found'],
    handle: ({ principal, params, cause }) =>
      quotas.deleteWorkspaceQuotas(causedBy(ctx, cause), principal.organizationId, params.workspace_id),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: '/api/v1/workspaces/:workspace_id/usage',
    summary: 'Get usage of a workspace',
    description: 'What it has and has moved, beside its limits.',
    params: WorkspacePath,
    answer: Usage,
    errors: ['workspace_not_found'],
    handle: ({ principal, params }) => quotas.getUsage(ctx, principal.organizationId, params.workspace_id),
  });

  endpoint(app, {
    ...about,
    method: 'GET',
    url: usage,
    summary: 'List usage of all workspaces',
    description: 'Newest workspaces first. Follow `next` until it is null.',
    query: ListUsageQuery,
    answer: UsagePage,
    handle: async ({ principal, query: { limit = 20, cursor } }) => {
      const { data, next } = await quotas.listUsage(ctx, principal.organizationId, { limit, cursor });
      const query = new URLSearchParams({ limit: String(limit), cursor: next ?? '' });
      return { data, next: next === undefined ? null : `${publicUrl}${usage}?${query}` };
    },
  });
}
