/**
 * The parts of the service behind its HTTP interface, opened in the order they depend on each other: store, tokens,
 * platform, workspaces, templates, pipelines, and the work in the background. What has to be closed is told to
 * `onClose` as soon as it is open, so that a start that fails half-way leaves nothing behind.
 */
import { hostname } from 'node:os';
import type { ServiceHealth } from '@inlay/contract/service-health';
import { FairQueue } from '@inlay/schedule/fair-queue';
import type { Logger } from 'pino';
import type { AuditKeysContext } from './audit/audit-keys.ts';
import { createRefusals, type Refusals } from './audit/refusals.ts';
import type { AuditContext } from './audit/trail.ts';
import { type Background, createBackground } from './background.ts';
import type { BundledPlatform } from './bundled-platform.ts';
import { byWorker } from './cause.ts';
import type { Config, Secrets } from './config.ts';
import { createOidcSignIns, type OidcSignIns } from './console/oidc.ts';
import { type ConsoleSessions, createConsoleSessions } from './console/sessions.ts';
import { openDataDir } from './data-dir.ts';
import { migrate } from './db/migrations.ts';
import type { Store } from './db/open.ts';
import type { OrganizationRow } from './db/tables.ts';
import { type Definitions, findDefinition } from './definitions/definitions.ts';
import { openDefinitions } from './definitions/open.ts';
import type { OwnDefinitionsContext } from './definitions/own-definitions.ts';
import { createPresence, type Presence } from './deployment/replicas.worker.ts';
import { createServiceHealth, type PlatformTrouble } from './deployment/service-health.ts';
import { openSealer } from './encryption-keys.ts';
import { createArrivals } from './events/arrivals.ts';
import { dataOf, type EventsContext } from './events/events.ts';
import { createJournal, type Journal } from './events/journal.ts';
import { createSequencer, type Sequencer } from './events/sequencer.worker.ts';
import type { IdempotencyContext } from './idempotency/idempotency.ts';
import { readManifest } from './manifest-reader.ts';
import type { Metrics } from './metrics.ts';
import { findSignInClient } from './oauth/clients.ts';
import type { OAuthContext } from './oauth/context.ts';
import { recordHandedOver, tokensToHandOver } from './oauth/credentials.ts';
import type { FlowsContext } from './oauth/flows.ts';
import { ensureOwnCredential } from './oauth/own-credentials.ts';
import { createRefreshWorker, type RefreshWorker } from './oauth/refresh.worker.ts';
import { Refreshes } from './oauth/refreshes.ts';
import { createRevocations, type Revocations } from './oauth/revocation.worker.ts';
import { holdCredential, releaseCredential } from './oauth/source-credentials.ts';
import { openOAuthNetwork } from './oauth-network.ts';
import { openPlatformClient } from './open-platform-client.ts';
import { openStore } from './open-store.ts';
import {
  ensureFirstOrganization,
  findOrganization,
  listOrganizationIds,
  platformOrganizationIds,
} from './organizations/organizations.ts';
import { type CauseRetries, createCauseRetries } from './pipelines/cause-retries.worker.ts';
import { followWorkspaceStatus, listKeptDisabled } from './pipelines/connections.ts';
import type { PipelinesContext, SourceCredentials } from './pipelines/context.ts';
import { tryDestination } from './pipelines/destination-checks.ts';
import { handOverAgain } from './pipelines/handed-over.ts';
import { createJobWatch, type JobWatch, readSyncState } from './pipelines/job-watch.worker.ts';
import { followCredential, holdHealth, listSyncing } from './pipelines/jobs.ts';
import { countSourcesByVersion, listVersionsInUse, moveToVersion } from './pipelines/placed-definitions.ts';
import { assertPlanHolds, openPlan } from './pipelines/plans.ts';
import { startRetirement, startRollout } from './pipelines/rollouts.ts';
import { createRollouts, type Rollouts } from './pipelines/rollouts.worker.ts';
import { createSetUps, type SetUps } from './pipelines/set-ups.worker.ts';
import { followQuotas } from './pipelines/slowed-schedules.ts';
import { recordContentsDeleted } from './pipelines/sources.ts';
import { maxSlowCallsInFlight } from './platform/calls.ts';
import type { PlatformPort } from './platform/platform-port.ts';
import type { Transport } from './platform/transport.ts';
import { createQuotaReviews, type QuotaReviews } from './quotas/quotas.worker.ts';
import { currentRequest } from './request-context.ts';
import type { Runtime } from './runtime.ts';
import { openSignIns } from './sign-ins.ts';
import type { TemplatesContext } from './templates/context.ts';
import { listTemplatesOfDefinition } from './templates/source-templates.ts';
import { createFrameProofs, type FrameProofs } from './tokens/frame-proofs.ts';
import { createOperatorTokens, type OperatorTokens } from './tokens/operator-tokens.ts';
import { createScopedTokens, type ScopedTokens } from './tokens/scoped-tokens.ts';
import { openSigningKeys, type SigningKeys } from './tokens/signing-keys.ts';
import { createWidgetTokens, type WidgetTokens } from './tokens/widget-tokens.ts';
import type { Tracer } from './tracing.ts';
import { version } from './version.ts';
import { openWebhookNetwork } from './webhook-network.ts';
import type { WebhooksContext } from './webhooks/context.ts';
import { createDeliveries, type Deliveries } from './webhooks/delivery.worker.ts';
import type { WorkspacesContext } from './workspaces/context.ts';
import { JoinableWork } from './workspaces/joinable-work.ts';
import { createReconciler, type Reconciler } from './workspaces/reconciler.worker.ts';

