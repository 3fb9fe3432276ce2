/** All routes of the service on one server, and what happens to a request before it reaches a route. */
import { platformApi } from '@inlay/platform/api';
import type { FastifyInstance } from 'fastify';
import { builtFolder } from '../built-folder.ts';
import { definitionRoutes } from '../catalog/definitions/definitions.routes.ts';
import { ownVersionRoutes } from '../catalog/definitions/own-versions.routes.ts';
import { offerRoutes } from '../catalog/templates/offers.routes.ts';
import { tagRoutes } from '../catalog/templates/tags.routes.ts';
import { versionRoutes } from '../catalog/templates/versions.routes.ts';
import { planRoutes } from '../changes/plans.routes.ts';
import { rolloutRoutes } from '../changes/rollouts.routes.ts';
import { templateRoutes } from '../changes/templates.routes.ts';
import { oauthClientRoutes } from '../credentials/clients/clients.routes.ts';
import { credentialRoutes } from '../credentials/sign-in/credentials.routes.ts';
import { signInRoutes } from '../credentials/sign-in/flows.routes.ts';
import { signInLinkRoutes } from '../credentials/sign-in/links.routes.ts';
import { signInPages } from '../credentials/sign-in/pages.routes.ts';
import { oauthTestRoutes } from '../credentials/sign-in/test-flows.routes.ts';
import { credentialChannelRoutes } from '../credentials/tokens/credential-channel.routes.ts';
import type { Config } from '../kernel/config/config.ts';
import { healthRoutes, type Readiness } from '../kernel/http/health.routes.ts';
import { keepRouteTable, type RouteTable } from '../kernel/http/route-table.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { version } from '../kernel/version.ts';
import { auditRoutes } from '../log/audit/audit.routes.ts';
import { recordRefusals } from '../log/audit/refusals.hooks.ts';
import { eventRoutes } from '../log/events/events.routes.ts';
import { causedBy } from '../log/events/journal.ts';
import { keepAnswers } from '../log/idempotency/idempotency.hooks.ts';
import { webhookRoutes } from '../log/webhooks/webhook-endpoints.routes.ts';
import { causeRetryRoutes } from '../operating/cause-retries.routes.ts';
import { operatingRoutes } from '../operating/operating.routes.ts';
import { workerRoutes } from '../operating/workers.routes.ts';
import { destinationCheckRoutes } from '../pipelines/checks/destination-checks.routes.ts';
import { streamDiscoveryRoutes } from '../pipelines/checks/stream-discovery.routes.ts';
import { pipelineRoutes } from '../pipelines/pipelines.routes.ts';
import { applyTemplatesRoutes } from '../pipelines/sources/apply-templates.routes.ts';
import { findOrganization } from '../tenancy/organizations/organizations.ts';
import { quotaRoutes } from '../tenancy/quotas/quotas.routes.ts';
import { authenticateRequests } from '../tenancy/tokens/authentication.hooks.ts';
import { operatorTokenRoutes } from '../tenancy/tokens/operator-tokens.routes.ts';
import { limitRates } from '../tenancy/tokens/rate-limits.hooks.ts';
import { tokenRoutes } from '../tenancy/tokens/tokens.routes.ts';
import { ensureTokenSubject, getTokenSubject } from '../tenancy/workspaces/token-subject.ts';
import { workspaceRoutes } from '../tenancy/workspaces/workspaces.routes.ts';
import { isLiveWorkspace } from '../tenancy/workspaces/workspaces.ts';
import { platformPath } from './bundled-platform.ts';
import { readBuiltConsole } from './console/built-console.ts';
import { createConsoleRequests, forbidStoring } from './console/console.hooks.ts';
import { consoleRoutes } from './console/console.routes.ts';
import { oidcRoutes } from './console/oidc.routes.ts';
import { consoleSessionRoutes } from './console/sessions.routes.ts';
import { viewTokenRoutes } from './console/view-tokens.routes.ts';
import { serviceHealthRoutes } from './deployment/service-health.routes.ts';
import type { Parts } from './parts.ts';
import { describeRoutes, referenceRoutes } from './reference/reference.routes.ts';
import { readBuiltFiles } from './widget/built-files.ts';
import { widgetRoutes } from './widget/widget.routes.ts';

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
  forbidStoring(http);
  const { consoleSessions } = parts;
  const consoleRequests =
    config.console && createConsoleRequests({ sessions: consoleSessions, publicUrl, settings: config.console });
  const reauthenticate = authenticateRequests(http, {
    operatorTokens,
    scopedTokens,
    publicUrl,
    console: consoleRequests,
    count: limitRates(config.rateLimits, runtime.elapsed),
  });
  recordRefusals(http, parts.refusals);
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
  if (parts.channelApplication) {
    credentialChannelRoutes(http, { oauth: parts.oauth, application: parts.channelApplication });
  }
  signInRoutes(http, parts.signIns, reauthenticate);
  signInLinkRoutes(http, parts.signIns);
  oauthTestRoutes(http, parts.signIns);
  await http.register(signInPages(parts.signIns));
  operatingRoutes(http, pipelines, config.publicUrl);
  definitionRoutes(http, { ...parts.ownDefinitions, definitions, publicUrl });
  ownVersionRoutes(http, parts.ownDefinitions);
  tagRoutes(http, templates);
  templateRoutes(http, pipelines);
  versionRoutes(http, templates);
  causeRetryRoutes(http, pipelines);
  workerRoutes(http, {
    ...pipelines,
    firstOrganizationId: parts.organization.id,
    workerUrl: config.platformUrl ?? publicUrl + platformPath,
  });
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
      // Other organizations of the deployment have their own systems.
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
