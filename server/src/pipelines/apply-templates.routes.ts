/** The endpoint that compares a workspace with the templates that match it now. */
import { AppliedTemplates, ApplyTemplatesRequest } from '@inlay/contract/apply-templates';
import { WorkspacePath } from '@inlay/contract/workspaces';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import { applyTemplates } from './apply-templates.ts';
import { changedBy, type PipelinesContext } from './context.ts';

export function applyTemplatesRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  endpoint(app, {
    method: 'POST',
    url: '/api/v1/workspaces/:workspace_id/templates/apply',
    isRepeatable: true,
    access: 'operator',
    tag: 'Workspaces',
    summary: 'Apply templates to a workspace',
    description:
      'For a customer who has moved to another plan. Makes the connections that the tags select and the sources of the workspace lack, and names those that no longer match. With `plan` it only tells.',
    params: WorkspacePath,
    body: ApplyTemplatesRequest,
    answer: AppliedTemplates,
    errors: ['workspace_not_found', 'workspace_being_deleted', 'quota_reached'],
    handle: async ({ params, body, principal, cause }) =>
      await applyTemplates(changedBy(ctx, cause), principal.organizationId, params.workspace_id, body),
  });
}
