/** The endpoints with which operators manage connection templates and try out schedules. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { previewConnectionDraft } from '../catalog/templates/connection-template-drafts.ts';
import * as templates from '../catalog/templates/connection-templates.ts';
import { describeCron } from '../catalog/templates/cron.ts';
import { getTemplate, tagTemplate, untagTemplate } from '../catalog/templates/templates.ts';
import { serve } from '../kernel/http/endpoint.ts';
import { isoTime } from '../kernel/iso-time.ts';
import { causedBy } from '../log/events/journal.ts';
import { changedBy, type PipelinesContext } from '../pipelines/context.ts';
import { createConnectionTemplate, deleteTemplate, rollBackTemplate, updateTemplate } from './template-changes.ts';

export function connectionTemplateRoutes(app: FastifyInstance, pipelines: PipelinesContext): void {
  const ctx = pipelines.templates;
  const { connectionRules: rules } = templates;

  serve(app, operations.connectionTemplates, {
    list: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await templates.listMatchingConnectionTemplates(ctx, principal.organizationId, { tags, mode });
      return { data: await templates.presentConnectionTemplates(ctx, found) };
    },

    create: async ({ body, principal, cause }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await createConnectionTemplate(changedBy(pipelines, cause), principal, body),
      ),

    preview: async ({ body, principal }) => await previewConnectionDraft(ctx, principal.organizationId, body),
    describeCron: async ({ body }) => describeCron(body.cron_expression, ctx.runtime.now()),

    get: async ({ params, principal }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await getTemplate(ctx, {
          organizationId: principal.organizationId,
          kind: 'connection',
          templateId: params.connection_template_id,
        }),
      ),

    update: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await updateTemplate(changedBy(pipelines, cause), rules, principal, params.connection_template_id, body),
      ),

    rollBack: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await rollBackTemplate(changedBy(pipelines, cause), rules, principal, params.connection_template_id, body),
      ),

    delete: async ({ params, query, principal, cause }) =>
      await deleteTemplate(
        changedBy(pipelines, cause),
        rules,
        principal,
        params.connection_template_id,
        query.existing,
      ),

    addTag: async ({ params, body, principal, cause }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await tagTemplate(causedBy(ctx, cause), rules, principal, params.connection_template_id, body.tag),
      ),

    removeTag: async ({ params, principal, cause }) => {
      const { connection_template_id: id, tag_name } = params;
      const { deletedAt } = await untagTemplate(causedBy(ctx, cause), rules, principal, id, tag_name);
      return { deleted_at: isoTime(deletedAt) };
    },
  });
}
