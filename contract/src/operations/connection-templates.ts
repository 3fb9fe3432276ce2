/** Operations on connection templates, and for trying out schedules. */
import { Type } from 'typebox';
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
} from '../catalog/connection-templates.ts';
import { DeleteTemplateQuery, RollbackRequest, RolloutId } from '../catalog/rollouts.ts';
import { DeletedTemplate } from '../catalog/source-templates.ts';
import { ListTemplatesQuery } from '../catalog/template-filters.ts';
import { PlanId } from '../catalog/template-plans.ts';
import { TagTemplateRequest, TemplateTagPath, UntaggedTemplate } from '../catalog/template-tags.ts';
import type { Operation } from './operation.ts';
import { changesOf } from './template-changes.ts';

/** The destination is tested before it is saved. */
const testing = ['queue_full', 'destination_check_unavailable'] as const;
const about = { access: 'operator', tag: 'Connection templates' } as const;

export const connectionTemplates = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/templates/connections',
    summary: 'List connection templates',
    query: ListTemplatesQuery,
    answer: ConnectionTemplateList,
    errors: ['definitions_unavailable'],
  },
  create: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections',
    summary: 'Create connection template',
    description:
      'Creates a connection template. Every new source whose tags match gets a connection to this destination. The destination is tested first, unless `skip_check` is set.',
    body: CreateConnectionTemplateRequest,
    status: 201,
    answer: ConnectionTemplate,
    errors: ['definitions_unavailable', 'definition_unusable', ...testing],
  },
  preview: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/preview',
    summary: 'Preview connection template',
    description:
      'Validates a new or changed template and returns what a customer would get: destination, schedule, streams per source, and what the customer may change. Stores nothing and does not test the destination.',
    body: PreviewConnectionTemplateRequest,
    isRepeatable: true,
    answer: ConnectionTemplatePreview,
    errors: ['connection_template_not_found', 'definitions_unavailable', 'definition_unusable'],
  },
  describeCron: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/cron/describe',
    summary: 'Describe a schedule',
    description:
      'Returns a plain-language description of a cron expression and its next runs, or why the expression is invalid.',
    body: DescribeCronRequest,
    isRepeatable: true,
    answer: CronDescription,
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/templates/connections/{connection_template_id}',
    summary: 'Get connection template',
    params: ConnectionTemplatePath,
    answer: ConnectionTemplate,
    errors: ['connection_template_not_found', 'definitions_unavailable'],
  },
  update: {
    ...about,
    route: 'PATCH /api/v1/integrations/templates/connections/{connection_template_id}',
    summary: 'Update connection template',
    description:
      'Updates the given fields of the template. Existing connections stay unchanged unless `apply` says otherwise. A new `destination_config` is tested first, unless `skip_check` is set.',
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
  },
  rollBack: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/{connection_template_id}/rollback',
    summary: 'Roll back connection template',
    description:
      'Creates a new version that repeats an earlier one and applies it to all existing connections, unless `apply` says otherwise.',
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
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/connections/{connection_template_id}',
    summary: 'Delete connection template',
    description:
      'Deletes the template. New sources no longer get a connection from it. Existing connections are kept unless `existing` says otherwise.',
    params: ConnectionTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['connection_template_not_found'],
  },
  addTag: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/{connection_template_id}/tags',
    summary: 'Add a tag to a connection template',
    description: 'Adds an existing tag to the template. Does nothing if the template already has it.',
    params: ConnectionTemplatePath,
    body: TagTemplateRequest,
    isRepeatable: true,
    answer: ConnectionTemplate,
    errors: ['connection_template_not_found', 'tag_not_found', 'definitions_unavailable'],
  },
  removeTag: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/connections/{connection_template_id}/tags/{tag_name}',
    summary: 'Remove a tag from a connection template',
    params: Type.Object({ ...ConnectionTemplatePath.properties, ...TemplateTagPath.properties }),
    answer: UntaggedTemplate,
    errors: ['connection_template_not_found', 'tag_not_found'],
  },
  ...changesOf({
    path: '/api/v1/integrations/templates/connections/{connection_template_id}',
    tag: 'Connection templates',
    what: 'connection template',
    params: ConnectionTemplatePath.properties,
    rolloutParam: 'connection_rollout_id',
    rolloutParams: Type.Object({ ...ConnectionTemplatePath.properties, connection_rollout_id: RolloutId }),
    planParam: 'connection_plan_id',
    planParams: Type.Object({ ...ConnectionTemplatePath.properties, connection_plan_id: PlanId }),
    update: UpdateConnectionTemplateRequest,
    notFound: 'connection_template_not_found',
    planErrors: ['destination_definition_not_found', 'definitions_unavailable', 'definition_unusable', ...testing],
  }),
} as const satisfies Record<string, Operation>;
