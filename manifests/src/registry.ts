/* All components of the language that this engine knows. */

import { authenticatorComponents } from './authentication/authenticators.ts';
import { jwtComponents } from './authentication/jwt.ts';
import { oauthComponents } from './authentication/oauth.ts';
import { sessionTokenComponents } from './authentication/session-tokens.ts';
import type { ComponentDefinition } from './component.ts';
import { asyncRetrieverComponents } from './components/async-retriever.ts';
import { configRuleComponents } from './components/config-rules.ts';
import { customComponents } from './components/custom.ts';
import { dateCursorComponents } from './components/date-cursors.ts';
import { decoderComponents } from './components/decoders.ts';
import { dynamicStreamComponents } from './components/dynamic-streams.ts';
import { keyTransformationComponents } from './components/key-transformations.ts';
import { morePartitionComponents } from './components/more-partitions.ts';
import { partitionComponents } from './components/partitions.ts';
import { queryPropertyComponents } from './components/query-properties.ts';
import { recordExpanderComponents } from './components/record-expander.ts';
import { retrieverComponents } from './components/retriever.ts';
import { schemaComponents } from './components/schemas.ts';
import { selectionComponents } from './components/selection.ts';
import { sourceComponents } from './components/source.ts';
import { streamComponents } from './components/streams.ts';
import { transformationComponents } from './components/transformations.ts';
import { ownDefinitionOf } from './own-classes.ts';
import { callBudgetComponents } from './requests/call-budget.ts';
import { errorHandlerComponents } from './requests/error-handlers.ts';
import { pageSizeComponents } from './requests/page-size.ts';
import { paginationComponents } from './requests/pagination.ts';
import { requestBodyComponents } from './requests/request-bodies.ts';
import { requestOptionComponents } from './requests/request-options.ts';
import { requesterComponents } from './requests/requester.ts';
import { tokenQuotaComponents } from './requests/token-quotas.ts';

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
