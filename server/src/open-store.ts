/** Opens the database that the configuration names. */
import type { Config, Secrets } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { openPostgres, openSqlite, type Store } from './db/open.ts';
import type { Runtime } from './runtime.ts';

interface StoreOptions {
  runtime: Runtime;
  /** Told when PostgreSQL ends a connection that nobody uses at that moment. */
  onIdleError?: (error: Error) => void;
  busyTimeoutMs?: number;
}

export function openStore(
  config: Config,
  secrets: Secrets,
  { runtime, onIdleError = () => {}, busyTimeoutMs }: StoreOptions,
): Store {
  if (secrets.databaseUrl !== undefined) return openPostgres({ url: secrets.databaseUrl, onIdleError });
  const file = openDataDir(config.dataDir).path('inlay.db');
  return openSqlite({ file, now: runtime.now, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) });
}
