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

/** Every response with a full template needs the definition of its connector. */
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
      'Creates a source template from a definition and part of its configuration, or as a clone of another template. Customers enter the rest of the configuration (`user_config_spec`).',
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
      "Validates a new template and returns what a customer would see. Stores nothing. To preview a change, pass the template's ID as `original_source_template_id`, so that masks keep its secrets.",
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
      'Updates the given fields of the template. Existing sources stay unchanged unless `apply` says otherwise.',
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
      'Creates a new version that repeats an earlier one and applies it to all existing sources, unless `apply` says otherwise.',
    params: SourceTemplatePath,
    body: RollbackRequest,
    answer: UpdatedSourceTemplate,
    errors: ['source_template_not_found', 'template_version_not_found', ...checking],
  },
  delete: {
    ...about,
    route: 'DELETE /api/v1/integrations/templates/sources/{source_template_id}',
    summary: 'Delete source template',
    description:
      'Deletes the template, which is no longer offered. Existing sources are kept unless `existing` says otherwise.',
    params: SourceTemplatePath,
    query: DeleteTemplateQuery,
    answer: DeletedTemplate,
    errors: ['source_template_not_found'],
  },
  addTag: {
    ...about,
    route: 'POST /api/v1/integrations/templates/sources/{source_template_id}/tags',
    summary: 'Add a tag to a source template',
    description: 'Adds an existing tag to the template. Does nothing if the template already has it.',
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
      'Returns the templates that a widget token with these filters would be offered, and the rule behind each decision. Fields and defaults are those of the widget token request.',
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
    description: "Returns the templates that the token's tags select. The query can only narrow this list.",
    query: ListTemplatesQuery,
    answer: OfferedSourceTemplateList,
  },
  get: {
    route: 'GET /api/v1/embedded/source-templates/{source_template_id}',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'Get offered source template',
    description: 'Returns a template with the specification of what to ask the customer for (`user_config_spec`).',
    params: SourceTemplatePath,
    answer: OfferedSourceTemplate,
    errors: ['source_template_not_found', 'source_definition_not_found', 'definitions_unavailable'],
  },
} as const satisfies Record<string, Operation>;
