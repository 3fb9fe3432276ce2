/* All components of the language that this engine knows. */
import type { ComponentDefinition } from './component.ts';
import { asyncRetrieverComponents } from './components/async-retriever.ts';
import { authenticatorComponents } from './components/authenticators.ts';
import { callBudgetComponents } from './components/call-budget.ts';
import { configRuleComponents } from './components/config-rules.ts';
import { customComponents } from './components/custom.ts';
import { dateCursorComponents } from './components/date-cursors.ts';
import { decoderComponents } from './components/decoders.ts';
import { dynamicStreamComponents } from './components/dynamic-streams.ts';
import { errorHandlerComponents } from './components/error-handlers.ts';
import { jwtComponents } from './components/jwt.ts';
import { keyTransformationComponents } from './components/key-transformations.ts';
import { morePartitionComponents } from './components/more-partitions.ts';
import { oauthComponents } from './components/oauth.ts';
import { pageSizeComponents } from './components/page-size.ts';
import { paginationComponents } from './components/pagination.ts';
import { partitionComponents } from './components/partitions.ts';
import { queryPropertyComponents } from './components/query-properties.ts';
import { recordExpanderComponents } from './components/record-expander.ts';
import { requestBodyComponents } from './components/request-bodies.ts';
import { requestOptionComponents } from './components/request-options.ts';
import { requesterComponents } from './components/requester.ts';
import { retrieverComponents } from './components/retriever.ts';
import { schemaComponents } from './components/schemas.ts';
import { selectionComponents } from './components/selection.ts';
import { sessionTokenComponents } from './components/session-tokens.ts';
import { sourceComponents } from './components/source.ts';
import { streamComponents } from './components/streams.ts';
import { tokenQuotaComponents } from './components/token-quotas.ts';
import { transformationComponents } from './components/transformations.ts';
import { ownDefinitionOf } from './own-classes.ts';

export const componentDefinitions: readonly ComponentDefinition[] = [
  ...sourceComponents,
  ...streamComponents,
  ...retrieverComponents,
  ...asyncRetrieverComponents,
  ...requesterComponents,
  ...queryPropertyComponents,
  ...requestBodyComponents,
  ...requestOptionComponents,
  ...authenticatorComponents,
  ...oauthComponents,
  ...sessionTokenComponents,
  ...jwtComponents,
  ...tokenQuotaComponents,
  ...errorHandlerComponents,
  ...callBudgetComponents,
  ...paginationComponents,
  ...pageSizeComponents,
  ...selectionComponents,
  ...decoderComponents,
  ...transformationComponents,
  ...keyTransformationComponents,
  ...partitionComponents,
  ...morePartitionComponents,
  ...recordExpanderComponents,
  ...configRuleComponents,
  ...dateCursorComponents,
  ...schemaComponents,
  ...dynamicStreamComponents,
  ...customComponents,
];

const byName = new Map(componentDefinitions.map((definition) => [definition.name, definition]));

export function definitionOf(name: string): ComponentDefinition | undefined {
  return ownDefinitionOf(name) ?? byName.get(name);
}
