/** The endpoints with which operators manage source templates. */
import { DeleteTemplateQuery, RollbackRequest } from '@inlay/contract/rollouts';
import {
  CreateSourceTemplateRequest,
  DeletedTemplate,
  OfferedSourceTemplate,
  SourceTemplate,
  SourceTemplateList,
  SourceTemplatePath,
  UpdatedSourceTemplate,
  UpdateSourceTemplateRequest,
} from '@inlay/contract/source-templates';
import { ListTemplatesQuery } from '@inlay/contract/template-filters';
import { TagTemplateRequest, TemplateTagPath, UntaggedTemplate } from '@inlay/contract/template-tags';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import type { TemplatesContext } from './context.ts';
import { createSourceTemplate, previewDraft } from './source-template-drafts.ts';
import * as templates from './source-templates.ts';

const path = '/api/v1/integrations/templates/sources';
const tag = 'Source templates';
/** Whatever shows a template in full needs the definition of its connector. */
const showing: ErrorCode[] = ['source_definition_not_found', 'definitions_unavailable'];
const checking: ErrorCode[] = [...showing, 'definition_unusable'];

export function sourceTemplateRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List source templates',
    query: ListTemplatesQuery,
    answer: SourceTemplateList,
    handle: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await templates.listSourceTemplates(ctx, principal.organizationId, { tags, mode });
      return { data: found.map((template) => templates.presentSummary(ctx, template)) };
    },
  });

  endpoint(app, {
    method: 'POST',
    url: path,
    access: 'operator',
    tag,
    summary: 'Create source template',
    description:
      'From a definition and a part of its configuration, or as a clone of another template. Customers are asked for the rest of the configuration (`user_config_spec`).',
    body: CreateSourceTemplateRequest,
    status: 201,
    answer: SourceTemplate,
    errors: ['source_template_not_found', ...checking],
    handle: async ({ body, principal, cause }) =>
      await templates.presentSourceTemplate(ctx, await createSourceTemplate(causedBy(ctx, cause), principal, body)),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/preview`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Preview source template',
    description:
      'Takes what creates a template, refuses it for the same reasons, and answers what a customer would be shown of it. Stores nothing. For a change of a template, give its id as `original_source_template_id`: masks then keep its secrets.',
    body: CreateSourceTemplateRequest,
    answer: OfferedSourceTemplate,
    errors: ['source_template_not_found', ...checking],
    handle: async ({ body, principal }) => await previewDraft(ctx, principal.organizationId, body),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:source_template_id`,
    access: 'operator',
    tag,
    summary: 'Get source template',
    params: SourceTemplatePath,
    answer: SourceTemplate,
    errors: ['source_template_not_found', ...showing],
    handle: async ({ params, principal }) =>
      await templates.presentSourceTemplate(
        ctx,
        await templates.getSourceTemplate(ctx, principal.organizationId, params.source_template_id),
      ),
  });

  endpoint(app, {
    method: 'PATCH',
    url: `${path}/:source_template_id`,
    access: 'operator',
    tag,
    summary: 'Update source template',
    description:
      'The given fields replace those of the template. Existing sources stay as they are unless `apply` says otherwise.',
    params: SourceTemplatePath,
    body: UpdateSourceTemplateRequest,
    answer: UpdatedSourceTemplate,
    errors: ['source_template_not_found', 'plan_not_found', 'plan_outdated', ...checking],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await templates.updateSourceTemplate(causedBy(ctx, cause), principal, params.source_template_id, body),
      ),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:source_template_id/rollback`,
    access: 'operator',
    tag,
    summary: 'Roll back source template',
    description:
      'Makes a new version that repeats an earlier one, and brings it to everybody who has another one, unless `apply` says otherwise.',
    params: SourceTemplatePath,
    body: RollbackRequest,
    answer: UpdatedSourceTemplate,
    errors: ['source_template_not_found', 'template_version_not_found', ...checking],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await templates.rollBackSourceTemplate(causedBy(ctx, cause), principal, params.source_template_id, body),
      ),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:source_template_id`,
    access: 'operator',
    tag,
    summary: 'Delete source template',
    description: 'The template is no longer offered. Sources made from it stay, unless `existing` says otherwise.',
    params: SourceTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['source_template_not_found'],
    handle: async ({ params, query, principal, cause }) =>
      await templates.deleteSourceTemplate(causedBy(ctx, cause), principal, params.source_template_id, query.existing),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:source_template_id/tags`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Add a tag to a source template',
    description: 'The tag must exist. Adding a tag that the template already has changes nothing.',
    params: SourceTemplatePath,
    body: TagTemplateRequest,
    answer: SourceTemplate,
    errors: ['source_template_not_found', 'tag_not_found', ...showing],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentSourceTemplate(
        ctx,
        await templates.tagSourceTemplate(causedBy(ctx, cause), principal, params.source_template_id, body.tag),
      ),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:source_template_id/tags/:tag_name`,
    access: 'operator',
    tag,
    summary: 'Remove a tag from a source template',
    params: Type.Object({ ...SourceTemplatePath.properties, ...TemplateTagPath.properties }),
    answer: UntaggedTemplate,
    errors: ['source_template_not_found', 'tag_not_found'],
    handle: async ({ params, principal, cause }) => {
      const { source_template_id: id, tag_name } = params;
      const { deletedAt } = await templates.untagSourceTemplate(causedBy(ctx, cause), principal, id, tag_name);
      return { deleted_at: isoTime(deletedAt) };
    },
  });
}
