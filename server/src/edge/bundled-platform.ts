/**
 * The bundled platform inside our process. The platform itself is a package of its own (`@inlay/platform`), the rest of
 * the service talks to it as to any other platform: through the port (platform/platform-port.ts) and its client.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StorageState } from '@inlay/database/storage-state';
import * as told from '@inlay/platform/credentials';
import { forgetChange, listChanges } from '@inlay/platform/definitions/registered-definitions';
import { type OpenPlatform, openPlatform } from '@inlay/platform/open-platform';
import { createPlatformApp } from '@inlay/platform/platform-app';
import { readDemand } from '@inlay/platform/workers/workers';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { builtFolder } from '../built-folder.ts';
import type { NotedChanges } from '../catalog/definitions/registered-changes.ts';
import type { OAuthContext } from '../credentials/context.ts';
import {
  accessForPlatform,
  CredentialNeedsAttention,
  CredentialUnavailable,
  handBackFromPlatform,
} from '../credentials/tokens/access.ts';
import { type Config, type Secrets, serviceEndpoints } from '../kernel/config/config.ts';
import type { DataDir } from '../kernel/config/data-dir.ts';
import { limitConnections } from '../kernel/http/connections.ts';
import { assertKnown, type Sealer } from '../kernel/sealing.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import type { Tracer } from '../kernel/telemetry/tracing.ts';
import { platformFile, refuseUnmoved } from './platform-store.ts';

export { newProcessName } from '@inlay/platform/process-names';

export const platformPath = '/platform/v1';

const credentialsFile = 'platform-credentials.json';

export interface PlatformCredentials {
  clientId: string;
  clientSecret: string;
}

/** The credentials of the environment, or a generated pair for the bundled platform. */
export function platformCredentials(secrets: Secrets, dataDir: Pick<DataDir, 'readOrCreate'>): PlatformCredentials {
  const { platformClientId: clientId, platformClientSecret: clientSecret } = secrets;
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  return JSON.parse(dataDir.readOrCreate(credentialsFile, () => JSON.stringify(newCredentials())));
}

const newCredentials = (): PlatformCredentials => ({
  clientId: randomBytes(16).toString('hex'),
  clientSecret: randomBytes(32).toString('base64url'),
});

/** For a command that opens the platform in its own process and must not make files: any pair serves. */
export const passingCredentials = (secrets: Secrets, dataDir: string): PlatformCredentials =>
  readPlatformCredentials(secrets, dataDir) ?? newCredentials();

/** The same, without making any; undefined before the first start. */
export function readPlatformCredentials(secrets: Secrets, dataDir: string): PlatformCredentials | undefined {
  if (secrets.platformClientId === undefined && !existsSync(join(dataDir, credentialsFile))) return undefined;
  return platformCredentials(secrets, { readOrCreate: (file) => readFileSync(join(dataDir, file), 'utf8') });
}

/** Changes of connectors that the log may not have yet. */
export function notedChanges({ definitions }: OpenPlatform): NotedChanges {
  return { list: () => listChanges(definitions), forget: (id) => forgetChange(definitions, id) };
}

export interface BundledPlatform {
  /** Serves the platform's API below /platform/v1: called within this process, or listening on a port of its own. */
  app: FastifyInstance;
  platform: OpenPlatform;
  /** Notified whenever jobs have been queued, started or ended. */
  onJobsChanged(tell: () => void): void;
  close(): Promise<void>;
}

const connectorsProgram = join(builtFolder, 'connectors/main.js');

interface BundledPlatformParts {
  dataDir: DataDir;
  /** Undefined: SQLite in the data directory. */
  databaseUrl: string | undefined;
  sealer: Sealer;
  log: Logger;
  storage?: StorageState;
  metrics?: Metrics;
  tracer?: Tracer | undefined;
  organizationId?: string | undefined;
  /** Where the tokens of customers who have signed in come from. Undefined: nothing is run. */
  credentials?: told.Credentials;
  /** Whether only this process calls the platform, without a socket. */
  isInternal: boolean;
}

/**
 * A separate app around the platform, so that calls within the process need no socket, write no log line and meet no
 * limit.
 */
