/**
 * The composition root: puts the service together from its parts and its routes, starts it and takes it apart again. No
 * container, no decorators: each part gets what it needs as arguments. Tests call `createApp` with a fixed clock or
 * another transport and use the app without a port.
 */
import { formats } from '@inlay/contract/text/formats';
import { StorageState } from '@inlay/database/storage-state';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createTellingOfRegistered } from '../catalog/definitions/registered-changes.ts';
import { quartzFormat } from '../catalog/templates/cron.ts';
import { createSecretWarnings } from '../credentials/clients/secret-warnings.worker.ts';
import type { ProviderNetwork } from '../credentials/provider/network.ts';
import { createSignInHousekeeping } from '../credentials/sign-in/flows.worker.ts';
import { createUnusedCredentialHousekeeping } from '../credentials/tokens/unused-credentials.worker.ts';
import { repeatedly } from '../kernel/background.ts';
import type { Config, Secrets } from '../kernel/config/config.ts';
import { listCursorFormat, placeCursorFormat } from '../kernel/db/list-cursor.ts';
import type { Store } from '../kernel/db/open.ts';
import type { OrganizationRow } from '../kernel/db/tables.ts';
import { replyToUnknownPaths } from '../kernel/http/error-reply.ts';
import type { Readiness } from '../kernel/http/health.routes.ts';
import { metricsRoutes } from '../kernel/http/metrics.routes.ts';
import type { RouteTable } from '../kernel/http/route-table.ts';
import { createServer } from '../kernel/http/server.ts';
import { createPartCompiler } from '../kernel/http/validation.ts';
import type { Transport } from '../kernel/platform/transport.ts';
import { type Runtime, systemRuntime } from '../kernel/runtime.ts';
import { createLog } from '../kernel/telemetry/log.ts';
import { createMetrics } from '../kernel/telemetry/metrics.ts';
import type { Tracer } from '../kernel/telemetry/tracing.ts';
import { createCheckpoints } from '../log/audit/checkpoints.worker.ts';
import { createTrailRetention } from '../log/audit/retention.worker.ts';
import { createEventRetention } from '../log/events/sequencer.worker.ts';
import { createCheckHousekeeping } from '../pipelines/checks/check-housekeeping.worker.ts';
import type { OperatorTokens } from '../tenancy/tokens/operator-tokens.ts';
import { cursorFormat } from '../tenancy/workspaces/cursor.ts';
import { notedChanges } from './bundled-platform.ts';
import { rewriteConsoleUrl } from './console/console.hooks.ts';
import { makeConsoleLink } from './console/links.ts';
import { createHousekeeping } from './housekeeping.worker.ts';
import { refuseMixedOrganizations } from './open-platform-client.ts';
import { openTracer } from './open-tracer.ts';
import { openParts, type Parts, type Workers } from './parts.ts';
import { addRoutes } from './routes.ts';

export interface Overrides {
  runtime?: Runtime;
  log?: Logger;
  /** Whether the stores accept writes; given where the log has to know it, too. */
  storage?: StorageState;
  tracer?: Tracer;
  /** Wraps the transport to the platform, for tests that need it to fail. */
  wrapTransport?: (transport: Transport) => Transport;
  /** Wraps the network to providers of OAuth, for tests that answer in their place. */
  wrapProviders?: (network: ProviderNetwork) => ProviderNetwork;
  /** How long a customer who comes back from a provider waits for the next page. */
  signInPatienceMs?: number;
}

