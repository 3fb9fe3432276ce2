/**
 * Opens the one client of the platform: for the bundled platform within this process, or for a hosted one. The client
 * reports the results of its calls to the metrics and the log.
 */
import type { StorageState } from '@inlay/database/storage-state';
import type { Logger } from 'pino';
import type { Config, Secrets } from '../kernel/config/config.ts';
import type { DataDir } from '../kernel/config/data-dir.ts';
import type { OrganizationRow } from '../kernel/db/tables.ts';
import { OperatorError } from '../kernel/errors.ts';
import { createPlatformClient } from '../kernel/platform/platform-client.ts';
import type { PlatformPort } from '../kernel/platform/platform-port.ts';
import { httpTransport, inProcessTransport, type Transport } from '../kernel/platform/transport.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Sealer } from '../kernel/sealing.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import type { Tracer } from '../kernel/telemetry/tracing.ts';
import {
  type BundledPlatform,
  openBundledPlatform,
  type PlatformCredentials,
  platformCredentials,
  platformPath,
  type TokenSource,
} from './bundled-platform.ts';
import type { PlatformTrouble } from './deployment/service-health.ts';

/** How long a start waits for the platform. */
const platformPatienceMs = 5_000;

interface PlatformParts {
  dataDir: DataDir;
  runtime: Runtime;
  metrics: Metrics;
  log: Logger;
  storage: StorageState;
  tracer: Tracer;
  sealer: Sealer;
  organizationId: string;
  /** Where the bundled platform gets tokens from. */
  tokenSource: TokenSource;
  /** Wraps the transport to the platform, for tests that need it to fail. */
  wrapTransport?: ((transport: Transport) => Transport) | undefined;
}

async function openTransport(
  config: Config,
  credentials: PlatformCredentials,
  parts: PlatformParts & { databaseUrl: string | undefined },
): Promise<{ bundled: BundledPlatform | undefined; transport: Transport }> {
  if (config.platformUrl !== undefined) return { bundled: undefined, transport: httpTransport(config.platformUrl) };
  const bundled = await openBundledPlatform(config, credentials, {
    ...parts,
    credentials: parts.tokenSource,
    isInternal: true,
  });
  return { bundled, transport: inProcessTransport(bundled.app, platformPath) };
}

interface OpenPlatformClient {
  bundled: BundledPlatform | undefined;
  platform: PlatformPort;
  transport: Transport;
  /** The result of the last call, and when calls failed. */
  platformTrouble(): PlatformTrouble;
}

export async function openPlatformClient(
  config: Config,
  secrets: Secrets,
  parts: PlatformParts,
): Promise<OpenPlatformClient> {
  const { runtime, metrics, log, tracer } = parts;
  const credentials = platformCredentials(secrets, parts.dataDir);
  const { bundled, transport } = await openTransport(config, credentials, {
    ...parts,
    databaseUrl: secrets.platformDatabaseUrl,
  });
  const wrapped = parts.wrapTransport?.(transport) ?? transport;
  let trouble: PlatformTrouble = { failure: null, failingSince: null, lastFailureAt: null };
  const platform: PlatformPort = createPlatformClient({
    transport: wrapped,
    credentials,
    runtime,
    tracer,
    onCall: ({ operation, outcome, durationMs, isRetry, error }) => {
      metrics.platformCall(operation, outcome, durationMs / 1000, isRetry);
      // The bundled platform fails when its store does, and that has been logged.
      if (bundled && (outcome === 'unavailable' || outcome === 'unknown')) parts.storage.attribute(error);
      if (outcome !== 'ok') log.warn({ operation, outcome, err: error }, 'Platform request failed');
      const failure = outcome === 'unavailable' || outcome === 'unauthorised' ? outcome : null;
      const now = runtime.now();
      trouble = failure
        ? { failure, failingSince: trouble.failingSince ?? now, lastFailureAt: now }
        : { ...trouble, failure, failingSince: null };
    },
    onBreaker: (open) => {
      metrics.platformBreaker(open);
      if (open) log.warn('Platform keeps failing; circuit breaker open');
      else log.info('Platform recovered; circuit breaker closed');
    },
  });
  return { bundled, platform, transport: wrapped, platformTrouble: () => trouble };
}

/**
 * Stops a start that could mistake other organizations' workspaces for ours. A platform that does not answer in time
 * does not stop the start: the client looks again before it returns any workspace, and returns none whose owner is
 * unclear.
 */
export async function refuseMixedOrganizations(
  platform: PlatformPort,
  { platform_organization_id: id }: OrganizationRow,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const patience = new AbortController();
  const traits = platform.traits(id).catch((err) => {
    log.warn({ err }, 'Platform cannot be used');
    return undefined;
  });
  const known = await Promise.race([traits, runtime.timeLimit(platformPatienceMs, patience.signal)]);
  patience.abort();
  if (!known || known.tellsApart) return;
  throw new OperatorError(
    `The platform's credentials can access ${known.organizations.length} organizations, and the platform does not report which ` +
      'one a workspace belongs to. Set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET to an application ' +
      `of a user who is a member of ${id} only.`,
  );
}
