/**
 * Makes a backup of a deployment that may be running. Each SQLite file is copied by SQLite's online backup, which is
 * consistent and blocks no writer; the tables of PostgreSQL are read in one snapshot.
 *
 * What always holds: the service's store is copied before the platform's. The service records an intent before it calls
 * the platform, so everything that the earlier copy refers to is in the later one, unless it was deleted in between;
 * the reconciler repairs the rest (docs/adr/0031-backups.md). A folder has its final name only when everything is in it.
 *
 * The service itself makes scheduled backups, so nothing here holds up its event loop for long.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { cp, lstat, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { assertCompatible, readFileHistory, type SchemaHistory } from '@inlay/database/schema-history';
import { schema as platformSchema, schemaOf as platformSchemaOf } from '@inlay/platform/db/migrations';
import { openStoreAsItIs, postgresSchema, readStoreHistory } from '@inlay/platform/db/open';
import type { Tables as PlatformTables } from '@inlay/platform/db/tables';
import type { Config, Secrets } from '../../kernel/config/config.ts';
import { noData, openExistingDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer, readKeyFiles } from '../../kernel/config/encryption-keys.ts';
import { readSchemaHistory, schemaOf } from '../../kernel/db/migrations.ts';
import type { Tables } from '../../kernel/db/tables.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import { openStore } from '../open-store.ts';
import { platformFile } from '../platform-store.ts';
import { sealKeys } from './backup-keys.ts';
import { type Backup, hashOf, keysFile, type Manifest, manifestFile, writtenManifest } from './backup-manifest.ts';
import { type BackupPlace, backupName, openPlace } from './backup-places.ts';
import { recordBackup } from './last-backup.ts';
import { type TablesOf, writeTables } from './postgres-tables.worker.store.ts';

export interface DeploymentContext {
  config: Config;
  secrets: Secrets;
  runtime: Runtime;
}

export interface BackupOptions {
  /** A new folder is made in this one, or below this s3:// URL. */
  to: string;
  /** Undefined: leave the keys out. */
  passphrase: string | undefined;
  leavesKeysOut: boolean;
  /** Whether the files of the destination `local-files` are copied too. */
  includesFiles: boolean;
  /** Gives up, and leaves nothing behind on this machine. */
  stopping?: AbortSignal | undefined;
}

/** Files that customers' syncs have written. */
export const filesFolder = 'files';
export const tablesFolder = 'tables';
export const platformTablesFolder = 'platform-tables';

export const tablesOfService: TablesOf<Tables> = { definition: schemaOf('postgres') };
export const tablesOfPlatform: TablesOf<PlatformTables> = {
  definition: platformSchemaOf('postgres'),
  schema: postgresSchema,
};

export async function makeBackup(ctx: DeploymentContext, options: BackupOptions): Promise<Backup> {
  const place = await openBackupPlace(ctx, options.to);
  return await makeBackupIn(place, ctx, options).finally(() => place.close());
}

export function openBackupPlace({ config, secrets }: DeploymentContext, to: string): Promise<BackupPlace> {
  return openPlace(to, { aws: secrets.aws, drafts: existsSync(config.dataDir) ? config.dataDir : tmpdir() });
}

