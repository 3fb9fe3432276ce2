/** Operations on connection templates. Operators also try out schedules here. */
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
      'Every source made from now on gets a connection to this destination, if the tags of the template are selected for it. The destination is tested first, unless `skip_check` is given.',
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
      'Takes what creates or changes a template, refuses it for the same reasons, and answers what a customer would get from it: where data goes, when, which streams of which sources, and what the customer may choose. Stores nothing, and does not test the destination.',
    body: PreviewConnectionTemplateRequest,
    isRepeatable: true,
    answer: ConnectionTemplatePreview,
    errors: ['connection_template_not_found', 'definitions_unavailable', 'definition_unusable'],
  },
  describeCron: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/cron/describe',
    summary: 'Describe a schedule',
    description: 'Describes an expression in plain words and with its next runs, or says what is wrong with it.',
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
  },
  rollBack: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/{connection_template_id}/rollback',
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
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/connections/{connection_template_id}',
    summary: 'Delete connection template',
    description:
      'New sources get no connection from it any more. Connections made from it stay, unless `existing` says otherwise.',
    params: ConnectionTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['connection_template_not_found'],
  },
  addTag: {
    ...about,
    route: 'POST /api/v1/integrations/templates/connections/{connection_template_id}/tags',
    summary: 'Add a tag to a connection template',
    description: 'The tag must exist. Adding a tag that the template already has changes nothing.',
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
