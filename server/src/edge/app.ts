/**
 * The composition root: puts the service together from its parts and its routes, starts it and takes it apart again. No
 * container, no decorators: each part gets what it needs as arguments. Tests call `createApp` with a fixed clock or
 * another transport and use the app without a port.
 */
import { formats } from '@inlay/contract/formats';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createCheckpoints } from './audit/checkpoints.worker.ts';
import { repeatedly } from './background.ts';
import { notedChanges } from './bundled-platform.ts';
import type { Config, Secrets } from './config.ts';
import { rewriteConsoleUrl } from './console/console.hooks.ts';
import { createConsoleHousekeeping } from './console/housekeeping.worker.ts';
import { makeConsoleLink } from './console/links.ts';
import type { Store } from './db/open.ts';
import type { OrganizationRow } from './db/tables.ts';
import { createTellingOfRegistered } from './definitions/registered-changes.ts';
import type { Presence } from './deployment/replicas.worker.ts';
import { createLogRetention, type Sequencer } from './events/sequencer.worker.ts';
import { replyToUnknownPaths } from './http/error-reply.ts';
import type { Readiness } from './http/health.routes.ts';
import { metricsRoutes } from './http/metrics.routes.ts';
import type { RouteTable } from './http/route-table.ts';
import { createServer } from './http/server.ts';
import { createPartCompiler } from './http/validation.ts';
import { createIdempotencyHousekeeping } from './idempotency/idempotency.worker.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createSignInHousekeeping } from './oauth/flows.worker.ts';
import type { RefreshWorker } from './oauth/refresh.worker.ts';
import { createCredentialHousekeeping, type Revocations } from './oauth/revocation.worker.ts';
import { createSecretWarnings } from './oauth/secret-warnings.worker.ts';
import { createUnusedCredentialHousekeeping } from './oauth/unused-credentials.worker.ts';
import { refuseMixedOrganizations } from './open-platform-client.ts';
import { openTracer } from './open-tracer.ts';
import { openParts, type Parts } from './parts.ts';
import { type CauseRetries, createCauseRetryHousekeeping } from './pipelines/cause-retries.worker.ts';
import { createCheckHousekeeping } from './pipelines/check-housekeeping.worker.ts';
import { createLogHousekeeping } from './pipelines/job-logs.worker.ts';
import { createJobHousekeeping, type JobWatch } from './pipelines/job-watch.worker.ts';
import { listCursorFormat, placeCursorFormat } from './pipelines/list-cursor.ts';
import { createPlanHousekeeping } from './pipelines/plan-housekeeping.worker.ts';
import type { Rollouts } from './pipelines/rollouts.worker.ts';
import type { SetUps } from './pipelines/set-ups.worker.ts';
import type { Transport } from './platform/transport.ts';
import { createUsageHousekeeping, type QuotaReviews } from './quotas/quotas.worker.ts';
import { addRoutes } from './routes.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import { quartzFormat } from './templates/cron.ts';
import type { OperatorTokens } from './tokens/operator-tokens.ts';
import { createRevocationHousekeeping } from './tokens/revocation-housekeeping.worker.ts';
import type { Tracer } from './tracing.ts';
import { createDeliveryRetention, type Deliveries } from './webhooks/delivery.worker.ts';
import { cursorFormat } from './workspaces/cursor.ts';
import type { Reconciler } from './workspaces/reconciler.worker.ts';

export interface Overrides {
  runtime?: Runtime;
  log?: Logger;
  tracer?: Tracer;
  /** Wraps the transport to the platform, for tests that need it to fail. */
  wrapTransport?: (transport: Transport) => Transport;
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
  reconciler: Reconciler;
  setUps: SetUps;
  jobWatch: JobWatch;
  rollouts: Rollouts;
  causeRetries: CauseRetries;
  quotaReviews: QuotaReviews;
  sequencer: Sequencer;
  deliveries: Deliveries;
  refreshWorker: RefreshWorker;
  revocations: Revocations;
  presence: Presence;
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
  const log = overrides.log ?? createLog(config.logLevel);
  const metrics = createMetrics();
  const tracer = overrides.tracer ?? (await openTracer(config, secrets, { runtime, log }));
  const closing: (() => Promise<void>)[] = [() => tracer.close()];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };

  try {
    const parts = await openParts(config, secrets, {
      runtime,
      log,
      metrics,
      tracer,
      wrapTransport: overrides.wrapTransport,
      signInPatienceMs: overrides.signInPatienceMs,
      onClose: (step) => closing.push(step),
    });
    const {
      store,
      organization,
      operatorTokens,
      keys,
      bundled,
      platform,
      reconciler,
      setUps,
      jobWatch,
      rollouts,
      causeRetries,
      quotaReviews,
      sequencer,
      deliveries,
      refreshWorker,
      revocations,
    } = parts;

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
      readiness: () => readinessOf(parts, shuttingDown),
      addMore: (server) => metricsServer ?? addMetrics(server),
    });

    const chores = [
      operatorTokens.flushUses,
      createRevocationHousekeeping(store),
      createIdempotencyHousekeeping(store),
      createCheckHousekeeping(parts.pipelines),
      createPlanHousekeeping(parts.pipelines),
      createCauseRetryHousekeeping(parts.pipelines),
      createJobHousekeeping(parts.pipelines, config.jobHistoryMs),
      createUsageHousekeeping(parts.workspaces, config.jobHistoryMs),
      createLogHousekeeping(parts.pipelines),
      createCheckpoints(parts.audit),
      createLogRetention(parts.events, config),
      parts.refusals.flush,
      createDeliveryRetention(parts.webhooks, config.webhooks.historyMs),
      createSignInHousekeeping(parts.oauth),
      createCredentialHousekeeping(parts.oauth),
      createConsoleHousekeeping(store),
      createUnusedCredentialHousekeeping(parts.oauth),
      createSecretWarnings(parts.oauth),
      createTellingOfRegistered(parts.audit, bundled && notedChanges(bundled.platform)),
    ];
    const inBackground = [
      reconciler,
      setUps,
      jobWatch,
      rollouts,
      causeRetries,
      quotaReviews,
      sequencer,
      deliveries,
      refreshWorker,
      revocations,
      parts.presence,
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
      makeConsoleLink: () =>
        makeConsoleLink(
          { store, runtime, journal: parts.journal, publicUrl: config.publicUrl },
          { organizationId: organization.id, permission: 'full', label: 'first start' },
        ),
      reconciler,
      setUps,
      jobWatch,
      rollouts,
      causeRetries,
      quotaReviews,
      sequencer,
      deliveries,
      refreshWorker,
      revocations,
      presence: parts.presence,
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
        // A connector may take minutes to answer. Work that waits for one is on disk, and requests are told to try again.
        platform.endQuestions();
        bundled?.platform.endQuestions();
        await http.close();
        await metricsServer?.close();
        // Work that waits for its turn is not begun any more. It is on disk, and the next start takes it up.
        for (const queue of Object.values(parts.pipelines.turns)) queue.close();
        await Promise.all(inBackground.map((work) => work.stop()));
        await parts.background.settle(shutdownPatienceMs);
        await parts.refusals.flush().catch((err) => log.warn({ err }, 'the last refused requests were not recorded'));
        await operatorTokens.flushUses().catch((err) => log.warn({ err }, 'the last uses of tokens were not recorded'));
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readinessOf({ store, platformTrouble, syncsState }: Parts, shuttingDown: boolean): Promise<Readiness> {
  const database = await store.now().then(
    () => 'ok',
    () => 'the database does not answer',
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
