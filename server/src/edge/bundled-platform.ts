/**
 * The bundled platform inside our process. The platform itself is a package of its own (`@inlay/platform`), the rest of
 * the service talks to it as to any other platform: through the port (platform/platform-port.ts) and its client.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as told from '@inlay/platform/credentials';
import { forgetChange, listChanges } from '@inlay/platform/definitions/registered-definitions';
import { type OpenPlatform, openPlatform } from '@inlay/platform/open-platform';
import { createPlatformApp } from '@inlay/platform/platform-app';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { builtFolder } from './built-folder.ts';
import { type Config, type Secrets, serviceEndpoints } from './config.ts';
import type { DataDir } from './data-dir.ts';
import type { NotedChanges } from './definitions/registered-changes.ts';
import { limitConnections } from './http/connections.ts';
import type { Metrics } from './metrics.ts';
import type { OAuthContext } from './oauth/context.ts';
import { CredentialNeedsAttention, CredentialUnavailable } from './oauth/credentials.ts';
import { accessForPlatform, handBackFromPlatform } from './oauth/platform-access.ts';
import type { Sealer } from './sealing.ts';
import type { Tracer } from './tracing.ts';

export const platformPath = '/platform/v1';

export interface PlatformCredentials {
  clientId: string;
  clientSecret: string;
}

/** The credentials of the environment, or a generated pair for the bundled platform. */
export function platformCredentials(secrets: Secrets, dataDir: DataDir): PlatformCredentials {
  const { platformClientId: clientId, platformClientSecret: clientSecret } = secrets;
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  const create = () =>
    JSON.stringify({ clientId: randomBytes(16).toString('hex'), clientSecret: randomBytes(32).toString('base64url') });
  return JSON.parse(dataDir.readOrCreate('platform-credentials.json', create));
}

/** Changes of connectors that the log may not have yet. */
export function notedChanges({ definitions }: OpenPlatform): NotedChanges {
  return { list: () => listChanges(definitions), forget: (id) => forgetChange(definitions, id) };
}

export interface BundledPlatform {
  /** Serves the platform's API below /platform/v1: called within this process, or listening on a port of its own. */
  app: FastifyInstance;
  platform: OpenPlatform;
  /** Who is told whenever jobs have been queued, started or ended. */
  onJobsChanged(tell: () => void): void;
  close(): Promise<void>;
}

const connectorsProgram = join(builtFolder, 'connectors/main.js');

interface BundledPlatformParts {
  dataDir: DataDir;
  sealer: Sealer;
  log: Logger;
  metrics?: Metrics;
  tracer?: Tracer | undefined;
  organizationId?: string | undefined;
  /** The tokens of customers who have signed in; without them no source can use any. Opened later than the platform. */
  oauth?: (() => OAuthContext) | undefined;
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
  { dataDir, sealer, log, metrics, tracer, organizationId, oauth, isInternal }: BundledPlatformParts,
): Promise<BundledPlatform> {
  let tellJobsChanged = () => {};
  const platform = await openPlatform({
    file: dataDir.path('platform.db'),
    dataDir: dataDir.path(''),
    ...application,
    ...(oauth && { credentials: credentialsFrom(oauth) }),
    sealer: {
      seal: (text, context) => sealer.seal(Buffer.from(text), context),
      open: (sealed, context) => sealer.open(sealed, context).toString(),
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
    runner: { checkTimeoutMs: config.checkTimeoutMs, limits: config.connectorLimits },
    ...(metrics && {
      onWaited: (kind, waitedMs) => metrics.queueWait(kind, waitedMs / 1000),
      onValuesChanged: (kind, count) => metrics.valuesChanged(kind, count),
    }),
    onJobsChanged: () => tellJobsChanged(),
    log,
    ...(tracer && { tracer }),
    ...(organizationId === undefined ? {} : { defaultOrganizationId: organizationId }),
  });
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
      await app.close();
      await platform.close();
    },
  };
}

/** How the platform gets the tokens of a credential: when a connector starts and while it runs. */
function credentialsFrom(oauth: () => OAuthContext): told.Credentials {
  return {
    accessTo: (ref, { forMs, notGeneration }) =>
      inPlatformsWords(async () => {
        const wanted = { ...(forMs !== undefined && { forMs }), ...(notGeneration !== undefined && { notGeneration }) };
        const { values, generation, expiresAt } = await accessForPlatform(oauth(), ref, wanted);
        return { values, generation, expiresAt };
      }),
    handBack: (ref, tokens) => inPlatformsWords(() => handBackFromPlatform(oauth(), ref, tokens)),
  };
}

async function inPlatformsWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CredentialNeedsAttention) {
      const whose = error.reason === 'client_refused' ? 'operator' : 'customer';
      throw new told.CredentialNeedsAttention(whose, { cause: error });
    }
    if (error instanceof CredentialUnavailable) throw new told.CredentialUnavailable(error.message, { cause: error });
    throw error;
  }
}
