/** Logs of jobs that are still where the platform keeps them. */

import { readConfig } from '../../kernel/config/config.ts';
import { noData, openExistingDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer } from '../../kernel/config/encryption-keys.ts';
import { createPlatformClient } from '../../kernel/platform/platform-client.ts';
import type { PlatformPort } from '../../kernel/platform/platform-port.ts';
import { httpTransport, inProcessTransport } from '../../kernel/platform/transport.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createLog } from '../../kernel/telemetry/log.ts';
import { openBundledPlatform, passingCredentials, platformPath } from '../bundled-platform.ts';
import { hasPlatform } from './connectors.ts';

export async function openPlatformLogs(): Promise<Pick<PlatformPort, 'readJobLog'> & { close(): Promise<void> }> {
  const { config, secrets } = readConfig(process.env);
  if (config.platformUrl === undefined && !hasPlatform(config, secrets)) throw noData(config.dataDir);
  const dataDir = openExistingDataDir(config.dataDir);
  const credentials = passingCredentials(secrets, config.dataDir);
  const log = createLog('silent');
  // Beside a service that may be running on it. It runs no jobs.
  const bundled =
    config.platformUrl === undefined
      ? await openBundledPlatform(config, credentials, {
          dataDir,
          databaseUrl: secrets.platformDatabaseUrl,
          sealer: openSealer(secrets, dataDir),
          log,
          isInternal: true,
        })
      : undefined;
  const transport = bundled ? inProcessTransport(bundled.app, platformPath) : httpTransport(config.platformUrl ?? '');
  const platform = createPlatformClient({ transport, credentials, runtime: systemRuntime });
  return {
    readJobLog: (id, query) => platform.readJobLog(id, query),
    close: async () => {
      await platform.close();
      await bundled?.close();
    },
  };
}