export async function makeBackupIn(
  place: BackupPlace,
  ctx: DeploymentContext,
  options: Omit<BackupOptions, 'to'>,
): Promise<Backup> {
  const { config, runtime } = ctx;
  const { stopping } = options;
  const stores = storesOf(ctx, stopping);
  const { keys, keyIds, choice } = chooseKeys(ctx, options);
  const startedAt = runtime.now();
  const id = runtime.newId();
  const name = backupName(startedAt);
  const draft = place.draft(name);
  try {
    const copied: Manifest['stores'] = [];
    for (const { copy, ...store } of stores) {
      stopping?.throwIfAborted();
      const copied_at = isoTime(runtime.now());
      copied.push({ ...store, copied_at, migrations: await copy(join(draft, store.file)) });
    }
    if (options.includesFiles && existsSync(join(config.dataDir, filesFolder))) {
      await cp(join(config.dataDir, filesFolder), join(draft, filesFolder), { recursive: true, filter: isPlain });
    }
    if (JSON.stringify(readKeyFiles(openExistingDataDir(config.dataDir))) !== JSON.stringify(keys)) {
      throw new OperatorError('The encryption key was replaced during the backup. Run the backup again.');
    }
    if (choice === 'sealed') {
      write(join(draft, keysFile), await sealKeys(keys, options.passphrase as string, id));
    }
    const manifest: Manifest = {
      ...{ format_version: 1, id, inlay_version: version, started_at: isoTime(startedAt) },
      ...{ finished_at: isoTime(runtime.now()), stores: copied, keys: choice, key_ids: keyIds },
      ...{ includes_files: options.includesFiles, files: await listFiles(draft, stopping) },
    };
    write(join(draft, manifestFile), writtenManifest(manifest));
    const at = await place.keep(draft, name, stopping);
    if (existsSync(config.dataDir)) recordBackup(config.dataDir, startedAt);
    return { folder: at, at, manifest };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

type CopiedStore = Manifest['stores'][0];

/** The service first: see above. Each returns the migrations of the copy at this path. */
function storesOf(
  ctx: DeploymentContext,
  stopping: AbortSignal | undefined,
): (Pick<CopiedStore, 'name' | 'kind' | 'file'> & { copy: Copy })[] {
  const { config, secrets } = ctx;
  const path = (file: string) => join(config.dataDir, file);
  const copyFile = (file: string, historyOf: (copy: string) => Promise<SchemaHistory>) => async (target: string) => {
    const connection = new SqliteConnection(path(file), { readOnly: true, busyTimeoutMs: 10_000 });
    await connection.copyTo(target).finally(() => connection.close());
    const history = await historyOf(target);
    assertCompatible(history, version);
    return history.applied;
  };
  const service = copyFile('inlay.db', (copy) => readFileHistory(copy, schemaOf('sqlite')));
  const platform = copyFile(platformFile, (copy) => readFileHistory(copy, platformSchema));
  const isPostgres = secrets.databaseUrl !== undefined;
  const stores = [
    isPostgres
      ? {
          name: 'service' as const,
          kind: 'postgres' as const,
          file: tablesFolder,
          copy: (to: string) => copyTables(ctx, to, stopping),
        }
      : { name: 'service' as const, kind: 'sqlite' as const, file: 'inlay.db', copy: service },
    secrets.platformDatabaseUrl === undefined
      ? { name: 'platform' as const, kind: 'sqlite' as const, file: platformFile, copy: platform }
      : {
          name: 'platform' as const,
          kind: 'postgres' as const,
          file: platformTablesFolder,
          copy: (to: string) => copyPlatformTables(secrets.platformDatabaseUrl as string, to, stopping),
        },
  ].filter(({ name, kind, file }) =>
    name === 'platform' && config.platformUrl !== undefined ? false : kind === 'postgres' || existsSync(path(file)),
  );
  if (stores.length === 0) throw noData(config.dataDir);
  return stores;
}

type Copy = (target: string) => Promise<string[]>;

async function copyTables(
  { config, secrets, runtime }: DeploymentContext,
  target: string,
  stopping: AbortSignal | undefined,
): Promise<string[]> {
  const store = openStore(config, secrets, { runtime });
  try {
    const history = await readSchemaHistory(store);
    assertCompatible(history, version);
    if (history.applied.length === 0)
      throw new OperatorError('No Inlay data in this database. Check INLAY_DATABASE_URL.');
    return await writeTables(store.db, target, tablesOfService, stopping);
  } finally {
    await store.close();
  }
}

async function copyPlatformTables(url: string, target: string, stopping: AbortSignal | undefined): Promise<string[]> {
  const store = openStoreAsItIs({ url }, { maxConnections: 1 });
  try {
    const history = await readStoreHistory(store);
    assertCompatible(history, version);
    if (history.applied.length === 0)
      throw new OperatorError('No data of a platform in this database. Check INLAY_PLATFORM_DATABASE_URL.');
    return await writeTables(store.db, target, tablesOfPlatform, stopping);
  } finally {
    await store.close();
  }
}

function chooseKeys({ config, secrets }: DeploymentContext, { passphrase, leavesKeysOut }: Omit<BackupOptions, 'to'>) {
  const dataDir = openExistingDataDir(config.dataDir);
  const keyIds = openSealer(secrets, dataDir).keyIds();
  const keys = readKeyFiles(dataDir);
  const chosen = (choice: Manifest['keys']) => ({ keys, keyIds, choice });
  if (secrets.encryptionKeys) {
    if (passphrase === undefined) return chosen('environment');
    throw new OperatorError(
      'The encryption key is in INLAY_ENCRYPTION_KEY, which a backup does not contain. Keep a copy of it elsewhere, and set no passphrase.',
    );
  }
  if (passphrase !== undefined && leavesKeysOut)
    throw new OperatorError('Choose one: --passphrase-file or --without-keys.');
  if (Object.keys(keys).length === 0) return chosen('none');
  if (passphrase !== undefined) return chosen('sealed');
  if (leavesKeysOut) return chosen('left_out');
  throw new OperatorError(
    `The encryption key is in ${config.dataDir}. Seal it into the backup with --passphrase-file <file>, or leave it out with --without-keys and keep a copy elsewhere.`,
  );
}

/** Skips links, which could point anywhere, and devices. */
async function isPlain(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isDirectory() || found.isFile();
}

async function listFiles(folder: string, stopping: AbortSignal | undefined): Promise<Manifest['files']> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const listed: Manifest['files'] = [];
  for (const path of paths) {
    listed.push({
      path: path.slice(folder.length + 1),
      bytes: (await stat(path)).size,
      sha256: await hashOf(path, stopping),
    });
  }
  return listed;
}

function write(path: string, content: string): void {
  writeFileSync(path, content, { mode: 0o600, flag: 'wx', flush: true });
}