export interface Parts {
  store: Store;
  organization: OrganizationRow;
  operatorTokens: OperatorTokens;
  keys: SigningKeys;
  scopedTokens: ScopedTokens;
  widgetTokens: WidgetTokens;
  bundled: BundledPlatform | undefined;
  platform: PlatformPort;
  /** The result of the last call to the platform, and when calls failed. */
  platformTrouble(): PlatformTrouble;
  serviceHealth(organizationId: string): Promise<ServiceHealth>;
  presence: Presence;
  /** How many connections fail, as it was a moment ago. */
  syncsState(): Promise<string>;
  workspaces: WorkspacesContext;
  definitions: Definitions;
  ownDefinitions: OwnDefinitionsContext;
  templates: TemplatesContext;
  pipelines: PipelinesContext;
  background: Background;
  setUps: SetUps;
  jobWatch: JobWatch;
  rollouts: Rollouts;
  causeRetries: CauseRetries;
  reconciler: Reconciler;
  quotaReviews: QuotaReviews;
  idempotency: IdempotencyContext;
  sequencer: Sequencer;
  webhooks: WebhooksContext;
  deliveries: Deliveries;
  refreshWorker: RefreshWorker;
  revocations: Revocations;
  oauth: OAuthContext;
  signIns: FlowsContext;
  frameProofs: FrameProofs;
  consoleSessions: ConsoleSessions;
  /** Undefined: nobody signs in to the console with a provider. */
  oidcSignIns: OidcSignIns | undefined;
  journal: Journal;
  events: EventsContext;
  audit: AuditContext & AuditKeysContext;
  refusals: Refusals;
}

/** Its clock is another one, and its lists may be a little late. */
const hostedWatch = { everyMs: 10_000, overlapMs: 120_000 };

export interface Surroundings {
  runtime: Runtime;
  log: Logger;
  metrics: Metrics;
  tracer: Tracer;
  wrapTransport?: ((transport: Transport) => Transport) | undefined;
  signInPatienceMs?: number | undefined;
  onClose(step: () => Promise<void>): void;
}

