/** Logs of jobs that are still where the platform keeps them. */
import { openBundledPlatform, platformCredentials, platformPath } from '../bundled-platform.ts';
import { readConfig } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { openSealer } from '../encryption-keys.ts';
import { createLog } from '../log.ts';
import { createPlatformClient } from '../platform/platform-client.ts';
import type { PlatformPort } from '../platform/platform-port.ts';
import { httpTransport, inProcessTransport } from '../platform/transport.ts';
import { systemRuntime } from '../runtime.ts';

export async function openPlatformLogs(): Promise<Pick<PlatformPort, 'readJobLog'> & { close(): Promise<void> }> {
  const { config, secrets } = readConfig(process.env);
  const dataDir = openDataDir(config.dataDir);
  const credentials = platformCredentials(secrets, dataDir);
  const log = createLog('silent');
  // Beside a service that may be running on it. It runs no jobs.
  const bundled =
    config.platformUrl === undefined
      ? await openBundledPlatform(config, credentials, {
          dataDir,
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
