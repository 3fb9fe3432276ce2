/** Opens the database that the configuration names. */
import type { StorageState } from '@inlay/database/storage-state';
import type { Config, Secrets } from '../kernel/config/config.ts';
import { openDataDir } from '../kernel/config/data-dir.ts';
import { openPostgres, openSqlite, type Store } from '../kernel/db/open.ts';
import type { Runtime } from '../kernel/runtime.ts';

interface StoreOptions {
  runtime: Runtime;
  busyTimeoutMs?: number;
  /** Called when the database stops accepting writes, or does not respond. */
  storage?: StorageState;
}

export function openStore(config: Config, secrets: Secrets, { runtime, busyTimeoutMs, storage }: StoreOptions): Store {
  if (secrets.databaseUrl !== undefined) return openPostgres({ url: secrets.databaseUrl, storage });
  const file = openDataDir(config.dataDir).path('inlay.db');
  return openSqlite({ file, now: runtime.now, storage, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) });
}
