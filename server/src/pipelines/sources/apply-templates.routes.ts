/** The endpoint that compares a workspace with the templates that match it now. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { changedBy, type PipelinesContext } from '../context.ts';
import { applyTemplates } from './apply-templates.ts';

export function applyTemplatesRoutes(app: FastifyInstance, ctx: PipelinesContext): void {
  serve(app, operations.workspaces, {
    applyTemplates: async ({ params, body, principal, cause }) =>
      await applyTemplates(changedBy(ctx, cause), principal.organizationId, params.workspace_id, body),
  });
}
