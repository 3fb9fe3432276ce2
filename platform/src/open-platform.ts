/**
 * The composition root of the bundled platform: opens its database file, puts it together from its parts, in the order
 * they depend on each other, and takes it apart again. No container, no decorators: what something needs, it is given here.
 *
 * The platform owns workspaces, sources, destinations and connections, and the jobs that move data, and exposes them
 * only through the HTTP API in api.ts. It does not know the service in front of it, which talks to it as to a hosted
 * platform.
 */
import { join } from 'node:path';
import type { SpanStarter } from '@inlay/contract/spans';
import { StorageState } from '@inlay/database/storage-state';
import type { ChangeKind } from '@inlay/protocol/protocol';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { FairQueue } from '@inlay/schedule/fair-queue';
import { recordActorsDeleted } from './actors/actors.ts';
import { createCheckQueue } from './actors/check-queue.ts';
import type { ActorsContext } from './actors/context.ts';
import type { Sealer } from './actors/sealed-configuration.ts';
import { forgetChecks, sharedChecks } from './actors/shared-checks.ts';
import {
  assertKeyKnown,
  listUsersOfDefinition,
  resealConfigurations,
  sealPlainConfigurations,
} from './actors/upkeep.ts';
import { type ApplicationTokens, createApplicationTokens } from './applications/applications.ts';
import { recordConnectionsDeleted, recordConnectionsOfActorDeleted } from './connections/connections.ts';
import type { ConnectionsContext } from './connections/context.ts';
import { completeSchedules } from './connections/due-connections.ts';
import type { Credentials } from './credentials.ts';
import { openStore, type Store } from './db/open.ts';
import { bundledDefinitions } from './definitions/bundled-definitions.ts';
import type { DefinitionsContext } from './definitions/context.ts';
import { forgetDeclarative } from './definitions/declarative-definitions.ts';
import type { Definition } from './definitions/definitions.ts';
import { resealManifests } from './definitions/manifests.ts';
import { asAttempt, claimAttempt, isAnyDue, renewAttempts } from './jobs/attempts-book.ts';
import type { JobsContext } from './jobs/context.ts';
import { listKeyHolders } from './jobs/coordinators.ts';
import { openDesk } from './jobs/desk.ts';
import { fileLogs } from './jobs/file-logs.ts';
import { cancelOpenJobs, presentLastJobs } from './jobs/jobs.ts';
import { createScheduler } from './jobs/scheduler.ts';
import { storedLogs } from './jobs/stored-logs.ts';
import { type Log, silentLog } from './log.ts';
import { refuseUnfinished } from './migrate-store.ts';
import { defaultLimits } from './processes/limits.ts';
import { createRunner, type RunnerOptions } from './runner/create-runner.ts';
import { orElsewhere } from './runner/elsewhere.ts';
import { openRunningFolder } from './running-folder.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import { passingTracer, watchProcesses } from './tracing.ts';
import type { WorkersContext } from './workers/context.ts';
import { placing } from './workers/placing.ts';
import { findElsewhere } from './workers/tasks.ts';
import { Waiters } from './workers/waiters.ts';
import type { WorkspacesContext } from './workspaces/context.ts';

export interface PlatformOptions {
  /** The SQLite file; ':memory:' keeps everything in memory. Unused with a URL. */
  file: string;
  /** A PostgreSQL database, which several processes may share. */
  databaseUrl?: string | undefined;
  /** Folder for workspace files, job logs and, temporarily, configurations of running connectors. */
  dataDir: string;
  clientId: string;
  clientSecret: string;
  /** Seals connector configurations, and opens what was sealed with an older key. */
  sealer: Sealer;
  /** The base of the `next` and `previous` links, for example `http://localhost:8080/platform/v1`. */
  publicUrl: string;
  /** The built program of the bundled connectors. */
  connectorsProgram: string;
  accessTokenTtlSeconds?: number;
  runtime?: Runtime;
  /** The organization of a workspace whose creator names none. */
  defaultOrganizationId?: string;
  /** Folders that connectors may read files from. */
  readableDirs?: readonly string[];
  allowPrivateNetworks?: boolean;
  /** Addresses of the service that runs this platform, which connectors must never reach. */
  serviceEndpoints?: readonly { host: string; port: number }[];
  maxConcurrentSyncs?: number;
  maxConcurrentSyncsPerWorkspace?: number;
  /** Limit for concurrent checks, and the same for stream discoveries. */
  maxConcurrentChecks?: number;
  maxConcurrentChecksPerWorkspace?: number;
  /** How much of each kind may wait in one workspace before more is refused. */
  maxWaitingPerWorkspace?: number;
  /** The longest that one attempt of a sync may take. */
  maxAttemptMs?: number;
  /** The longest that all attempts of a job may take together. */
  maxJobMs?: number;
  /** How long a sync keeps its slot while all slots are taken and a workspace without any waits. */
  turnMs?: number;
  /** Called when something starts, with the time that it has waited for its turn: for metrics. */
  onWaited?(kind: QueuedKind, waitedMs: number): void;
  /** Called for every successful job with the number of values that did not arrive unchanged, for metrics. */
  onValuesChanged?(kind: ChangeKind, count: number): void;
  /** Called when jobs have been queued, started or ended, for those who would else have to ask again and again. */
  onJobsChanged?(): void;
  discoveryPatienceMs?: number;
  bundledDefinitions?: readonly Definition[];
  /** Without them no source can have a credential. */
  credentials?: Credentials | undefined;
  runner?: Omit<RunnerOptions, 'folder' | 'mark' | 'cgroup' | 'runtime' | 'watchProcess'>;
  log?: Log;
  /** Whether stores accept writes, shared if the process has several; default: this platform's own. */
  storage?: StorageState;
  /** Without one, traces pass through and nothing is recorded. */
  tracer?: SpanStarter;
}

