/** Endpoints for the templates that a scoped token may use, and, for operators, the reasons. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { serve } from '../../kernel/http/endpoint.ts';
import { filtersOf } from '../../tenancy/tokens/widget-tokens.ts';
import type { TemplatesContext } from './context.ts';
import { explainFilters } from './explanation.ts';
import * as templates from './source-templates.ts';

export function offerRoutes(app: FastifyInstance, ctx: TemplatesContext): void {
  serve(app, operations.embeddedSourceTemplates, {
    list: async ({ query, principal }) => {
      const { tags = [], tags_mode: mode = 'all' } = query;
      const { organizationId, templateFilters } = principal;
      const offered = await templates.listOfferedSourceTemplates(ctx, organizationId, templateFilters, { tags, mode });
      return { data: offered.map((template) => templates.presentOffer(ctx, template)) };
    },

    get: async ({ params, principal }) => {
      const { organizationId, templateFilters } = principal;
      const { source_template_id: id } = params;
      const template = await templates.findOfferedSourceTemplate(ctx, organizationId, id, templateFilters);
      if (!template) throw new AppError('source_template_not_found');
      return await templates.presentOffered(ctx, template);
    },
  });

  serve(app, operations.sourceTemplates, {
    explainFilters: ({ body, principal }) => explainFilters(ctx, principal.organizationId, filtersOf(body)),
  });
}
