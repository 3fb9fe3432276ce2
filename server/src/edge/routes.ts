/** All routes of the service on one server, and what happens to a request before it reaches a route. */
import { platformApi } from '@inlay/platform/api';
import type { FastifyInstance } from 'fastify';
import { auditRoutes } from './audit/audit.routes.ts';
import { recordRefusals } from './audit/refusals.hooks.ts';
import { builtFolder } from './built-folder.ts';
import { platformPath } from './bundled-platform.ts';
import type { Config } from './config.ts';
import { readBuiltConsole } from './console/built-console.ts';
import { createConsoleRequests } from './console/console.hooks.ts';
import { consoleRoutes } from './console/console.routes.ts';
import { oidcRoutes } from './console/oidc.routes.ts';
import { consoleSessionRoutes } from './console/sessions.routes.ts';
import { viewTokenRoutes } from './console/view-tokens.routes.ts';
import { definitionRoutes } from './definitions/definitions.routes.ts';
import { ownVersionRoutes } from './definitions/own-versions.routes.ts';
import { serviceHealthRoutes } from './deployment/service-health.routes.ts';
import { eventRoutes } from './events/events.routes.ts';
import { causedBy } from './events/journal.ts';
import { healthRoutes, type Readiness } from './http/health.routes.ts';
import { keepRouteTable, type RouteTable } from './http/route-table.ts';
import { keepAnswers } from './idempotency/idempotency.hooks.ts';
import { oauthClientRoutes } from './oauth/clients.routes.ts';
import { credentialRoutes } from './oauth/credentials.routes.ts';
import { signInRoutes } from './oauth/flows.routes.ts';
import { signInLinkRoutes } from './oauth/links.routes.ts';
import { signInPages } from './oauth/pages.routes.ts';
import { oauthTestRoutes } from './oauth/test-flows.routes.ts';
import { findOrganization } from './organizations/organizations.ts';
import type { Parts } from './parts.ts';
import { applyTemplatesRoutes } from './pipelines/apply-templates.routes.ts';
import { causeRetryRoutes } from './pipelines/cause-retries.routes.ts';
import { destinationCheckRoutes } from './pipelines/destination-checks.routes.ts';
import { operatingRoutes } from './pipelines/operating.routes.ts';
import { pipelineRoutes } from './pipelines/pipelines.routes.ts';
import { planRoutes } from './pipelines/plans.routes.ts';
import { rolloutRoutes } from './pipelines/rollouts.routes.ts';
import { streamDiscoveryRoutes } from './pipelines/stream-discovery.routes.ts';
import { quotaRoutes } from './quotas/quotas.routes.ts';
import { describeRoutes, referenceRoutes } from './reference/reference.routes.ts';
import type { Runtime } from './runtime.ts';
import { connectionTemplateRoutes } from './templates/connection-templates.routes.ts';
import { offerRoutes } from './templates/offers.routes.ts';
import { sourceTemplateRoutes } from './templates/source-templates.routes.ts';
import { tagRoutes } from './templates/tags.routes.ts';
import { versionRoutes } from './templates/versions.routes.ts';
import { authenticateRequests } from './tokens/authentication.hooks.ts';
import { operatorTokenRoutes } from './tokens/operator-tokens.routes.ts';
import { limitRates } from './tokens/rate-limits.hooks.ts';
import { tokenRoutes } from './tokens/tokens.routes.ts';
import { version } from './version.ts';
import { webhookRoutes } from './webhooks/webhook-endpoints.routes.ts';
import { readBuiltFiles } from './widget/built-files.ts';
import { widgetRoutes } from './widget/widget.routes.ts';
import { findOldestWorkspaceId } from './workspaces/live-workspaces.ts';
import { ensureTokenSubject, getTokenSubject } from './workspaces/token-subject.ts';
import { workspaceRoutes } from './workspaces/workspaces.routes.ts';
import { isLiveWorkspace } from './workspaces/workspaces.ts';

interface RouteOptions {
  parts: Parts;
  config: Config;
  runtime: Runtime;
  readiness(): Promise<Readiness>;
  /** Routes beside those of the service itself. */
  addMore(http: FastifyInstance): void;
}

