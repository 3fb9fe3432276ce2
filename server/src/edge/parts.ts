/**
 * The parts of the service behind its HTTP interface, opened in dependency order: store, tokens, platform, workspaces,
 * templates, pipelines, and background work. Resources are registered with `onClose` as soon as they are open, so that
 * a start that fails half-way leaks nothing.
 */
import { hostname } from 'node:os';
import type { StorageState } from '@inlay/database/storage-state';
import { FairQueue } from '@inlay/schedule/fair-queue';
import type { Logger } from 'pino';
import { openDefinitions } from '../catalog/definitions/open.ts';
import type { OwnDefinitionsContext } from '../catalog/definitions/own-definitions.ts';
import type { TemplatesContext } from '../catalog/templates/context.ts';
import { createRollouts } from '../changes/rollouts.worker.ts';
import { signInClients } from '../credentials/clients/clients.ts';
import type { OAuthContext } from '../credentials/context.ts';
import { openOAuthNetwork, type ProviderNetwork } from '../credentials/provider/network.ts';
import { createChanges } from '../credentials/sign-in/flows.ts';
import { createRefreshWorker, hasCredentials } from '../credentials/tokens/refresh.worker.ts';
import { Refreshes } from '../credentials/tokens/refreshes.ts';
import { createRevocations } from '../credentials/tokens/revocation.worker.ts';
import { createBackground } from '../kernel/background.ts';
import { byWorker } from '../kernel/cause.ts';
import type { Config, Secrets } from '../kernel/config/config.ts';
import { openDataDir } from '../kernel/config/data-dir.ts';
import { openSealer } from '../kernel/config/encryption-keys.ts';
import type { Store } from '../kernel/db/open.ts';
import { maxSlowCallsInFlight } from '../kernel/platform/calls.ts';
import { createTokenOwner } from '../kernel/platform/token-owner.ts';
import type { Transport } from '../kernel/platform/transport.ts';
import { currentRequest } from '../kernel/request-context.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { Signal } from '../kernel/signal.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import type { Tracer } from '../kernel/telemetry/tracing.ts';
import { version } from '../kernel/version.ts';
import { createRefusals } from '../log/audit/refusals.ts';
import { createArrivals } from '../log/events/arrivals.ts';
import { dataOf } from '../log/events/events.ts';
import { createJournal } from '../log/events/journal.ts';
import { createSequencer } from '../log/events/sequencer.worker.ts';
import type { WebhooksContext } from '../log/webhooks/context.ts';
import { createDeliveries } from '../log/webhooks/delivery.worker.ts';
import { openWebhookNetwork } from '../log/webhooks/webhook-network.ts';
import { createCauseRetries } from '../operating/cause-retries.worker.ts';
import { createJobWatch, readSyncState } from '../pipelines/connections/job-watch.worker.ts';
import type { PipelinesContext } from '../pipelines/context.ts';
import { definitionUses } from '../pipelines/set-up/definition-copies.ts';
import { createSetUps } from '../pipelines/set-up/set-ups.worker.ts';
import { credentialUsers } from '../pipelines/sources/credential-users.ts';
import { createWorkspaceContents } from '../pipelines/workspace-contents.ts';
import {
  ensureFirstOrganization,
  findOrganization,
  listOrganizationIds,
} from '../tenancy/organizations/organizations.ts';
import { createQuotaReviews } from '../tenancy/quotas/quotas.worker.ts';
import { createFrameProofs } from '../tenancy/tokens/frame-proofs.ts';
import { createOperatorTokens } from '../tenancy/tokens/operator-tokens.ts';
import { createScopedTokens } from '../tenancy/tokens/scoped-tokens.ts';
import { assertKeyOpens, openSigningKeys } from '../tenancy/tokens/signing-keys.ts';
import { createWidgetTokens } from '../tenancy/tokens/widget-tokens.ts';
import type { WorkspacesContext } from '../tenancy/workspaces/context.ts';
import { JoinableWork } from '../tenancy/workspaces/joinable-work.ts';
import { createReconciler } from '../tenancy/workspaces/reconciler.worker.ts';
import { createTokenSource, newProcessName, platformCredentials } from './bundled-platform.ts';
import { createOidcSignIns } from './console/oidc.ts';
import { createConsoleSessions } from './console/sessions.ts';
import { createClockWatch } from './deployment/clock.worker.ts';
import { createPresence } from './deployment/replicas.worker.ts';
import { createScheduledBackups } from './deployment/scheduled-backups.worker.ts';
import { createServiceHealth } from './deployment/service-health.ts';
import { upgrade } from './deployment/upgrade.ts';
import { openPlatformClient } from './open-platform-client.ts';
import { openStore } from './open-store.ts';

export type Parts = Awaited<ReturnType<typeof openParts>>;
/** What works in the background from the start of the service to its end, each in a loop of its own. */
export type Workers = Parts['workers'];

/** Its clock is another one, and its lists may be a little late. */
const hostedWatch = { everyMs: 10_000, overlapMs: 120_000 };

