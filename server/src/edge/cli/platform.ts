/** `inlay platform migrate-store`. */
import { join } from 'node:path';
import { migrateStore } from '@inlay/platform/migrate-store';
import { readConfig } from '../../kernel/config/config.ts';
import { openExistingDataDir } from '../../kernel/config/data-dir.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { platformFile } from '../platform-store.ts';
import { print } from './output.ts';

export async function movePlatformStore(): Promise<void> {
  const { config, secrets } = readConfig(process.env, { runs: 'platform' });
  const url = secrets.platformDatabaseUrl;
  if (url === undefined) {
    throw new OperatorError('Set INLAY_PLATFORM_DATABASE_URL to the PostgreSQL database to copy to.');
  }
  const { dataDir } = config;
  openExistingDataDir(dataDir);
  await migrateStore({ file: join(dataDir, platformFile), url, dataDir, tell: print });
}