export async function addRoutes(
  http: FastifyInstance,
  { parts, config, runtime, readiness, addMore }: RouteOptions,
): Promise<RouteTable> {
  const { operatorTokens, scopedTokens, widgetTokens, keys, workspaces, templates, pipelines, definitions, bundled } =
    parts;
  const { publicUrl } = config;
  const routeTable = keepRouteTable(http);
  await describeRoutes(http, publicUrl, version);
  const { consoleSessions } = parts;
  const consoleRequests =
    config.console && createConsoleRequests({ sessions: consoleSessions, publicUrl, settings: config.console });
  const reauthenticate = authenticateRequests(http, {
    operatorTokens,
    scopedTokens,
    publicUrl,
    console: consoleRequests,
  });
  recordRefusals(http, parts.refusals);
  limitRates(http, config.rateLimits, runtime.elapsed);
  keepAnswers(http, parts.idempotency);
  tokenRoutes(http, {
    scopedTokens,
    widgetTokens,
    keys,
    ensureSubject: (organizationId, name, regionId, cause) =>
      ensureTokenSubject(causedBy(workspaces, cause), { organizationId, name, regionId }),
  });
  operatorTokenRoutes(http, operatorTokens);
  consoleSessionRoutes(http, consoleSessions);
  viewTokenRoutes(http, {
    store: parts.store,
    journal: parts.journal,
    widgetTokens,
    subjectOf: (organizationId, id) => getTokenSubject(workspaces, organizationId, id),
  });
  workspaceRoutes(http, workspaces, publicUrl);
  quotaRoutes(http, workspaces, publicUrl);
  pipelineRoutes(http, pipelines);
  destinationCheckRoutes(http, pipelines);
  streamDiscoveryRoutes(http, pipelines);
  eventRoutes(http, parts.events, reauthenticate);
  auditRoutes(http, parts.audit, parts.organization.id);
  webhookRoutes(http, parts.webhooks, publicUrl);
  oauthClientRoutes(http, parts.oauth);
  credentialRoutes(http, parts.oauth);
  signInRoutes(http, parts.signIns, reauthenticate);
  signInLinkRoutes(http, parts.signIns);
  oauthTestRoutes(http, parts.signIns, (organizationId) => findOldestWorkspaceId(parts.store, organizationId));
  await http.register(signInPages(parts.signIns));
  operatingRoutes(http, pipelines, config.publicUrl);
  definitionRoutes(http, { ...parts.ownDefinitions, definitions, publicUrl });
  ownVersionRoutes(http, parts.ownDefinitions);
  tagRoutes(http, templates);
  sourceTemplateRoutes(http, templates);
  connectionTemplateRoutes(http, templates);
  versionRoutes(http, templates);
  causeRetryRoutes(http, pipelines);
  rolloutRoutes(http, pipelines);
  planRoutes(http, pipelines);
  applyTemplatesRoutes(http, pipelines);
  offerRoutes(http, templates);
  const files = readBuiltFiles(builtFolder);
  widgetRoutes(http, {
    widgetTokens,
    frameProofs: parts.frameProofs,
    isLive: (id) => isLiveWorkspace(workspaces, id),
    files,
    consoleOrigin: config.console && new URL(publicUrl).origin,
  });
  if (consoleRequests) {
    consoleRoutes(http, {
      store: parts.store,
      sessions: consoleSessions,
      requests: consoleRequests,
      operatorTokens,
      organizationName: async (id) => (await findOrganization(parts.store, id))?.name ?? '',
      // Whoever else shares the deployment has another system.
      customerUrl: (id) => (id === parts.organization.id ? config.console?.customerUrl : undefined),
      files: readBuiltConsole(builtFolder),
      publicUrl,
      elapsed: runtime.elapsed,
      badToken: parts.refusals.badToken,
      hasOidc: parts.oidcSignIns !== undefined,
    });
    if (parts.oidcSignIns) {
      oidcRoutes(http, {
        signIns: parts.oidcSignIns,
        requests: consoleRequests,
        publicUrl,
        elapsed: runtime.elapsed,
      });
    }
  }
  serviceHealthRoutes(http, parts.serviceHealth);
  healthRoutes(http, readiness);
  addMore(http);
  referenceRoutes(http, files.referenceScript);
  if (bundled) await http.register(platformApi(bundled.platform), { prefix: platformPath });
  routeTable.complete();
  return routeTable;
}
