/**
 * Looks at everything that a deployment needs. Says for each part what state it is in and what to do. Changes nothing.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasCredentials } from '../../credentials/tokens/refresh.worker.ts';
import { type Config, ConfigError, readConfig, type Secrets } from '../../kernel/config/config.ts';
import type { Store } from '../../kernel/db/open.ts';
import { createPlatformClient } from '../../kernel/platform/platform-client.ts';
import { httpTransport } from '../../kernel/platform/transport.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { readSyncState } from '../../pipelines/connections/job-watch.worker.ts';
import { listOrganizations } from '../../tenancy/organizations/organizations.ts';
import { readPlatformCredentials } from '../bundled-platform.ts';
import { openCredentialChannel } from '../credential-channel.ts';
import { openStore } from '../open-store.ts';
import * as rules from './doctor-rules.ts';

export type { Finding } from './doctor-rules.ts';

export async function examine(env: Record<string, string | undefined>): Promise<rules.Finding[]> {
  try {
    const { config, secrets } = readConfig(env);
    return [
      ...rules.examineConfig(config, secrets),
      rules.examineReach(config),
      rules.examineMetrics(config, secrets),
      ...rules.examineDataDir(config),
      ...rules.examineBackup(config),
      ...(await examineDatabase(config, secrets)),
      ...(await examinePlatform(config, secrets)),
      ...(await examineService(config, secrets)),
      ...(await rules.examineConsole(config)),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => rules.fail('Configuration: invalid', fault));
  }
}

/** Whether there is no database yet. */
const isToBeMade = ({ dataDir }: Config, { databaseUrl }: Secrets) =>
  databaseUrl === undefined && !existsSync(join(dataDir, 'inlay.db'));

async function examineDatabase(config: Config, secrets: Secrets): Promise<rules.Finding[]> {
  const kind = rules.databaseNames[secrets.databaseUrl === undefined ? 'sqlite' : 'postgres'];
  if (isToBeMade(config, secrets)) {
    return [rules.ok('Database: SQLite, will be created on first start')];
  }
  let store: Store | undefined;
  try {
    store = openStore(config, secrets, { runtime: systemRuntime });
    const tables = await rules.examineMigrations(store);
    if (tables.state !== 'ok') return [tables];
    return [
      tables,
      ...(await rules.examineEncryptionKey(config, secrets, store)),
      await rules.examineClock(store),
      ...(await rules.examineOrganizations(store, config, await listOrganizations(store))),
      await rules.examineBacklog(store),
      ...rules.describeSyncs(await readSyncState(store)),
    ];
  } catch (error) {
    const advice =
      kind === 'SQLite'
        ? 'Check the file and the disk.'
        : 'Check INLAY_DATABASE_URL and that the database server is running.';
    return [rules.fail(`Database: cannot use ${kind} (${(error as Error).message})`, advice)];
  } finally {
    await store?.close();
  }
}

async function examinePlatform(config: Config, secrets: Secrets): Promise<rules.Finding[]> {
  if (config.platformUrl === undefined) {
    return await rules.examinePlatformStore(config, secrets);
  }
  const transport = httpTransport(config.platformUrl);
  const { platformClientId: clientId = '', platformClientSecret: clientSecret = '' } = secrets;
  const platform = createPlatformClient({
    transport,
    credentials: { clientId, clientSecret },
    runtime: systemRuntime,
  });
  try {
    return await rules.examinePlatform(config, {
      platform,
      transport,
      hasCredentials: () => mayHaveCredentials(config, secrets),
    });
  } finally {
    await platform.close();
  }
}

/** In the environment of a platform that runs alone. A platform without credentials in it has made some at its first start. */
async function examineService(config: Config, secrets: Secrets): Promise<rules.Finding[]> {
  if (config.serviceUrl === undefined) return [];
  const application = readPlatformCredentials(secrets, config.dataDir);
  if (!application) {
    const advice =
      'Start the platform once, or set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET to the same values as for the service.';
    return [rules.warn('Service: not checked, because the platform has no credentials yet', advice)];
  }
  const log = { warn: () => {}, info: () => {} };
  const channel = openCredentialChannel({ serviceUrl: config.serviceUrl, application, runtime: systemRuntime, log });
  try {
    return [await rules.examineServiceUrl(config, channel)];
  } finally {
    await channel.close();
  }
}

/** If this cannot be determined, a customer may have signed in. Another check reports problems of the database. */
async function mayHaveCredentials(config: Config, secrets: Secrets): Promise<boolean> {
  if (isToBeMade(config, secrets)) return false;
  const store = openStore(config, secrets, { runtime: systemRuntime });
  try {
    return await hasCredentials(store);
  } catch {
    return true;
  } finally {
    await store.close();
  }
}
