/** A platform that runs alone, as `inlay platform` does, but in the process of the test. */
import { pino } from 'pino';
import { openBundledPlatform, platformPath } from '../../src/edge/bundled-platform.ts';
import { type CredentialChannel, openCredentialChannel } from '../../src/edge/credential-channel.ts';
import { readConfig } from '../../src/kernel/config/config.ts';
import { openDataDir } from '../../src/kernel/config/data-dir.ts';
import { openSealer } from '../../src/kernel/config/encryption-keys.ts';
import { systemRuntime } from '../../src/kernel/runtime.ts';
import { createTestDatabase } from './databases.ts';

export const application = {
  clientId: '1c9d3f7a52e84b06',
  clientSecret: 'a-secret-between-the-platform-and-the-service',
};

export interface PlatformAlone {
  channel: CredentialChannel;
  /** What a service needs to use it. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** `serviceUrl`: undefined if not configured. `asksForTokens`: false for a platform of an earlier version. */
export async function startPlatformAlone(
  serviceUrl: string | undefined,
  { asksForTokens = true, clientSecret = application.clientSecret } = {},
): Promise<PlatformAlone> {
  const database = await createTestDatabase('sqlite', { migrated: true });
  const { config, secrets } = readConfig(
    { INLAY_DATA_DIR: database.dataDir, INLAY_ALLOW_PRIVATE_NETWORKS: 'true' },
    { runs: 'platform' },
  );
  const dataDir = openDataDir(config.dataDir);
  const log = pino({ level: 'silent' });
  const runtime = {
    ...systemRuntime,
    sleep: (ms: number, signal?: AbortSignal) => systemRuntime.sleep(ms / 10, signal),
  };
  const own = { ...application, clientSecret };
  const channel = openCredentialChannel({ serviceUrl, application: own, runtime, log });
  const bundled = await openBundledPlatform(config, application, {
    ...{ dataDir, log, sealer: openSealer(secrets, dataDir), databaseUrl: undefined, isInternal: false },
    ...(asksForTokens && { credentials: channel }),
  });
  const url = await bundled.app.listen({ host: '127.0.0.1', port: 0 });
  bundled.platform.start();
  return {
    channel,
    env: {
      INLAY_PLATFORM_URL: `${url}${platformPath}`,
      INLAY_PLATFORM_CLIENT_ID: application.clientId,
      INLAY_PLATFORM_CLIENT_SECRET: application.clientSecret,
      INLAY_PLATFORM_SETTLE_SECONDS: '1',
      INLAY_ALLOW_PRIVATE_NETWORKS: 'true',
    },
    async stop() {
      await bundled.close();
      await channel.close();
      await database.drop();
    },
  };
}
