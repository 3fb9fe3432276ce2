/** The endpoints with which operators manage source templates. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { createSourceTemplate, previewDraft } from '../catalog/templates/source-template-drafts.ts';
import * as templates from '../catalog/templates/source-templates.ts';
import { listTemplates, tagTemplate, untagTemplate } from '../catalog/templates/templates.ts';
import { serve } from '../kernel/http/endpoint.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { causedBy } from '../log/events/journal.ts';
import { changedBy, type PipelinesContext } from '../pipelines/context.ts';
import { deleteTemplate, rollBackTemplate, updateTemplate } from './template-changes.ts';

export function sourceTemplateRoutes(app: FastifyInstance, pipelines: PipelinesContext): void {
  const ctx = pipelines.templates;
  const { sourceRules: rules } = templates;

  serve(app, operations.sourceTemplates, {
    list: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await listTemplates(ctx, 'source', principal.organizationId, { tags, mode });
      return { data: found.map((template) => templates.presentSummary(ctx, template)) };
    },

    create: async ({ body, principal, cause }) =>
      await templates.presentSourceTemplate(ctx, await createSourceTemplate(causedBy(ctx, cause), principal, body)),

    preview: async ({ body, principal }) => await previewDraft(ctx, principal.organizationId, body),

    get: async ({ params, principal }) =>
      await templates.presentSourceTemplate(
        ctx,
        await templates.getSourceTemplate(ctx, principal.organizationId, params.source_template_id),
      ),

    update: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await updateTemplate(changedBy(pipelines, cause), rules, principal, params.source_template_id, body),
      ),

    rollBack: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await rollBackTemplate(changedBy(pipelines, cause), rules, principal, params.source_template_id, body),
      ),

    delete: async ({ params, query, principal, cause }) =>
      await deleteTemplate(changedBy(pipelines, cause), rules, principal, params.source_template_id, query.existing),

    addTag: async ({ params, body, principal, cause }) =>
      await templates.presentSourceTemplate(
        ctx,
        await tagTemplate(causedBy(ctx, cause), rules, principal, params.source_template_id, body.tag),
      ),

    removeTag: async ({ params, principal, cause }) => {
      const { source_template_id: id, tag_name } = params;
      const { deletedAt } = await untagTemplate(causedBy(ctx, cause), rules, principal, id, tag_name);
      return { deleted_at: isoTime(deletedAt) };
    },
  });
}