export interface Surroundings {
  runtime: Runtime;
  log: Logger;
  storage: StorageState;
  metrics: Metrics;
  tracer: Tracer;
  wrapTransport?: ((transport: Transport) => Transport) | undefined;
  wrapProviders?: ((network: ProviderNetwork) => ProviderNetwork) | undefined;
  signInPatienceMs?: number | undefined;
  onClose(step: () => Promise<void>): void;
}

export async function openParts(
  config: Config,
  secrets: Secrets,
  { runtime, log, storage, metrics, tracer, wrapTransport, wrapProviders, signInPatienceMs, onClose }: Surroundings,
) {
  const dataDir = openDataDir(config.dataDir);
  const store = noticingCommits(openStore(config, secrets, { runtime, storage }));
  onClose(() => store.close());
  await upgrade({ config, secrets, store, runtime, tell: (line) => log.info(line) });
  const sealer = openSealer(secrets, dataDir);
  await assertKeyOpens(store.db, sealer);

  const organization = await ensureFirstOrganization(store, runtime, {
    id: config.organizationId,
    platformOrganizationId: config.platformOrganizationId,
  });
  const arrivals = createArrivals(store, runtime);
  const sequenced = new Signal<readonly string[]>();
  sequenced.subscribe((organizationIds) => void arrivals.look(organizationIds));
  const sequencer = createSequencer({ store, runtime, log, onSequenced: sequenced.give });
  const journal = createJournal({ runtime, cause: byWorker, onRecorded: sequencer.soon });
  const operatorTokens = createOperatorTokens(store, runtime, journal);
  if (secrets.operatorToken !== undefined) {
    await operatorTokens.provide(organization.id, 'environment', secrets.operatorToken);
  }

  const keys = await openSigningKeys({ store, sealer, runtime, log, journal, listOrganizationIds });
  onClose(() => keys.stop());
  const { publicUrl, vendor, scopedTokenTtlSeconds: ttlSeconds } = config;
  const consoleSessions = createConsoleSessions({ store, runtime, journal, operatorTokens });
  const scopedTokens = createScopedTokens({
    ...{ store, keys, runtime, journal, issuer: publicUrl, vendor, ttlSeconds },
    viewerWorks: async (organizationId, viewer) =>
      'session' in viewer
        ? await consoleSessions.works(organizationId, viewer.session)
        : (await operatorTokens.findWorking(organizationId, viewer.operatorToken)) !== undefined,
  });
  const widgetTokens = createWidgetTokens(scopedTokens, keys, publicUrl);
  const frameProofs = createFrameProofs(keys, runtime);
  const oidcSignIns =
    config.console?.oidc &&
    createOidcSignIns({
      ...{ store, runtime, sessions: consoleSessions, settings: config.console.oidc, publicUrl },
      secret: secrets.consoleOidcSecret,
      firstOrganizationId: organization.id,
      organizationExists: async (id) => (await findOrganization(store, id)) !== undefined,
    });

  const tokenSource = createTokenSource();
  const { bundled, platform, transport, platformTrouble } = await openPlatformClient(config, secrets, {
    dataDir,
    runtime,
    metrics,
    log,
    storage,
    tracer,
    sealer,
    wrapTransport,
    organizationId: organization.platform_organization_id,
    tokenSource,
  });
  onClose(() => platform.close());
  if (bundled) onClose(() => bundled.close());
  const tokenOwner = createTokenOwner(platform, { isBundled: bundled !== undefined, log });

  const workspaces: WorkspacesContext = {
    store,
    platform,
    runtime,
    log,
    journal,
    settleMs: config.settleMs,
    metrics,
    joinable: new JoinableWork(),
    contents: createWorkspaceContents({ store, runtime, sealer }),
    scopedTokens,
  };
  const definitions = openDefinitions({
    platform,
    isBundled: bundled !== undefined,
    registry: config.connectorRegistry,
    cacheFile: dataDir.path('connector-registry.json'),
    runtime,
    log,
  });
  const ownDefinitions: OwnDefinitionsContext = {
    store,
    runtime,
    sealer,
    journal,
    uses: definitionUses,
  };
  const templates: TemplatesContext = {
    store,
    runtime,
    sealer,
    journal,
    definitions,
    publicUrl,
    tokenOwner,
    signInClients,
  };
  const queued = new Signal();
  const network = openWebhookNetwork(config);
  onClose(() => network.close());
  const webhooks: WebhooksContext = {
    store,
    runtime,
    log,
    sealer,
    journal,
    network,
    customersMay: config.webhooks.customersMay,
    wake: queued.give,
  };
  const oauthNetwork = openOAuthNetwork(config);
  onClose(() => oauthNetwork.close());
  const deliveries = createDeliveries({
    ...webhooks,
    dataOf: (event, audience) => dataOf(event, audience === 'customer'),
    onAttempt: metrics.webhookSent,
  });
  sequenced.subscribe(deliveries.soon);
  queued.subscribe(deliveries.soon);
  metrics.watchWebhooks(deliveries.backlog);
  const background = createBackground({ runtime, log });
  const turnsOf = (kind: 'check_request' | 'set_up', total: number) =>
    new FairQueue({
      total,
      perTenant: config.maxConcurrentChecksPerWorkspace,
      maxWaiting: config.maxWaitingPerWorkspace,
      elapsed: runtime.elapsed,
      onStart: (waitedMs) => metrics.queueWait(kind, waitedMs / 1000),
    });
  const turns = {
    checks: turnsOf('check_request', config.maxConcurrentChecks),
    setUps: turnsOf('set_up', maxSlowCallsInFlight),
  };
  const pipelines: PipelinesContext = {
    store,
    platform,
    runtime,
    log,
    sealer,
    journal,
    settleMs: config.settleMs,
    jobLogMs: config.jobLogMs,
    templates,
    workspaces,
    turns,
    metrics,
    background,
  };
  const oauth: OAuthContext = {
    ...{ store, runtime, log, sealer, journal, publicUrl, definitions, tokenOwner, metrics },
    network: wrapProviders?.(oauthNetwork) ?? oauthNetwork,
    refreshes: new Refreshes(runtime),
    users: credentialUsers(pipelines),
  };
  tokenSource.open(oauth);
  const signIns = { ...oauth, frameProofs, changed: createChanges(runtime), patienceMs: signInPatienceMs };
  const setUps = createSetUps(pipelines);
  const jobWatch = createJobWatch(pipelines, bundled ? { everyMs: 5_000, overlapMs: 2_000 } : hostedWatch);
  bundled?.onJobsChanged(jobWatch.soon);
  const reconciler = createReconciler(workspaces);
  metrics.watchLog(sequencer.backlog);
  metrics.watchSyncs(() => readSyncState(store));
  metrics.watchBacklog(async () => ({ ...(await reconciler.backlog()), sources: await setUps.backlog() }));

  return {
    store,
    organization,
    operatorTokens,
    keys,
    scopedTokens,
    widgetTokens,
    bundled,
    platform,
    platformTrouble,
    serviceHealth: createServiceHealth({
      ...{ store, runtime, config, secrets, platform, transport, platformTrouble },
      firstOrganizationId: organization.id,
      hasCredentials: () => hasCredentials(store),
    }),
    /** How many connections fail, as it was a moment ago. */
    syncsState: createSyncsState(store, runtime),
    workspaces,
    definitions,
    ownDefinitions,
    templates,
    pipelines,
    background,
    workers: {
      ...{ reconciler, setUps, jobWatch, sequencer, deliveries },
      rollouts: createRollouts(pipelines),
      causeRetries: createCauseRetries(pipelines),
      quotaReviews: createQuotaReviews(workspaces),
      refreshWorker: createRefreshWorker(oauth),
      revocations: createRevocations(oauth),
      presence: createPresence({ store, runtime, log, host: hostname(), version, sealer, processName: newProcessName }),
      scheduledBackups: createScheduledBackups({
        ...{ store, config, secrets, runtime, log, journal, firstOrganizationId: organization.id },
      }),
      clockWatch: createClockWatch({ store, runtime, log, settleMs: config.settleMs, metrics }),
    },
    webhooks,
    oauth,
    /** Whose questions for tokens are answered. Undefined: the platform is in this process. */
    channelApplication: bundled ? undefined : platformCredentials(secrets, dataDir),
    signIns,
    frameProofs,
    consoleSessions,
    /** Undefined: nobody signs in to the console with a provider. */
    oidcSignIns,
    journal,
    events: { store, runtime, arrivals },
    audit: { store, sealer, journal, listOrganizationIds },
    refusals: createRefusals({
      ...{ store, runtime, log, journal, firstOrganizationId: organization.id },
      inBackground: background.run,
    }),
    idempotency: { store, sealer, runtime, log, count: metrics.idempotentRequest },
  };
}

/** Lets the request that a transaction belongs to write in it as well. */
function noticingCommits(store: Store): Store {
  return {
    ...store,
    transaction: (work) =>
      store.transaction(async (tx) => {
        const result = await work(tx);
        await currentRequest()?.beforeCommit?.(tx);
        return result;
      }),
  };
}

const syncsStateMs = 10_000;

/** Counting is slow with many connections, and health is polled often. */
function createSyncsState(store: Store, runtime: Runtime): () => Promise<string> {
  let known: { at: number; state: Promise<string> } | undefined;
  return () => {
    const at = runtime.elapsed();
    if (!known || at - known.at > syncsStateMs) known = { at, state: describeSyncs(store) };
    return known.state;
  };
}

async function describeSyncs(store: Store): Promise<string> {
  try {
    const { failing = 0, needs_attention: attention = 0 } = (await readSyncState(store)).byHealth;
    return failing + attention === 0 ? 'ok' : `${failing} connections failing, ${attention} need attention`;
  } catch {
    return 'unknown';
  }
}