/** What waits for its turn. */
export type QueuedKind = 'sync' | 'check' | 'discover';

export interface OpenPlatform {
  readonly store: Store;
  readonly storage: StorageState;
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly tokens: ApplicationTokens;
  readonly publicUrl: string;
  readonly workspaces: WorkspacesContext;
  readonly definitions: DefinitionsContext;
  readonly actors: ActorsContext;
  readonly connections: ConnectionsContext;
  readonly jobs: JobsContext;
  readonly workers: WorkersContext;
  /** Begins to run jobs. Until then they are only written down. */
  start(): void;
  /** Notifies the scheduler that there may be something to start or to stop. */
  wake(): void;
  /** Does at once what is due, for a test that has moved the clock. */
  look(): Promise<void>;
  /** Seals every secret with the key the sealer seals with now. */
  reseal(): Promise<void>;
  /** The processes that run jobs, with their encryption keys. */
  listKeyHolders(): Promise<{ encryption_keys: string | null }[]>;
  /** Whether this process coordinates attempts now: on SQLite only one does. */
  isCoordinating(): boolean;
  /**
   * Ends requests that wait for a connector: checks and stream discoveries. Clients are asked to retry, so that these
   * requests do not delay shutdown.
   */
  endQuestions(): void;
  /** Running jobs are stopped, and continued after the next start. */
  close(): Promise<void>;
}

const defaultTokenTtlSeconds = 900;
const keptRedactors = 1_000;
const nilUuid = '00000000-0000-0000-0000-000000000000';

