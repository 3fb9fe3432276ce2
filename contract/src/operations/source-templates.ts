/** Operations on source templates: for operators, and for customers, who see what they are offered. */
import { Type } from 'typebox';
import { DeleteTemplateQuery, RollbackRequest, RolloutId } from '../catalog/rollouts.ts';
import {
  CreateSourceTemplateRequest,
  DeletedTemplate,
  OfferedSourceTemplate,
  OfferedSourceTemplateList,
  SourceTemplate,
  SourceTemplateList,
  SourceTemplatePath,
  UpdatedSourceTemplate,
  UpdateSourceTemplateRequest,
} from '../catalog/source-templates.ts';
import { ListTemplatesQuery, TemplateExplanation, TemplateFilterRequest } from '../catalog/template-filters.ts';
import { PlanId } from '../catalog/template-plans.ts';
import { TagTemplateRequest, TemplateTagPath, UntaggedTemplate } from '../catalog/template-tags.ts';
import type { Operation } from './operation.ts';
import { changesOf } from './template-changes.ts';

/** Whatever shows a template in full needs the definition of its connector. */
const showing = ['source_definition_not_found', 'definitions_unavailable'] as const;
const checking = [...showing, 'definition_unusable'] as const;
const about = { access: 'operator', tag: 'Source templates' } as const;

export const sourceTemplates = {
  list: {
    ...about,
    route: 'GET /api/v1/integrations/templates/sources',
    summary: 'List source templates',
    query: ListTemplatesQuery,
    answer: SourceTemplateList,
  },
  create: {
    ...about,
    route: 'POST /api/v1/integrations/templates/sources',
    summary: 'Create source template',
    description:
      'From a definition and a part of its configuration, or as a clone of another template. Customers are asked for the rest of the configuration (`user_config_spec`).',
    body: CreateSourceTemplateRequest,
    status: 201,
    answer: SourceTemplate,
    errors: ['source_template_not_found', ...checking],
  },
  preview: {
    ...about,
    route: 'POST /api/v1/integrations/templates/sources/preview',
    summary: 'Preview source template',
    description:
      'Takes what creates a template, refuses it for the same reasons, and answers what a customer would be shown of it. Stores nothing. For a change of a template, give its id as `original_source_template_id`: masks then keep its secrets.',
    body: CreateSourceTemplateRequest,
    isRepeatable: true,
    answer: OfferedSourceTemplate,
    errors: ['source_template_not_found', ...checking],
  },
  get: {
    ...about,
    route: 'GET /api/v1/integrations/templates/sources/{source_template_id}',
    summary: 'Get source template',
    params: SourceTemplatePath,
    answer: SourceTemplate,
    errors: ['source_template_not_found', ...showing],
  },
  update: {
    ...about,
    route: 'PATCH /api/v1/integrations/templates/sources/{source_template_id}',
    summary: 'Update source template',
    description:
      'The given fields replace those of the template. Existing sources stay as they are unless `apply` says otherwise.',
    params: SourceTemplatePath,
    body: UpdateSourceTemplateRequest,
    answer: UpdatedSourceTemplate,
    errors: ['source_template_not_found', 'plan_not_found', 'plan_outdated', ...checking],
  },
  rollBack: {
    ...about,
    route: 'POST /api/v1/integrations/templates/sources/{source_template_id}/rollback',
    summary: 'Roll back source template',
    description:
      'Makes a new version that repeats an earlier one, and brings it to everybody who has another one, unless `apply` says otherwise.',
    params: SourceTemplatePath,
    body: RollbackRequest,
    answer: UpdatedSourceTemplate,
    errors: ['source_template_not_found', 'template_version_not_found', ...checking],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/sources/{source_template_id}',
    summary: 'Delete source template',
    description: 'The template is no longer offered. Sources made from it stay, unless `existing` says otherwise.',
    params: SourceTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['source_template_not_found'],
  },
  addTag: {
    ...about,
    route: 'POST /api/v1/integrations/templates/sources/{source_template_id}/tags',
    summary: 'Add a tag to a source template',
    description: 'The tag must exist. Adding a tag that the template already has changes nothing.',
    params: SourceTemplatePath,
    body: TagTemplateRequest,
    isRepeatable: true,
    answer: SourceTemplate,
    errors: ['source_template_not_found', 'tag_not_found', ...showing],
  },
  removeTag: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/sources/{source_template_id}/tags/{tag_name}',
    summary: 'Remove a tag from a source template',
    params: Type.Object({ ...SourceTemplatePath.properties, ...TemplateTagPath.properties }),
    answer: UntaggedTemplate,
    errors: ['source_template_not_found', 'tag_not_found'],
  },
  explainFilters: {
    ...about,
    route: 'POST /api/v1/integrations/templates/explain',
    summary: 'Explain template filters',
    description:
      'Which templates a widget token with these filters would be offered, and by which rule. The fields and their defaults are those of the widget token request.',
    body: TemplateFilterRequest,
    isRepeatable: true,
    answer: TemplateExplanation,
  },
  ...changesOf({
    path: '/api/v1/integrations/templates/sources/{source_template_id}',
    tag: 'Source templates',
    what: 'source template',
    params: SourceTemplatePath.properties,
    rolloutParam: 'source_rollout_id',
    rolloutParams: Type.Object({ ...SourceTemplatePath.properties, source_rollout_id: RolloutId }),
    planParam: 'source_plan_id',
    planParams: Type.Object({ ...SourceTemplatePath.properties, source_plan_id: PlanId }),
    update: UpdateSourceTemplateRequest,
    notFound: 'source_template_not_found',
    planErrors: checking,
  }),
} as const satisfies Record<string, Operation>;

export const embeddedSourceTemplates = {
  list: {
    route: 'GET /api/v1/embedded/source-templates',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List offered source templates',
    description:
      "The templates that the token's own tags select. The query can only reduce this list, never extend it.",
    query: ListTemplatesQuery,
    answer: OfferedSourceTemplateList,
  },
  get: {
    route: 'GET /api/v1/embedded/source-templates/{source_template_id}',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'Get offered source template',
    description: 'One template, with the specification of what to ask the customer for (`user_config_spec`).',
    params: SourceTemplatePath,
    answer: OfferedSourceTemplate,
    errors: ['source_template_not_found', 'source_definition_not_found', 'definitions_unavailable'],
  },
} as const satisfies Record<string, Operation>;
