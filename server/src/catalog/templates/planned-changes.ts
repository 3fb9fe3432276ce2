/** The state of a template after a change, for plans and previews. */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { TemplateKind } from '../../kernel/db/tables.ts';
import type { TemplateRef } from '../../kernel/template-ref.ts';
import type { Definition } from '../definitions/definition.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { openConfiguration } from '../definitions/sealed-configuration.ts';
import type { TemplatesContext } from './context.ts';
import { sortedTags } from './tags.ts';
import {
  type Content,
  connectorOf,
  getTemplate,
  type TemplateRow,
  type TemplateRules,
  type UpdateRequest,
} from './templates.ts';

export interface TemplateState<Content> {
  content: Content;
  configuration: Configuration;
}

export interface Preview<Content> {
  definition: Definition;
  /** The newest version of the template, before the change. */
  version: number;
  before: TemplateState<Content>;
  after: TemplateState<Content>;
}

/** A change is refused for the same reasons as when it is made. Changes nothing, and tests no destination. */
export async function previewTemplate<Kind extends TemplateKind>(
  ctx: TemplatesContext,
  rules: TemplateRules<Kind>,
  ref: TemplateRef<Kind>,
  request: UpdateRequest<Kind>,
): Promise<Preview<Content<Kind>>> {
  const row = await getTemplate(ctx, ref);
  const definition = await getDefinition(ctx, connectorOf(rules.kind, row));
  const changes = await rules.changesTo(ctx, ctx.store.db, row, { definition, request });
  const stateOf = (state: TemplateRow<Kind>, tags: string[]) => ({
    content: rules.contentOf(state, tags),
    configuration: openConfiguration(ctx.sealer, `${rules.kind} template`, row.id, rules.sealedIn(state)),
  });
  return {
    definition,
    version: row.version,
    before: stateOf(row, row.tags),
    after: stateOf({ ...row, ...changes }, request.tags ? sortedTags(request.tags) : row.tags),
  };
}