export async function openParts(
  config: Config,
  secrets: Secrets,
  { runtime, log, metrics, tracer, wrapTransport, signInPatienceMs, onClose }: Surroundings,
): Promise<Parts> {
  const dataDir = openDataDir(config.dataDir);
  const onIdleError = (err: Error) => log.warn({ err }, 'a database connection was lost');
  const store = noticingCommits(openStore(config, secrets, { runtime, onIdleError }));
  onClose(() => store.close());
  await migrate(store);

  const organization = await ensureFirstOrganization(store, runtime, {
    id: config.organizationId,
    platformOrganizationId: config.platformOrganizationId,
  });
  const arrivals = createArrivals(store, runtime);
  let wakeDeliveries = () => {};
  const sequencer = createSequencer({
    store,
    runtime,
    log,
    onSequenced(organizationIds) {
      arrivals.look(organizationIds);
      wakeDeliveries();
    },
  });
  const journal = createJournal({ runtime, cause: byWorker, onRecorded: sequencer.soon });
  const operatorTokens = createOperatorTokens(store, runtime, journal);
  if (secrets.operatorToken !== undefined) {
    await operatorTokens.provide(organization.id, 'environment', secrets.operatorToken);
  }

  const sealer = openSealer(secrets, dataDir);
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

  const { bundled, platform, transport, platformTrouble } = await openPlatformClient(config, secrets, {
    dataDir,
    runtime,
    metrics,
    log,
    tracer,
    sealer,
    wrapTransport,
    organizationId: organization.platform_organization_id,
    oauth: () => oauth,
  });
  onClose(() => platform.close());
  if (bundled) onClose(() => bundled.close());

  const credentials: SourceCredentials = {
    hold: holdCredential,
    ensureOwn: (tx, by, wanted) => ensureOwnCredential({ ...oauth, journal: by }, tx, wanted),
    release: releaseCredential,
    toHandOver: ({ id, ...place }) => tokensToHandOver(oauth, { ...place, credentialId: id }),
    handedOver: ({ id, ...place }, generation) => recordHandedOver(oauth, { ...place, credentialId: id }, generation),
  };
  const workspaces: WorkspacesContext = {
    store,
    platform,
    runtime,
    log,
    journal,
    settleMs: config.settleMs,
    platformOrganizationId: platformOrganizationIds(store),
    count: metrics.workspaceEvent,
    joinable: new JoinableWork(),
    recordContentsDeleted: (by, tx, workspace, at) =>
      recordContentsDeleted({ journal: by, sealer, credentials }, tx, workspace, at),
    statusChanged: (by, tx, workspaceId) => followWorkspaceStatus({ store, journal: by }, tx, workspaceId),
    listKeptDisabled: (workspaceId) => listKeptDisabled({ store }, workspaceId),
    quotasChanged: (tx, workspaceId, quotas) => followQuotas({ runtime }, tx, workspaceId, quotas),
    listSyncing: async (workspaceId, before) => new Set(await listSyncing(store.db, workspaceId, before)),
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
  const ownDefinitions: OwnDefinitionsContext = {
    store,
    runtime,
    sealer,
    journal,
    readManifest,
    listTemplatesOf: listTemplatesOfDefinition,
    listVersionsInUse,
    countSourcesByVersion,
    moveSources: (by, tx, move) => moveToVersion(pipelines, by, tx, move),
  };
  const templates: TemplatesContext = {
    store,
    runtime,
    log,
    sealer,
    journal,
    definitions,
    publicUrl,
    tryDestination: (organizationId, definition, configuration) =>
      tryDestination(pipelines, organizationId, definition, configuration),
    tokenOwner: bundled ? 'service' : 'platform',
    findOAuthClient: (db, organizationId, client) => findSignInClient(db, organizationId, client.oauth_client_id),
    startRollout: (by, tx, rollout) => startRollout({ runtime, journal: by }, tx, rollout),
    startRetirement: (by, tx, retirement) => startRetirement({ runtime, journal: by }, tx, retirement),
    openPlan: (template, id) => openPlan(pipelines, template, id),
    assertPlanHolds,
  };
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
    wake: () => wakeDeliveries(),
  };
  const oauthNetwork = openOAuthNetwork(config);
  onClose(() => oauthNetwork.close());
  const oauth: OAuthContext = {
    ...{ store, runtime, log, sealer, journal, network: oauthNetwork, publicUrl },
    refreshes: new Refreshes(runtime),
    findSpecification: async (organizationId, id) =>
      (await findDefinition(templates, { organizationId, kind: 'source', id }))?.specification,
    countRefresh: metrics.oauthRefresh,
    users: {
      hold: (tx, workspaceId) => holdHealth({ store }, tx, [workspaceId]),
      async changed(by, tx, credential) {
        await followCredential({ store, journal: by }, tx, credential);
        if (!bundled) await handOverAgain(tx, credential);
      },
    },
  };
  const deliveries = createDeliveries({
    ...webhooks,
    dataOf: (event, audience) => dataOf(event, audience === 'customer'),
    onAttempt: metrics.webhookSent,
  });
  wakeDeliveries = deliveries.soon;
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
    credentials,
    turns,
    countJob: ({ status, seconds, rows }) => metrics.syncEnded(status, seconds, rows),
    inBackground: background.run,
  };
  const owner = bundled ? 'service' : 'platform';
  const signIns = openSignIns({ config, oauth, pipelines, frameProofs, owner, patienceMs: signInPatienceMs });
  const setUps = createSetUps(pipelines);
  const jobWatch = createJobWatch(pipelines, bundled ? { everyMs: 5_000, overlapMs: 2_000 } : hostedWatch);
  bundled?.onJobsChanged(jobWatch.soon);
  const rollouts = createRollouts(pipelines);
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
    }),
    presence: createPresence({ store, runtime, log, host: hostname(), version }),
    syncsState: createSyncsState(store, runtime),
    workspaces,
    definitions,
    ownDefinitions,
    templates,
    pipelines,
    background,
    setUps,
    jobWatch,
    rollouts,
    causeRetries: createCauseRetries(pipelines),
    reconciler,
    quotaReviews: createQuotaReviews(workspaces),
    sequencer,
    webhooks,
    deliveries,
    refreshWorker: createRefreshWorker(oauth),
    revocations: createRevocations(oauth),
    oauth,
    signIns,
    frameProofs,
    consoleSessions,
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

/** Counting takes a while where there are many connections, and whoever asks for health asks often. */
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
    return failing + attention === 0 ? 'ok' : `${failing} connections fail, ${attention} need attention`;
  } catch {
    return 'not known';
  }
}
