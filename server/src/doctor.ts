/**
 * Looks at everything that a deployment needs. Says for each part what state it is in and what to do. Changes nothing.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, readConfig, type Secrets } from './config.ts';
import type { Store } from './db/open.ts';
import * as rules from './doctor-rules.ts';
import { openStore } from './open-store.ts';
import { listOrganizations } from './organizations/organizations.ts';
import { readSyncState } from './pipelines/job-watch.worker.ts';
import { createPlatformClient } from './platform/platform-client.ts';
import { httpTransport } from './platform/transport.ts';
import { systemRuntime } from './runtime.ts';

export type { Finding } from './doctor-rules.ts';

export async function examine(env: Record<string, string | undefined>): Promise<rules.Finding[]> {
  try {
    const { config, secrets } = readConfig(env);
    return [
      ...rules.examineConfig(config, secrets),
      rules.examineReach(config),
      rules.examineMetrics(config, secrets),
      ...rules.examineDataDir(config),
      ...(await examineDatabase(config, secrets)),
      ...(await examinePlatform(config, secrets)),
      ...(await rules.examineConsole(config)),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => rules.fail('configuration', fault));
  }
}

async function examineDatabase(config: Config, secrets: Secrets): Promise<rules.Finding[]> {
  const kind = rules.databaseNames[secrets.databaseUrl === undefined ? 'sqlite' : 'postgres'];
  if (kind === 'SQLite' && !existsSync(join(config.dataDir, 'inlay.db'))) {
    return [rules.ok('database: SQLite, will be made on the first start')];
  }
  let store: Store | undefined;
  try {
    store = openStore(config, secrets, { runtime: systemRuntime });
    const tables = await rules.examineMigrations(store);
    if (tables.state !== 'ok') return [tables];
    return [
      tables,
      await rules.examineClock(store),
      ...(await rules.examineOrganizations(store, config, await listOrganizations(store))),
      await rules.examineBacklog(store),
      ...rules.describeSyncs(await readSyncState(store)),
    ];
  } catch (error) {
    const advice =
      kind === 'SQLite' ? 'Check the file and the disk.' : 'Check INLAY_DATABASE_URL and that the server is up.';
    return [rules.fail(`database: ${kind} cannot be used (${(error as Error).message})`, advice)];
  } finally {
    await store?.close();
  }
}

async function examinePlatform(config: Config, secrets: Secrets): Promise<rules.Finding[]> {
  if (config.platformUrl === undefined) return [rules.ok('platform: bundled')];
  const transport = httpTransport(config.platformUrl);
  const { platformClientId: clientId = '', platformClientSecret: clientSecret = '' } = secrets;
  const platform = createPlatformClient({
    transport,
    credentials: { clientId, clientSecret },
    runtime: systemRuntime,
  });
  try {
    return await rules.examinePlatform(config, { platform, transport });
  } finally {
    await platform.close();
  }
}
