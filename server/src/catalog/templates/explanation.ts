/** Says for every template whether a token with the given filters may use it, and by which rule. */
import type { TemplateExplanation } from '@inlay/contract/template-filters';
import type { TemplateFilters } from '../principals.ts';
import { listMatchingConnectionTemplates } from './connection-templates.ts';
import type { TemplatesContext } from './context.ts';
import { connectionFilterOf, judge, sourceFilterOf, type TagFilter } from './filtering.ts';
import { listSourceTemplates } from './source-templates.ts';

export async function explainFilters(
  ctx: TemplatesContext,
  organizationId: string,
  filters: TemplateFilters,
): Promise<TemplateExplanation> {
  const sources = await listSourceTemplates(ctx, organizationId);
  const connections = await listMatchingConnectionTemplates(ctx, organizationId);
  return {
    source_templates: sources.map((template) => explain(template, sourceFilterOf(filters))),
    connection_templates: connections.map(({ destination_name: name, ...template }) =>
      explain({ ...template, name }, connectionFilterOf(filters)),
    ),
  };
}

function explain({ id, name, tags }: { id: string; name: string; tags: string[] }, filter: TagFilter) {
  const { shown, rule, matchingTags, missingTags } = judge(tags, filter);
  return { id, name, shown, rule, matching_tags: matchingTags, missing_tags: missingTags };
}