export async function openBundledPlatform(
  config: Config,
  application: PlatformCredentials,
  {
    dataDir,
    databaseUrl,
    sealer,
    log,
    storage,
    metrics,
    tracer,
    organizationId,
    credentials,
    isInternal,
  }: BundledPlatformParts,
): Promise<BundledPlatform> {
  refuseUnmoved(config, { platformDatabaseUrl: databaseUrl });
  let tellJobsChanged = () => {};
  const platform = await openPlatform({
    file: dataDir.path(platformFile),
    databaseUrl,
    dataDir: dataDir.path(''),
    ...application,
    ...(credentials && { credentials }),
    sealer: {
      seal: (text, context) => sealer.seal(Buffer.from(text), context),
      open: (sealed, context) => sealer.open(sealed, context).toString(),
      assertKnown: (sealed) => assertKnown(sealer, sealed),
      keyIds: sealer.keyIds,
    },
    publicUrl: `${config.publicUrl}${platformPath}`,
    connectorsProgram,
    allowPrivateNetworks: config.allowPrivateNetworks,
    serviceEndpoints: serviceEndpoints(config),
    readableDirs: config.readableDirs,
    maxConcurrentSyncs: config.maxConcurrentSyncs,
    maxConcurrentSyncsPerWorkspace: config.maxConcurrentSyncsPerWorkspace,
    maxConcurrentChecks: config.maxConcurrentChecks,
    maxConcurrentChecksPerWorkspace: config.maxConcurrentChecksPerWorkspace,
    maxWaitingPerWorkspace: config.maxWaitingPerWorkspace,
    maxAttemptMs: config.syncTimeoutMs,
    maxJobMs: config.jobTimeoutMs,
    turnMs: config.syncTurnMs,
    runner: { checkTimeoutMs: config.checkTimeoutMs, limits: config.connectorLimits },
    ...(metrics && {
      onWaited: (kind, waitedMs) => metrics.queueWait(kind, waitedMs / 1000),
      onValuesChanged: (kind, count) => metrics.valuesChanged(kind, count),
    }),
    onJobsChanged: () => tellJobsChanged(),
    log,
    ...(storage && { storage }),
    ...(tracer && { tracer }),
    ...(organizationId === undefined ? {} : { defaultOrganizationId: organizationId }),
  });
  metrics?.watchWorkers(() => readDemand(platform.workers));
  const { trustedProxies, maxConnectionsPerAddress: maxPerAddress } = config;
  const app = await createPlatformApp(platform, { prefix: platformPath, log, isInternal, trustedProxies });
  if (!isInternal) {
    const onRefused = (reason: 'address' | 'total') => metrics?.connectionRefused(reason);
    limitConnections(app.server, { maxPerAddress, trustedProxies, log, onRefused });
  }
  return {
    app,
    platform,
    onJobsChanged(tell) {
      tellJobsChanged = tell;
    },
    close: async () => {
      await app.close().finally(() => platform.close());
    },
  };
}

/** How a platform in this process gets the tokens of a credential. */
export interface TokenSource extends told.Credentials {
  /** The service opens it before it starts the platform's work: the platform itself is opened first. */
  open(oauth: OAuthContext): void;
}

export function createTokenSource(): TokenSource {
  let oauth: OAuthContext | undefined;
  const opened = (): OAuthContext => {
    if (!oauth) throw new Error('the platform requested a token before the service was assembled');
    return oauth;
  };
  return {
    open(context) {
      oauth = context;
    },
    accessTo: (ref, { forMs, notGeneration }) =>
      inPlatformsWords(async () => {
        const wanted = { ...(forMs !== undefined && { forMs }), ...(notGeneration !== undefined && { notGeneration }) };
        const { values, generation, expiresAt } = await accessForPlatform(opened(), ref, wanted);
        return { values, generation, expiresAt };
      }),
    handBack: (ref, tokens) => inPlatformsWords(() => handBackFromPlatform(opened(), ref, tokens)),
    outage: () => undefined,
    test: async () => undefined,
  };
}

async function inPlatformsWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CredentialNeedsAttention) {
      throw new told.CredentialNeedsAttention(error.whose, { cause: error });
    }
    if (error instanceof CredentialUnavailable) throw new told.CredentialUnavailable(error.message, { cause: error });
    throw error;
  }
}
