/** Endpoints for the templates that a scoped token may use, and, for operators, the reasons. */
import { OfferedSourceTemplate, OfferedSourceTemplateList, SourceTemplatePath } from '@inlay/contract/source-templates';
import { ListTemplatesQuery, TemplateExplanation, TemplateFilterRequest } from '@inlay/contract/template-filters';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { filtersOf } from '../tokens/widget-tokens.ts';
import type { TemplatesContext } from './context.ts';
import { explainFilters } from './explanation.ts';
import * as templates from './source-templates.ts';

const path = '/api/v1/embedded/source-templates';
const tag = 'Inside a workspace';

export function offerRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'scoped',
    tag,
    summary: 'List offered source templates',
    description:
      "The templates that the token's own tags select. The query can only reduce this list, never extend it.",
    query: ListTemplatesQuery,
    answer: OfferedSourceTemplateList,
    handle: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const { organizationId, templateFilters } = principal;
      const offered = await templates.listOfferedSourceTemplates(ctx, organizationId, templateFilters, { tags, mode });
      return { data: offered.map((template) => templates.presentOffer(ctx, template)) };
    },
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/:source_template_id`,
    access: 'scoped',
    tag,
    summary: 'Get offered source template',
    description: 'One template, with the specification of what to ask the customer for (`user_config_spec`).',
    params: SourceTemplatePath,
    answer: OfferedSourceTemplate,
    errors: ['source_template_not_found', 'source_definition_not_found', 'definitions_unavailable'],
    handle: async ({ params, principal }) => {
      const { organizationId, templateFilters } = principal;
      const { source_template_id: id } = params;
      const template = await templates.findOfferedSourceTemplate(ctx, organizationId, id, templateFilters);
      if (!template) throw new AppError('source_template_not_found');
      return await templates.presentOffered(ctx, template);
    },
  });

  endpoint(app, {
    method: 'POST',
    url: '/api/v1/integrations/templates/explain',
    isRepeatable: true,
    access: 'operator',
    tag: 'Source templates',
    summary: 'Explain template filters',
    description:
      'Which templates a widget token with these filters would be offered, and by which rule. The fields and their defaults are those of the widget token request.',
    body: TemplateFilterRequest,
    answer: TemplateExplanation,
    handle: ({ body, principal }) => explainFilters(ctx, principal.organizationId, filtersOf(body)),
  });
}