export async function openPlatform(options: PlatformOptions): Promise<OpenPlatform> {
  const { dataDir, sealer, log = silentLog, runtime = systemRuntime } = options;
  const tokens = createApplicationTokens({
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    ttlSeconds: options.accessTokenTtlSeconds ?? defaultTokenTtlSeconds,
    runtime,
  });
  const storage = options.storage ?? new StorageState(runtime);
  if (!options.storage) storage.logTo(log);
  const { file, databaseUrl: url } = options;
  const store = await openStore(url === undefined ? { file } : { url }, { now: runtime.now, storage });
  try {
    await refuseUnfinished(store);
    await assertKeyKnown({ store, sealer });
    await sealPlainConfigurations({ store, sealer });
    await completeSchedules(store, runtime.now());
  } catch (error) {
    await store.close();
    throw error;
  }

  const closing = new AbortController();
  const { maxWaitingPerWorkspace = 50, onWaited = () => {}, onJobsChanged = () => {} } = options;
  const turnsOf = (kind: QueuedKind) =>
    new FairQueue({
      total: options.maxConcurrentChecks ?? 4,
      perTenant: options.maxConcurrentChecksPerWorkspace ?? 2,
      maxWaiting: maxWaitingPerWorkspace,
      elapsed: runtime.elapsed,
      onStart: (waitedMs) => onWaited(kind, waitedMs),
    });
  const running = await openRunningFolder(join(dataDir, 'running'), runtime, log);
  const tracer = options.tracer ?? passingTracer(runtime);
  const ownRunner = createRunner({
    ...options.runner,
    folder: running.path,
    mark: running.mark,
    cgroup: running.cgroup,
    runtime,
    watchProcess: watchProcesses(tracer),
  });
  const logs =
    store.kind === 'sqlite'
      ? fileLogs((connectionId) => join(dataDir, 'logs', connectionId), runtime.now)
      : storedLogs({ store, runtime, log });
  const runner = orElsewhere(ownRunner);
  const waiters = new Waiters(runtime.elapsed);
  const wake = () => {
    scheduler.wake();
    waiters.wake();
    onJobsChanged();
  };

  const workspaces: WorkspacesContext = {
    store,
    runtime,
    defaultOrganizationId: (options.defaultOrganizationId ?? nilUuid).toLowerCase(),
    async recordContentsDeleted(tx, workspaceId, deletedAt) {
      await recordConnectionsDeleted(connections, tx, workspaceId, deletedAt);
      await recordActorsDeleted(actors, tx, workspaceId, deletedAt);
      await forgetDeclarative(tx, workspaceId);
    },
    wake,
  };
  const definitions: DefinitionsContext = {
    store,
    runtime,
    runner,
    sealer,
    bundledDefinitions: options.bundledDefinitions ?? bundledDefinitions,
    surroundings: {
      connectorsProgram: options.connectorsProgram,
      readableDirs: options.readableDirs ?? [],
      allowPrivateNetworks: options.allowPrivateNetworks ?? false,
      serviceEndpoints: options.serviceEndpoints ?? [],
      limits: { ...defaultLimits, ...options.runner?.limits },
    },
    listUsers: listUsersOfDefinition,
  };
  const actors: ActorsContext = {
    store,
    runtime,
    sealer,
    runner,
    definitions,
    credentials: options.credentials,
    checks:
      store.kind === 'sqlite'
        ? createCheckQueue({ turns: turnsOf('check'), runtime, log })
        : sharedChecks({ turns: turnsOf('check'), runtime, log, store, sealer }),
    discoveryTurns: turnsOf('discover'),
    discoveries: new Map(),
    discoveryPatienceMs: options.discoveryPatienceMs ?? 30_000,
    closing: closing.signal,
    filesFolder: (workspaceId) => join(dataDir, 'files', workspaceId),
    findElsewhere: (question) =>
      findElsewhere({ store, runtime, actors, waiters }, question, options.maxConcurrentSyncs !== 0),
    recordConnectionsDeleted: (tx, actor, deletedAt) =>
      recordConnectionsOfActorDeleted(connections, tx, actor, deletedAt),
    wake,
  };
  const connections: ConnectionsContext = {
    store,
    runtime,
    actors,
    cancelOpenJobs,
    presentLastJobs: (rows) => presentLastJobs(jobs, rows),
    wake,
  };
  const jobs: JobsContext = {
    store,
    storage,
    runtime,
    log,
    tracer,
    runner,
    actors,
    workers: placing({ actors }),
    maxConcurrentSyncs: options.maxConcurrentSyncs ?? 4,
    maxConcurrentSyncsPerWorkspace: options.maxConcurrentSyncsPerWorkspace ?? 2,
    maxWaitingPerWorkspace,
    maxAttemptMs: options.maxAttemptMs ?? 86_400_000,
    maxJobMs: options.maxJobMs ?? 86_400_000,
    turnMs: options.turnMs ?? 600_000,
    onWaited: (waitedMs) => onWaited('sync', waitedMs),
    onValuesChanged: options.onValuesChanged ?? (() => {}),
    onJobsChanged,
    logs,
    wake,
  };
  const scheduler = createScheduler(jobs);
  const workers: WorkersContext = {
    ...{ store, runtime, actors, waiters },
    attempts: {
      isAnyDue: () => isAnyDue(jobs),
      claim: (claimant) => claimAttempt(jobs, claimant),
      openDesk: (ref, owner) => openDesk(jobs, ref, owner),
      renew: (owner, beats) => renewAttempts(jobs, owner, beats),
      asAttempt: (ref, owner, work) => asAttempt(jobs, ref, owner, work),
    },
    redactors: new BoundedMap(keptRedactors),
    isCoordinating: scheduler.isCoordinating,
    closing: closing.signal,
  };
  const endQuestions = () => {
    runner.closeSoon();
    closing.abort();
    actors.discoveryTurns.close();
    void actors.checks.close();
  };

  return {
    store,
    storage,
    runtime,
    sealer,
    tokens,
    publicUrl: options.publicUrl.replace(/\/+$/, ''),
    workspaces,
    definitions,
    actors,
    connections,
    jobs,
    workers,
    start: scheduler.start,
    wake,
    look: scheduler.look,
    async reseal() {
      await resealConfigurations({ store, sealer });
      await store.transaction((tx) => resealManifests(sealer, tx));
      await forgetChecks(store.db);
    },
    listKeyHolders: () => listKeyHolders(store),
    isCoordinating: scheduler.isCoordinating,
    endQuestions,
    async close() {
      endQuestions();
      try {
        await scheduler.stop();
        await actors.checks.close();
        await Promise.allSettled(actors.discoveries.values());
        await logs.close();
        running.remove();
      } finally {
        if (!options.storage) storage.close();
        await store.close();
      }
    },
  };
}
