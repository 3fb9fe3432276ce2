/**
 * Makes a backup of a deployment that may be running. Each SQLite file is copied by SQLite's online backup, which is
 * consistent and blocks no writer.
 *
 * What always holds: the service's store is copied before the platform's. The service writes down what it wants before it
 * asks the platform, so everything that the earlier copy refers to is in the later one, unless it was deleted in between;
 * the reconciler repairs the rest (docs/adr/0031-backups.md). A folder has its final name only when everything is in it.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { schema as platformSchema } from '@inlay/platform/db/migrations';
import { SqliteConnection } from '@inlay/sqlite/connection';
import { assertCompatible, readFileHistory } from '@inlay/sqlite/schema-history';
import type { Config, Secrets } from '../../kernel/config/config.ts';
import { noData, openExistingDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer, readKeyFiles } from '../../kernel/config/encryption-keys.ts';
import { schemaOf } from '../../kernel/db/migrations.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import { sealKeys } from './backup-keys.ts';
import {
  type Backup,
  hashOf,
  keysFile,
  type Manifest,
  manifestFile,
  unfinishedEnd,
  writtenManifest,
} from './backup-manifest.ts';
import { recordBackup } from './last-backup.ts';

export interface DeploymentContext {
  config: Pick<Config, 'dataDir' | 'platformUrl'>;
  secrets: Secrets;
  runtime: Pick<Runtime, 'now' | 'newId'>;
}

export interface BackupOptions {
  /** A new folder is made in this one. */
  to: string;
  /** Undefined: leave the keys out. */
  passphrase: string | undefined;
  leavesKeysOut: boolean;
  /** Whether the files of the destination `local-files` are copied too. */
  includesFiles: boolean;
}

/** Files that customers' syncs have written. */
export const filesFolder = 'files';

export const onlySqlite =
  'Backups of PostgreSQL are not supported. Use pg_dump or the snapshots of your provider, and back up platform.db on the machine of the platform.';

export async function makeBackup(ctx: DeploymentContext, options: BackupOptions): Promise<Backup> {
  const { config, runtime } = ctx;
  const stores = storesOf(ctx);
  const { keys, keyIds, choice } = chooseKeys(ctx, options);
  const startedAt = runtime.now();
  const id = runtime.newId();
  const folder = join(options.to, `inlay-backup-${isoTime(startedAt).replaceAll(/[:.]/g, '-')}`);
  if (existsSync(folder)) throw new OperatorError(`${folder} already exists. Try again.`);
  const draft = `${folder}${unfinishedEnd}`;
  mkdirSync(options.to, { recursive: true, mode: 0o700 });
  mkdirSync(draft, { mode: 0o700 });
  try {
    const copied: Manifest['stores'] = [];
    for (const store of stores) copied.push(await copyStore(store, draft, runtime.now()));
    if (options.includesFiles && existsSync(join(config.dataDir, filesFolder))) {
      cpSync(join(config.dataDir, filesFolder), join(draft, filesFolder), { recursive: true, filter: isPlain });
    }
    if (JSON.stringify(readKeyFiles(openExistingDataDir(config.dataDir))) !== JSON.stringify(keys)) {
      throw new OperatorError('The encryption key was replaced during the backup. Run the backup again.');
    }
    if (choice === 'sealed') {
      write(join(draft, keysFile), sealKeys(keys, options.passphrase as string, id));
    }
    const manifest: Manifest = {
      ...{ format_version: 1, id, inlay_version: version, started_at: isoTime(startedAt) },
      ...{ finished_at: isoTime(runtime.now()), stores: copied, keys: choice, key_ids: keyIds },
      ...{ includes_files: options.includesFiles, files: await listFiles(draft) },
    };
    write(join(draft, manifestFile), writtenManifest(manifest));
    renameSync(draft, folder);
    recordBackup(config.dataDir, startedAt);
    return { folder, manifest };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

interface StoreFile {
  name: 'service' | 'platform';
  path: string;
  file: string;
}

/** The service first: see above. */
function storesOf({ config, secrets }: DeploymentContext): StoreFile[] {
  if (secrets.databaseUrl !== undefined) throw new OperatorError(onlySqlite);
  const files: Omit<StoreFile, 'path'>[] = [{ name: 'service', file: 'inlay.db' }];
  if (config.platformUrl === undefined) files.push({ name: 'platform', file: 'platform.db' });
  const found = files.map((each) => ({ ...each, path: join(config.dataDir, each.file) }));
  const existing = found.filter(({ path }) => existsSync(path));
  if (existing.length === 0) throw noData(config.dataDir);
  return existing;
}

async function copyStore({ name, path, file }: StoreFile, draft: string, now: number): Promise<Manifest['stores'][0]> {
  const target = join(draft, file);
  const connection = new SqliteConnection(path, { readOnly: true, busyTimeoutMs: 10_000 });
  await connection.copyTo(target).finally(() => connection.close());
  const history = await historyOf(name, target);
  assertCompatible(history, version);
  return { name, kind: 'sqlite', file, copied_at: isoTime(now), migrations: history.applied };
}

export async function historyOf(name: StoreFile['name'], file: string) {
  return name === 'service'
    ? await readFileHistory(file, schemaOf('sqlite'))
    : await readFileHistory(file, platformSchema);
}

function chooseKeys({ config, secrets }: DeploymentContext, { passphrase, leavesKeysOut }: BackupOptions) {
  const dataDir = openExistingDataDir(config.dataDir);
  const keyIds = openSealer(secrets, dataDir).keyIds();
  const keys = readKeyFiles(dataDir);
  const chosen = (choice: Manifest['keys']) => ({ keys, keyIds, choice });
  if (secrets.encryptionKeys) {
    if (passphrase === undefined) return chosen('environment');
    throw new OperatorError(
      'The encryption key is in INLAY_ENCRYPTION_KEY, which a backup does not contain. Keep a copy of it elsewhere, and leave out --passphrase-file.',
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

/** Neither links, which could point anywhere, nor what is no file. */
const isPlain = (path: string) => lstatSync(path).isDirectory() || lstatSync(path).isFile();

async function listFiles(folder: string): Promise<Manifest['files']> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const listed: Manifest['files'] = [];
  for (const path of paths) {
    listed.push({ path: path.slice(folder.length + 1), bytes: statSync(path).size, sha256: await hashOf(path) });
  }
  return listed;
}

function write(path: string, content: string): void {
  writeFileSync(path, content, { mode: 0o600, flag: 'wx', flush: true });
}
