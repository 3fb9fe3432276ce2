/**
 * The table of operations: every request of the API. The server registers its routes from it, the OpenAPI document and
 * `/docs` are generated from it, and console and widget derive their request types from it.
 */
import * as audit from './operations/audit.ts';
import * as connectionTemplates from './operations/connection-templates.ts';
import * as connections from './operations/connections.ts';
import * as console from './operations/console.ts';
import * as credentials from './operations/credentials.ts';
import * as definitions from './operations/definitions.ts';
import * as destinations from './operations/destinations.ts';
import * as events from './operations/events.ts';
import * as oauthClients from './operations/oauth-clients.ts';
import * as operating from './operations/operating.ts';
import * as operatorTokens from './operations/operator-tokens.ts';
import * as quotas from './operations/quotas.ts';
import * as signIns from './operations/sign-ins.ts';
import * as sourceTemplates from './operations/source-templates.ts';
import * as sources from './operations/sources.ts';
import * as templateTags from './operations/template-tags.ts';
import * as tokens from './operations/tokens.ts';
import * as webhookEndpoints from './operations/webhook-endpoints.ts';
import * as workers from './operations/workers.ts';
import * as workspaces from './operations/workspaces.ts';

export const operations = {
  ...audit,
  ...connectionTemplates,
  ...connections,
  ...console,
  ...credentials,
  ...definitions,
  ...destinations,
  ...events,
  ...oauthClients,
  ...operating,
  ...operatorTokens,
  ...quotas,
  ...signIns,
  ...sourceTemplates,
  ...sources,
  ...templateTags,
  ...tokens,
  ...webhookEndpoints,
  ...workers,
  ...workspaces,
};
