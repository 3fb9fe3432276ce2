/**
 * The composition root: puts the service together from its parts, in the order they depend on each other, and takes it
 * apart again. No container, no decorators: what something needs, it is given here. Tests call `createApp` with a fixed
 * clock or another transport and use the app without a port.
 */
import { formats } from '@inlay/contract/formats';
import { platformApi } from '@inlay/platform/api';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createBackground, repeatedly } from './background.ts';
import { builtFolder } from './built-folder.ts';
import {
  type BundledPlatform,
  openBundledPlatform,
  type PlatformCredentials,
  platformCredentials,
  platformPath,
} from './bundled-platform.ts';
import type { Config, Secrets } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { migrate } from './db/migrations.ts';
import { openPostgres, openSqlite, type Store } from './db/open.ts';
import type { OrganizationRow } from './db/tables.ts';
import { definitionRoutes } from './definitions/definitions.routes.ts';
import { openDefinitions } from './definitions/open.ts';
import { openSealer } from './encryption-keys.ts';
import { OperatorError } from './errors.ts';
import { healthRoutes, type Readiness } from './http/health.routes.ts';
import { metricsRoutes } from './http/metrics.routes.ts';
import { keepRouteTable, type RouteTable } from './http/route-table.ts';
import { createServer } from './http/server.ts';
import { createPartCompiler } from './http/validation.ts';
import { createLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { ensureFirstOrganization, platformOrganizationIds } from './organizations/organizations.ts';
import { createCheckHousekeeping } from './pipelines/check-housekeeping.worker.ts';
import type { PipelinesContext } from './pipelines/context.ts';
import { pipelineRoutes } from './pipelines/pipelines.routes.ts';
import { createSetUps, type SetUps } from './pipelines/set-ups.worker.ts';
import { propagateTemplate, recordContentsDeleted } from './pipelines/sources.ts';
import { createPlatformClient } from './platform/platform-client.ts';
import type { PlatformPort } from './platform/platform-port.ts';
import { httpTransport, inProcessTransport, type Transport } from './platform/transport.ts';
import { describeRoutes, referenceRoutes } from './reference/reference.routes.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import type { Sealer } from './sealing.ts';
import { connectionTemplateRoutes } from './templates/connection-templates.routes.ts';
import type { TemplatesContext } from './templates/context.ts';
import { quartzFormat } from './templates/cron.ts';
import { offerRoutes } from './templates/offers.routes.ts';
import { sourceTemplateRoutes } from './templates/source-templates.routes.ts';
import { tagRoutes } from './templates/tags.routes.ts';
import { authenticateRequests } from './tokens/authentication.hooks.ts';
import { operatorTokenRoutes } from './tokens/operator-tokens.routes.ts';
import { createOperatorTokens, type OperatorTokens } from './tokens/operator-tokens.ts';
import { limitRates } from './tokens/rate-limits.hooks.ts';
import { createRevocationHousekeeping } from './tokens/revocation-housekeeping.worker.ts';
import { createScopedTokens } from './tokens/scoped-tokens.ts';
import { openSigningKeys } from './tokens/signing-keys.ts';
import { tokenRoutes } from './tokens/tokens.routes.ts';
import { createWidgetTokens } from './tokens/widget-tokens.ts';
import { version } from './version.ts';
import { readBuiltFiles } from './widget/built-files.ts';
import { widgetRoutes } from './widget/widget.routes.ts';
import type { WorkspacesContext } from './workspaces/context.ts';
import { ensureWorkspace } from './workspaces/creation.ts';
import { cursorFormat } from './workspaces/cursor.ts';
import { JoinableWork } from './workspaces/joinable-work.ts';
import { createReconciler, type Reconciler } from './workspaces/reconciler.worker.ts';
import { workspaceRoutes } from './workspaces/workspaces.routes.ts';
import { isLiveWorkspace } from './workspaces/workspaces.ts';

export interface Overrides {
  runtime?: Runtime;
  log?: Logger;
  /** Wraps the way to the platform, for tests that want it to fail. */
  wrapTransport?: (transport: Transport) => Transport;
}

export interface App {
  http: FastifyInstance;
  store: Store;
  organization: OrganizationRow;
  operatorTokens: OperatorTokens;
  /**
   * Makes the first operator token if there is none yet, and gives it: it is stored nowhere, so call this only when it can
   * be shown.
   */
  makeFirstOperatorToken(): Promise<string | undefined>;
  reconciler: Reconciler;
  setUps: SetUps;
  /** Does what is otherwise done every minute. */
  keepHouse(): Promise<void>;
  routeTable: RouteTable;
  /** Starts listening and working in the background. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** How long a start waits for the platform. */
const platformPatienceMs = 5_000;
const housekeepingEveryMs = 60_000;
const shutdownPatienceMs = 5_000;

export async function createApp(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<App> {
  const runtime = overrides.runtime ?? systemRuntime;
  const log = overrides.log ?? createLog(config.logLevel);
  const metrics = createMetrics();
  const dataDir = openDataDir(config.dataDir);
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };

  try {
    const store = openStore(config, secrets, { runtime, log });
    closing.push(() => store.close());
    await migrate(store);

    const organization = await ensureFirstOrganization(store, runtime, {
      id: config.organizationId,
      platformOrganizationId: config.platformOrganizationId,
    });
    const operatorTokens = createOperatorTokens(store, runtime);
    if (secrets.operatorToken !== undefined) {
      await operatorTokens.provide(organization.id, 'environment', secrets.operatorToken);
    }

    const sealer = openSealer(secrets, dataDir);
    const keys = await openSigningKeys({ store, sealer, runtime, log });
    closing.push(() => keys.stop());
    const { publicUrl, vendor, scopedTokenTtlSeconds: ttlSeconds } = config;
    const scopedTokens = createScopedTokens({ store, keys, runtime, issuer: publicUrl, vendor, ttlSeconds });
    const widgetTokens = createWidgetTokens(scopedTokens, keys, publicUrl);

    const { bundled, platform, platformState } = await openPlatformClient(config, secrets, {
      dataDir,
      runtime,
      metrics,
      log,
      sealer,
      ...overrides,
      organizationId: organization.platform_organization_id,
    });
    closing.push(() => platform.close());
    if (bundled) closing.push(() => bundled.close());

    const workspaces: WorkspacesContext = {
      store,
      platform,
      runtime,
      log,
      settleMs: config.settleMs,
      platformOrganizationId: platformOrganizationIds(store),
      count: metrics.workspaceEvent,
      joinable: new JoinableWork(),
      recordContentsDeleted,
      tokensEnded: scopedTokens.forget,
    };
    const definitions = openDefinitions({
      platform,
      isBundled: bundled !== undefined,
      registry: config.connectorRegistry,
      cacheFile: dataDir.path('connector-registry.json'),
      runtime,
      log,
    });
    const templates: TemplatesContext = {
      store,
      runtime,
      log,
      sealer,
      definitions,
      publicUrl,
      propagate: propagateTemplate,
    };
    const background = createBackground({ runtime, log });
    const pipelines: PipelinesContext = {
      store,
      platform,
      runtime,
      log,
      sealer,
      settleMs: config.settleMs,
      templates,
      workspaces,
      inBackground: background.run,
    };
    const setUps = createSetUps(pipelines);
    const reconciler = createReconciler(workspaces);
    metrics.watchBacklog(async () => ({ ...(await reconciler.backlog()), sources: await setUps.backlog() }));

    let shuttingDown = false;
    const readiness = async (): Promise<Readiness> => {
      const database = await store.now().then(
        () => 'ok',
        () => 'the database does not answer',
      );
      const service = shuttingDown ? 'shutting down' : 'ok';
      // A platform that is away does not make us unready: tokens for known workspaces are issued all the same.
      return {
        ready: database === 'ok' && service === 'ok',
        checks: { service, database, platform: platformState() },
      };
    };

    const serverOptions = {
      log,
      metrics,
      trustedProxies: config.trustedProxies,
      maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    };
    const compilePart = createPartCompiler({ ...formats, cursor: cursorFormat, quartz: quartzFormat });
    const http = createServer({ ...serverOptions, compilePart });
    const metricsServer =
      config.metrics.port === undefined ? undefined : createServer({ ...serverOptions, compilePart });
    const routeTable = keepRouteTable(http);
    await describeRoutes(http, publicUrl, version);
    authenticateRequests(http, { operatorTokens, scopedTokens, publicUrl });
    limitRates(http, config.rateLimits, runtime.elapsed);
    tokenRoutes(http, {
      scopedTokens,
      widgetTokens,
      keys,
      ensureSubject: async (organizationId, name, regionId) => {
        const { id, token_gen } = await ensureWorkspace(workspaces, { organizationId, name, regionId });
        return { organizationId, workspaceId: id, tokenGeneration: token_gen };
      },
    });
    operatorTokenRoutes(http, operatorTokens);
    workspaceRoutes(http, workspaces, publicUrl);
    pipelineRoutes(http, pipelines);
    definitionRoutes(http, { definitions, publicUrl });
    tagRoutes(http, templates);
    sourceTemplateRoutes(http, templates);
    connectionTemplateRoutes(http, templates);
    offerRoutes(http, templates);
    const files = readBuiltFiles(builtFolder);
    widgetRoutes(http, {
      widgetTokens,
      isLive: (id) => isLiveWorkspace(workspaces, id),
      files,
    });
    healthRoutes(http, readiness);
    metricsRoutes(metricsServer ?? http, metrics, secrets.metricsToken);
    referenceRoutes(http, files.referenceScript);
    if (bundled) await http.register(platformApi(bundled.platform), { prefix: platformPath });
    routeTable.complete();

    const chores = [operatorTokens.flushUses, createRevocationHousekeeping(store), createCheckHousekeeping(pipelines)];
    const inBackground = [
      reconciler,
      setUps,
      ...chores.map((work) =>
        repeatedly({ runtime, log }, { what: 'housekeeping', pauseMs: () => housekeepingEveryMs, work }),
      ),
    ];
    return {
      http,
      store,
      organization,
      operatorTokens,
      makeFirstOperatorToken: () => makeFirstOperatorToken(operatorTokens, organization.id),
      reconciler,
      setUps,
      async keepHouse() {
        for (const chore of chores) await chore();
      },
      routeTable,
      async listen() {
        if (!bundled) await refuseMixedOrganizations(platform, organization, runtime, log);
        await http.listen({ host: config.host, port: config.port });
        const { host, port } = config.metrics;
        if (port !== undefined) await metricsServer?.listen({ host, port });
        bundled?.platform.start();
        keys.start();
        for (const work of inBackground) work.start();
      },
      async close() {
        shuttingDown = true;
        await http.close();
        await metricsServer?.close();
        for (const work of inBackground) await work.stop();
        await background.settle(shutdownPatienceMs);
        await operatorTokens.flushUses().catch((err) => log.warn({ err }, 'the last uses of tokens were not recorded'));
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export function openStore(
  config: Config,
  secrets: Secrets,
  { runtime, log, busyTimeoutMs }: { runtime: Runtime; log: Logger; busyTimeoutMs?: number },
): Store {
  if (secrets.databaseUrl !== undefined) {
    const onIdleError = (err: Error) => log.warn({ err }, 'a database connection was lost');
    return openPostgres({ url: secrets.databaseUrl, onIdleError });
  }
  const file = openDataDir(config.dataDir).path('inlay.db');
  return openSqlite({ file, now: runtime.now, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) });
}

async function makeFirstOperatorToken(tokens: OperatorTokens, organizationId: string): Promise<string | undefined> {
  if ((await tokens.list(organizationId)).length > 0) return undefined;
  return (await tokens.create(organizationId, { name: 'first' })).token;
}

interface PlatformParts {
  dataDir: DataDir;
  runtime: Runtime;
  metrics: Metrics;
  log: Logger;
  sealer: Sealer;
  organizationId: string;
  wrapTransport?: Overrides['wrapTransport'];
}

async function openTransport(
  config: Config,
  credentials: PlatformCredentials,
  parts: PlatformParts,
): Promise<{ bundled: BundledPlatform | undefined; transport: Transport }> {
  if (config.platformUrl !== undefined) return { bundled: undefined, transport: httpTransport(config.platformUrl) };
  const bundled = await openBundledPlatform(config, credentials, { ...parts, isInternal: true });
  return { bundled, transport: inProcessTransport(bundled.app, platformPath) };
}

async function openPlatformClient(config: Config, secrets: Secrets, parts: PlatformParts) {
  const { runtime, metrics, log } = parts;
  const credentials = platformCredentials(secrets, parts.dataDir);
  const { bundled, transport } = await openTransport(config, credentials, parts);
  let state = 'ok';
  const platform: PlatformPort = createPlatformClient({
    transport: parts.wrapTransport?.(transport) ?? transport,
    credentials,
    runtime,
    onCall: ({ operation, outcome, durationMs, isRetry, error }) => {
      metrics.platformCall(operation, outcome, durationMs / 1000, isRetry);
      if (outcome !== 'ok') log.warn({ operation, outcome, err: error }, 'a call to the platform failed');
      state = outcome === 'unavailable' || outcome === 'unauthorised' ? outcome : 'ok';
    },
    onBreaker: (open) => {
      metrics.platformBreaker(open);
      if (open) log.warn('the platform keeps failing; until it recovers it is asked only now and then');
      else log.info('the platform has recovered');
    },
  });
  return { bundled, platform, platformState: () => state };
}

/**
 * Stops a start that would take other organizations' workspaces for ours. A platform that does not answer in time holds up
 * nothing: the client looks again before it gives out any workspace, and gives none it cannot tell apart.
 */
async function refuseMixedOrganizations(
  platform: PlatformPort,
  { platform_organization_id: id }: OrganizationRow,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const patience = new AbortController();
  const traits = platform.traits(id).catch((err) => {
    log.warn({ err }, 'the platform cannot be used');
    return undefined;
  });
  const known = await Promise.race([traits, runtime.sleep(platformPatienceMs, patience.signal)]);
  patience.abort();
  if (!known || known.tellsApart) return;
  throw new OperatorError(
    `The platform's credentials can see ${known.organizations.length} organizations, and the platform does not say which ` +
      'of them a workspace belongs to. Set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET to an application ' +
      `of a user who is a member of ${id} only.`,
  );
}
