/** Where the bundled platform keeps its tables: a file of the data directory, or PostgreSQL. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StorePlace } from '@inlay/platform/db/open';
import type { Config, Secrets } from '../kernel/config/config.ts';
import { OperatorError } from '../kernel/errors.ts';

export type PlatformStoreConfig = Pick<Config, 'dataDir' | 'platformUrl'>;
export type PlatformStoreSecrets = Pick<Secrets, 'platformDatabaseUrl'>;

export const platformFile = 'platform.db';

export function placeOfPlatform(
  { dataDir }: Pick<Config, 'dataDir'>,
  { platformDatabaseUrl: url }: PlatformStoreSecrets,
): StorePlace {
  return url === undefined ? { file: join(dataDir, platformFile) } : { url };
}

/** Undefined without a bundled platform, or before it has a file. On PostgreSQL there may be no tables yet. */
export function findPlatformStore(config: PlatformStoreConfig, secrets: PlatformStoreSecrets): StorePlace | undefined {
  if (config.platformUrl !== undefined) return undefined;
  const place = placeOfPlatform(config, secrets);
  return 'url' in place || existsSync(place.file) ? place : undefined;
}

/** Throws where a start would leave the data of the platform behind: nothing says that the operator wants that. */
export function refuseUnmoved({ dataDir }: Pick<Config, 'dataDir'>, secrets: PlatformStoreSecrets): void {
  const file = join(dataDir, platformFile);
  if (secrets.platformDatabaseUrl === undefined || !existsSync(file)) return;
  throw new OperatorError(
    `INLAY_PLATFORM_DATABASE_URL is set, but the platform's data is still in ${file}. Copy it with: inlay platform migrate-store. To start without this data, move the file to another folder first.`,
  );
}