export interface App {
  http: FastifyInstance;
  store: Store;
  organization: OrganizationRow;
  operatorTokens: OperatorTokens;
  /**
   * Makes the first operator token if there is none yet, and returns it. The token is stored nowhere, so call this only
   * when it can be shown.
   */
  makeFirstOperatorToken(): Promise<string | undefined>;
  /** Makes a one-time link to the console for the first organization, with every permission. */
  makeConsoleLink(): Promise<{ url: string; expiresAt: number }>;
  workers: Workers;
  /** Does now the work that otherwise runs every minute. */
  keepHouse(): Promise<void>;
  routeTable: RouteTable;
  /** Starts listening and working in the background. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** Shared by the apps of a process: tests start hundreds. */
const compilePart = createPartCompiler({
  ...formats,
  cursor: cursorFormat,
  'list-cursor': listCursorFormat,
  'place-cursor': placeCursorFormat,
  quartz: quartzFormat,
});

const housekeepingEveryMs = 60_000;
const shutdownPatienceMs = 5_000;

export async function createApp(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<App> {
  const runtime = overrides.runtime ?? systemRuntime;
  const storage = overrides.storage ?? new StorageState(runtime);
  const log = overrides.log ?? createLog(config.logLevel, undefined, storage.isKnown);
  storage.logTo(log);
  const metrics = createMetrics();
  const tracer = overrides.tracer ?? (await openTracer(config, secrets, { runtime, log }));
  const closing: (() => Promise<void>)[] = [() => tracer.close(), async () => storage.close()];
  /** Every step is taken, whatever became of the others: what stays open would keep the process from ending. */
  const close = async () => {
    const failures: unknown[] = [];
    for (const step of closing.splice(0).reverse()) await step().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };

  try {
    const parts = await openParts(config, secrets, {
      runtime,
      log,
      storage,
      metrics,
      tracer,
      wrapTransport: overrides.wrapTransport,
      wrapProviders: overrides.wrapProviders,
      signInPatienceMs: overrides.signInPatienceMs,
      onClose: (step) => closing.push(step),
    });
    const { store, organization, operatorTokens, keys, bundled, platform, workers } = parts;

    let shuttingDown = false;
    const serverOptions = {
      log,
      metrics,
      tracer,
      compilePart,
      trustedProxies: config.trustedProxies,
      maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    };
    const http = createServer({ ...serverOptions, rewriteUrl: config.console && rewriteConsoleUrl });
    const metricsServer = config.metrics.port === undefined ? undefined : createServer(serverOptions);
    const addMetrics = (server: FastifyInstance) => metricsRoutes(server, metrics, secrets.metricsToken);
    if (metricsServer) {
      replyToUnknownPaths(metricsServer);
      addMetrics(metricsServer);
    }
    const routeTable = await addRoutes(http, {
      parts,
      config,
      runtime,
      readiness: () => readinessOf(parts, storage, shuttingDown),
      addMore: (server) => metricsServer ?? addMetrics(server),
    });

    const chores = [
      operatorTokens.flushUses,
      createCheckHousekeeping(parts.pipelines),
      createCheckpoints(parts.audit),
      createEventRetention(parts.events, config.eventsMs),
      createTrailRetention(parts.audit, config),
      parts.refusals.flush,
      createSignInHousekeeping(parts.oauth),
      createUnusedCredentialHousekeeping(parts.oauth),
      createSecretWarnings(parts.oauth),
      createTellingOfRegistered(parts.audit, bundled && notedChanges(bundled.platform)),
      createHousekeeping(store, {
        jobsMs: config.jobHistoryMs,
        jobLogsMs: config.jobLogMs,
        deliveriesMs: config.webhooks.historyMs,
      }),
    ];
    const inBackground = [
      ...Object.values(workers),
      ...chores.map((work) =>
        repeatedly({ runtime, log }, { what: 'Housekeeping', pauseMs: () => housekeepingEveryMs, work }),
      ),
    ];
    return {
      http,
      store,
      organization,
      operatorTokens,
      makeFirstOperatorToken: () => makeFirstOperatorToken(operatorTokens, organization.id),
      makeConsoleLink: () =>
        makeConsoleLink(
          { store, runtime, journal: parts.journal, publicUrl: config.publicUrl },
          { organizationId: organization.id, permission: 'full', label: 'first start' },
        ),
      workers,
      async keepHouse() {
        for (const chore of chores) await chore();
      },
      routeTable,
      async listen() {
        if (!bundled) await refuseMixedOrganizations(platform, organization, runtime, log);
        // Asked early, so that the answer is there when the first template needs it.
        parts.templates.tokenOwner.current();
        // Before the first request: a rotation of the encryption key must know of everybody who seals.
        await workers.presence.tell();
        await http.listen({ host: config.host, port: config.port });
        const { host, port } = config.metrics;
        if (port !== undefined) await metricsServer?.listen({ host, port });
        bundled?.platform.start();
        keys.start();
        for (const work of inBackground) work.start();
      },
      async close() {
        shuttingDown = true;
        // A connector may take minutes to respond. Work that waits for one is stored, and clients are asked to retry.
        platform.endQuestions();
        bundled?.platform.endQuestions();
        await http.close();
        await metricsServer?.close();
        // Work that waits for its turn is not begun any more. It is on disk, and the next start takes it up.
        for (const queue of Object.values(parts.pipelines.turns)) queue.close();
        await Promise.all(inBackground.map((work) => work.stop()));
        // What cannot be written now is taken up at the next start, like all work in the background.
        await parts.background.settle(storage.fault ? 0 : shutdownPatienceMs);
        await parts.refusals.flush().catch((err) => log.warn({ err }, 'Failed to record the latest refused requests'));
        await operatorTokens.flushUses().catch((err) => log.warn({ err }, 'Failed to record the latest token uses'));
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readinessOf(
  { store, platformTrouble, syncsState }: Parts,
  storage: StorageState,
  shuttingDown: boolean,
): Promise<Readiness> {
  const fault = await storage.check();
  const database = await store.now().then(
    () => (fault ? `storage ${fault}` : 'ok'),
    () => 'the database is not responding',
  );
  const service = shuttingDown ? 'shutting down' : 'ok';
  // Also no reason to be unready: whatever syncs do, requests are answered.
  const syncs = database === 'ok' ? await syncsState() : undefined;
  // A platform that is away does not make the service unready: tokens for known workspaces are still issued.
  return {
    ready: database === 'ok' && service === 'ok',
    checks: { service, database, platform: platformTrouble().failure ?? 'ok', ...(syncs && { syncs }) },
  };
}

async function makeFirstOperatorToken(tokens: OperatorTokens, organizationId: string): Promise<string | undefined> {
  if ((await tokens.list(organizationId)).length > 0) return undefined;
  return (await tokens.create(organizationId, { name: 'first' })).token;
}
