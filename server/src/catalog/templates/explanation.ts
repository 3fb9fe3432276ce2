/** Says for every template whether a token with the given filters may use it, and by which rule. */
import type { TemplateExplanation } from '@inlay/contract/catalog/template-filters';
import type { TemplateFilters } from '../../kernel/principals.ts';
import type { TemplatesContext } from './context.ts';
import { connectionFilterOf, judge, sourceFilterOf, type TagFilter } from './filtering.ts';
import { listTemplates } from './templates.ts';

export async function explainFilters(
  ctx: TemplatesContext,
  organizationId: string,
  filters: TemplateFilters,
): Promise<TemplateExplanation> {
  const sources = await listTemplates(ctx, 'source', organizationId);
  const connections = await listTemplates(ctx, 'connection', organizationId);
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
