/** The endpoints with which operators manage connection templates and try out schedules. */
import {
  ConnectionTemplate,
  ConnectionTemplateList,
  ConnectionTemplatePath,
  ConnectionTemplatePreview,
  CreateConnectionTemplateRequest,
  CronDescription,
  DescribeCronRequest,
  PreviewConnectionTemplateRequest,
  UpdateConnectionTemplateRequest,
  UpdatedConnectionTemplate,
} from '@inlay/contract/connection-templates';
import { DeleteTemplateQuery, RollbackRequest } from '@inlay/contract/rollouts';
import { DeletedTemplate } from '@inlay/contract/source-templates';
import { ListTemplatesQuery } from '@inlay/contract/template-filters';
import { TagTemplateRequest, TemplateTagPath, UntaggedTemplate } from '@inlay/contract/template-tags';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { isoTime } from '../iso-time.ts';
import { previewConnectionDraft } from './connection-template-drafts.ts';
import * as templates from './connection-templates.ts';
import type { TemplatesContext } from './context.ts';
import { describeCron } from './cron.ts';

const path = '/api/v1/integrations/templates/connections';
const tag = 'Connection templates';
/** The destination is tested before it is saved. */
const testing: ErrorCode[] = ['queue_full', 'destination_check_unavailable'];

export function connectionTemplateRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List connection templates',
    query: ListTemplatesQuery,
    answer: ConnectionTemplateList,
    errors: ['definitions_unavailable'],
    handle: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const found = await templates.listMatchingConnectionTemplates(ctx, principal.organizationId, { tags, mode });
      return { data: await templates.presentConnectionTemplates(ctx, found) };
    },
  });

  endpoint(app, {
    method: 'POST',
    url: path,
    access: 'operator',
    tag,
    summary: 'Create connection template',
    description:
      'Every source made from now on gets a connection to this destination, if the tags of the template are selected for it. The destination is tested first, unless `skip_check` is given.',
    body: CreateConnectionTemplateRequest,
    status: 201,
    answer: ConnectionTemplate,
    errors: ['definitions_unavailable', 'definition_unusable', ...testing],
    handle: async ({ body, principal, cause }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await templates.createConnectionTemplate(causedBy(ctx, cause), principal, body),
      ),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/preview`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Preview connection template',
    description:
      'Takes what creates or changes a template, refuses it for the same reasons, and answers what a customer would get from it: where data goes, when, which streams of which sources, and what the customer may choose. Stores nothing, and does not test the destination.',
    body: PreviewConnectionTemplateRequest,
    answer: ConnectionTemplatePreview,
    errors: ['connection_template_not_found', 'definitions_unavailable', 'definition_unusable'],
    handle: async ({ body, principal }) => await previewConnectionDraft(ctx, principal.organizationId, body),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/cron/describe`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Describe a schedule',
    description: 'Describes an expression in plain words and with its next runs, or says what is wrong with it.',
    body: DescribeCronRequest,
    answer: CronDescription,
    handle: async ({ body }) => describeCron(body.cron_expression, ctx.runtime.now()),
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:connection_template_id`,
    access: 'operator',
    tag,
    summary: 'Get connection template',
    params: ConnectionTemplatePath,
    answer: ConnectionTemplate,
    errors: ['connection_template_not_found', 'definitions_unavailable'],
    handle: async ({ params, principal }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await templates.getConnectionTemplate(ctx, principal.organizationId, params.connection_template_id),
      ),
  });

  endpoint(app, {
    method: 'PATCH',
    url: `${path}/:connection_template_id`,
    access: 'operator',
    tag,
    summary: 'Update connection template',
    description:
      'The given fields replace those of the template. Existing connections stay as they are unless `apply` says otherwise. With `destination_config` the destination is tested first, unless `skip_check` is given.',
    params: ConnectionTemplatePath,
    body: UpdateConnectionTemplateRequest,
    answer: UpdatedConnectionTemplate,
    errors: [
      'connection_template_not_found',
      'plan_not_found',
      'plan_outdated',
      'destination_definition_not_found',
      'definitions_unavailable',
      'definition_unusable',
      ...testing,
    ],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await templates.updateConnectionTemplate(causedBy(ctx, cause), principal, params.connection_template_id, body),
      ),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:connection_template_id/rollback`,
    access: 'operator',
    tag,
    summary: 'Roll back connection template',
    description:
      'Makes a new version that repeats an earlier one, and brings it to everybody who has another one, unless `apply` says otherwise.',
    params: ConnectionTemplatePath,
    body: RollbackRequest,
    answer: UpdatedConnectionTemplate,
    errors: [
      'connection_template_not_found',
      'template_version_not_found',
      'destination_definition_not_found',
      'definitions_unavailable',
      'definition_unusable',
    ],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentUpdated(
        ctx,
        await templates.rollBackConnectionTemplate(
          causedBy(ctx, cause),
          principal,
          params.connection_template_id,
          body,
        ),
      ),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:connection_template_id`,
    access: 'operator',
    tag,
    summary: 'Delete connection template',
    description:
      'New sources get no connection from it any more. Connections made from it stay, unless `existing` says otherwise.',
    params: ConnectionTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['connection_template_not_found'],
    handle: async ({ params, query, principal, cause }) =>
      await templates.deleteConnectionTemplate(
        causedBy(ctx, cause),
        principal,
        params.connection_template_id,
        query.existing,
      ),
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/:connection_template_id/tags`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Add a tag to a connection template',
    description: 'The tag must exist. Adding a tag that the template already has changes nothing.',
    params: ConnectionTemplatePath,
    body: TagTemplateRequest,
    answer: ConnectionTemplate,
    errors: ['connection_template_not_found', 'tag_not_found', 'definitions_unavailable'],
    handle: async ({ params, body, principal, cause }) =>
      await templates.presentConnectionTemplate(
        ctx,
        await templates.tagConnectionTemplate(causedBy(ctx, cause), principal, params.connection_template_id, body.tag),
      ),
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:connection_template_id/tags/:tag_name`,
    access: 'operator',
    tag,
    summary: 'Remove a tag from a connection template',
    params: Type.Object({ ...ConnectionTemplatePath.properties, ...TemplateTagPath.properties }),
    answer: UntaggedTemplate,
    errors: ['connection_template_not_found', 'tag_not_found'],
    handle: async ({ params, principal, cause }) => {
      const { connection_template_id: id, tag_name } = params;
      const { deletedAt } = await templates.untagConnectionTemplate(causedBy(ctx, cause), principal, id, tag_name);
      return { deleted_at: isoTime(deletedAt) };
    },
  });
}
