/**
 * Restores a backup into an empty deployment.
 *
 * What always holds: everything that can be refused is refused before anything is written. The data is prepared in a folder
 * of its own and moved into place at the end. A SQLite database of the service comes last, so an interrupted restore leaves
 * nothing that a service would start on. PostgreSQL commits before the files move: after a crash in between, the database is
 * not empty and the restore must start over with a new one.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tryLock } from '@inlay/database/file-lock';
import type { DatabaseKind } from '@inlay/database/open-database';
import { schemaOf as platformSchemaOf } from '@inlay/platform/db/migrations';
import {
  makeSchema,
  openStore as openPlatformStore,
  openStoreAsItIs,
  type Store as PlatformStore,
  readStoreHistory,
} from '@inlay/platform/db/open';
import { openTokens } from '../../credentials/tokens/credentials.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import type { AwsSettings } from '../../kernel/config/config.ts';
import { findObstacle, openDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer } from '../../kernel/config/encryption-keys.ts';
import { migrate, readSchemaHistory, schemaOf } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { createJournal } from '../../log/events/journal.ts';
import { skipPositions } from '../../log/events/restored-positions.worker.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import { assertKeyOpens } from '../../tenancy/tokens/signing-keys.ts';
import { openStore } from '../open-store.ts';
import { platformFile } from '../platform-store.ts';
import {
  type DeploymentContext,
  filesFolder,
  platformTablesFolder,
  tablesFolder,
  tablesOfPlatform,
  tablesOfService,
} from './backup.worker.ts';
import { type KeyFiles, openKeys } from './backup-keys.ts';
import { assertIntact, type Backup, hashOf, keysFile, type Manifest, readBackup } from './backup-manifest.ts';
import { withBackupAt } from './backup-places.ts';
import { readTables } from './postgres-tables.worker.store.ts';
import { type Replay, type Replayed, readReplay, replay } from './replayed-events.worker.ts';
import {
  endConsoleAccess,
  forgetReplicas,
  listDueCredentials,
  listLiveWorkspaces,
  markAsSent,
} from './restored.worker.store.ts';

export interface Restored {
  backup: Backup;
  organizations: number;
  /** Their tokens may have been replaced since the backup, so their customers may have to sign in again. */
  credentials: { id: string; workspace_id: string; workspace_name: string; account: string | null }[];
  /** Live workspaces that the platform in the backup doesn't have: deleted while the backup was made. */
  missingOnPlatform: { id: string; name: string }[];
  replayed: Replay;
}

export interface RestoreOptions {
  from: string;
  passphrase: string | undefined;
  /** Exports of the audit trail that are newer than the backup. */
  replayFiles: readonly string[];
}

const stagingFolder = 'restoring';
/** For each statement of a restore into PostgreSQL. */
const patienceMs = 3_600_000;

export function restore(ctx: DeploymentContext, options: RestoreOptions): Promise<Restored> {
  return withBackup(options.from, ctx.secrets.aws, (backup) => restoreBackup(ctx, backup, options));
}

async function restoreBackup(
  ctx: DeploymentContext,
  backup: Backup,
  { passphrase, replayFiles }: RestoreOptions,
): Promise<Restored> {
  const { config, secrets } = ctx;
  const replayed = (await Promise.all(replayFiles.map(readReplay))).flat();
  const keys = await openKeysOf(backup, passphrase);
  assertEmpty(config.dataDir, backup);
  assertKeysFit(ctx, backup, keys);
  await assertDatabase(ctx, backup);

  const dataDir = openDataDir(config.dataDir);
  const lock = tryLock(dataDir.path('upgrade.lock'));
  if (!lock)
    throw new OperatorError(`Another process is upgrading or restoring ${config.dataDir}. Wait until it has finished.`);
  const staging = dataDir.path(stagingFolder);
  try {
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { mode: 0o700 });
    await copyInto(staging, backup);
    const sealer = openSealer(secrets, stagedKeys(keys, staging, config.dataDir));
    const restored = await prepare(ctx, backup, { staging, sealer, replayed });
    for (const name of [platformFile, filesFolder, ...Object.keys(keys), 'inlay.db']) {
      if (existsSync(join(staging, name))) renameSync(join(staging, name), dataDir.path(name));
    }
    return { backup, ...restored };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    lock.close();
  }
}

/** Checks everything that can be checked without the passphrase. */
export const withBackup = <T>(from: string, aws: AwsSettings, use: (backup: Backup) => Promise<T>): Promise<T> =>
  withBackupAt(from, aws, async (folder, at) => use(await openBackup(folder, at)));

async function openBackup(folder: string, at: string): Promise<Backup> {
  const backup = readBackup(folder, at);
  await assertIntact(backup);
  for (const { name, kind, migrations } of backup.manifest.stores) {
    const known = (name === 'platform' ? platformSchemaOf(kind) : schemaOf(kind)).migrations;
    if (migrations.every((migration) => migration in known)) continue;
    throw new OperatorError(`The backup at ${at} was made by a later version of Inlay. Use that version.`);
  }
  return backup;
}

export async function openKeysOf({ folder, manifest }: Backup, passphrase: string | undefined): Promise<KeyFiles> {
  if (manifest.keys !== 'sealed') return {};
  if (passphrase === undefined) {
    throw new OperatorError(
      'The backup contains sealed encryption keys. Pass the passphrase with --passphrase-file <file>, or set INLAY_BACKUP_PASSPHRASE.',
    );
  }
  return await openKeys(readFileSync(join(folder, keysFile), 'utf8'), passphrase, manifest.id);
}

/** What a new data directory may contain: files of volumes, and of upgrades and restores that failed. */
const allowed = new Set(['lost+found', 'upgrade.lock', 'last-backup', stagingFolder]);

function assertEmpty(dataDir: string, { manifest }: Backup): void {
  const obstacle = findObstacle(dataDir);
  if (obstacle !== undefined) throw new OperatorError(`Cannot use the data directory ${dataDir}: ${obstacle}.`);
  if (!existsSync(dataDir)) return;
  const isOwnKey = (name: string) => manifest.keys === 'left_out' && name.startsWith('encryption.key');
  const found = readdirSync(dataDir).filter((name) => !allowed.has(name) && !isOwnKey(name));
  if (found.length === 0) return;
  throw new OperatorError(
    `${dataDir} is not empty: it contains ${found.slice(0, 3).join(', ')}. Restore into a new INLAY_DATA_DIR, or move the old data away first.`,
  );
}

/** The backup must be of the same kinds of databases, which have no data yet. */
async function assertDatabase(ctx: DeploymentContext, { manifest }: Backup): Promise<void> {
  const { databaseUrl, platformDatabaseUrl } = ctx.secrets;
  const kindOf = (name: string) => manifest.stores.find((store) => store.name === name)?.kind;
  assertKind(kindOf('service'), databaseUrl, 'INLAY_DATABASE_URL');
  const isBundled = ctx.config.platformUrl === undefined;
  if (isBundled) assertKind(kindOf('platform'), platformDatabaseUrl, 'INLAY_PLATFORM_DATABASE_URL');
  if (kindOf('service') === 'postgres') {
    const store = openStore(ctx.config, ctx.secrets, ctx);
    const { applied } = await readSchemaHistory(store).finally(() => store.close());
    if (applied.length > 0) throw isNotEmpty('INLAY_DATABASE_URL');
  }
  if (isBundled && kindOf('platform') === 'postgres' && platformDatabaseUrl !== undefined) {
    const store = openStoreAsItIs({ url: platformDatabaseUrl }, { maxConnections: 1 });
    const { applied } = await readStoreHistory(store).finally(() => store.close());
    if (applied.length > 0) throw isNotEmpty('INLAY_PLATFORM_DATABASE_URL');
  }
}

function assertKind(kind: DatabaseKind | undefined, url: string | undefined, variable: string): void {
  const isPostgres = url !== undefined;
  if (kind === undefined || (kind === 'postgres') === isPostgres) return;
  const advice = isPostgres ? 'Unset' : 'Set';
  throw new OperatorError(`The backup is from a different kind of database. ${advice} ${variable}.`);
}

const isNotEmpty = (variable: string) =>
  new OperatorError(`The database of ${variable} is not empty. Restore into a new database.`);

/** The key that the restored deployment will use must open the backup. */
function assertKeysFit({ config, secrets }: DeploymentContext, { manifest }: Backup, keys: KeyFiles): void {
  const [needed] = manifest.key_ids;
  if (needed === undefined) return;
  const isGiven = secrets.encryptionKeys !== undefined;
  if (!isGiven && Object.keys(keys).length > 0) return;
  const place = { path: (file: string) => join(config.dataDir, file), readOrCreate: () => '' };
  if (openSealer(secrets, place).keyIds().includes(needed)) return;
  throw new OperatorError(
    isGiven
      ? 'INLAY_ENCRYPTION_KEY is not the key of this backup. Set it to the key that was used when the backup was made.'
      : `The backup does not contain its encryption key. Copy encryption.key to ${config.dataDir}, or set INLAY_ENCRYPTION_KEY, then restore again.`,
  );
}

async function copyInto(staging: string, { folder, manifest }: Backup): Promise<void> {
  for (const { path, sha256 } of manifest.files) {
    const isTable = [tablesFolder, platformTablesFolder].some((each) => path.startsWith(`${each}/`));
    if (path === keysFile || isTable) continue;
    const target = join(staging, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    copyFileSync(join(folder, path), target);
    if ((await hashOf(target)) !== sha256) throw new OperatorError(`${target} could not be copied. Check the disk.`);
  }
}

/** The keys of the backup, or those that the operator has put into the data directory. */
function stagedKeys(keys: KeyFiles, staging: string, dataDir: string) {
  const isInBackup = Object.keys(keys).length > 0;
  if (isInBackup) {
    const staged = openDataDir(staging);
    for (const [name, content] of Object.entries(keys)) staged.replace(name, content);
  }
  return openDataDir(isInBackup ? staging : dataDir);
}

interface Preparation {
  staging: string;
  sealer: Sealer;
  replayed: readonly Replayed[];
}

/** The platform's tables are committed last: if anything before them fails, nothing of them is there. */
async function prepare(
  ctx: DeploymentContext,
  backup: Backup,
  preparation: Preparation,
): Promise<Omit<Restored, 'backup'>> {
  const { config, secrets } = ctx;
  const { staging } = preparation;
  const saved = backup.manifest.stores.find(({ name }) => name === 'platform');
  if (!saved || config.platformUrl !== undefined) {
    rmSync(join(staging, platformFile), { force: true });
    return await prepareService(ctx, backup, preparation, undefined);
  }
  if (saved.kind === 'sqlite') {
    const platform = await openPlatformStore(join(staging, platformFile));
    const living = await listLivingOn(platform.db).finally(() => platform.close());
    return await prepareService(ctx, backup, preparation, living);
  }
  const platform = openStoreAsItIs({ url: secrets.platformDatabaseUrl as string }, { maxConnections: 1 });
  try {
    return await platform.exclusively(async (tx) => {
      await makeSchema(tx);
      await readTables(tx, join(backup.folder, saved.file), saved.migrations, tablesOfPlatform);
      return await prepareService(ctx, backup, preparation, await listLivingOn(tx));
    }, patienceMs);
  } finally {
    await platform.close();
  }
}

async function listLivingOn(platform: PlatformStore['db']): Promise<Set<unknown>> {
  const rows = await platform.selectFrom('workspaces').select('workspace_id').where('deleted_at', 'is', null).execute();
  return new Set(rows.map(({ workspace_id }) => workspace_id));
}

async function prepareService(
  { config, secrets, runtime }: DeploymentContext,
  { folder, manifest }: Backup,
  { staging, sealer, replayed }: Preparation,
  onPlatform: Set<unknown> | undefined,
): Promise<Omit<Restored, 'backup'>> {
  const service = manifest.stores.find(({ name }) => name === 'service');
  if (!service)
    return { organizations: 0, credentials: [], missingOnPlatform: [], replayed: { deleted: 0, revoked: 0 } };
  const store = openStore({ ...config, dataDir: staging }, secrets, { runtime });
  try {
    if (store.kind === 'sqlite') await migrate(store);
    return await store.exclusively(async (tx) => {
      if (store.kind === 'postgres')
        await readTables(tx, join(folder, service.file), service.migrations, tablesOfService);
      await assertKeyOpens(tx, sealer);
      const inside: Store = { ...store, db: tx, transaction: (work) => work(tx), exclusively: (work) => work(tx) };
      const restored = await makeFit(inside, { sealer, manifest, runtime, replayed });
      const missing = onPlatform && (await listLiveWorkspaces(tx)).filter(({ id }) => !onPlatform.has(id));
      return { ...restored, missingOnPlatform: missing ?? [] };
    }, patienceMs);
  } finally {
    await store.close();
  }
}

interface Fitting {
  sealer: Sealer;
  manifest: Manifest;
  runtime: Runtime;
  replayed: readonly Replayed[];
}

/** `store`: inside the transaction of the restore. */
async function makeFit(
  store: Store,
  { sealer, manifest, runtime, replayed }: Fitting,
): Promise<Omit<Restored, 'backup' | 'missingOnPlatform'>> {
  const tx = store.db;
  const due = await listDueCredentials(tx);
  const spent = due.filter((row) => typeof openTokens(sealer, row)?.refreshToken === 'string');
  const ids = spent.map(({ id }) => id);
  await markAsSent(tx, ids);
  await forgetReplicas(tx);
  await endConsoleAccess(tx);
  const organizations = await listOrganizationIds(tx);
  if (organizations.length > 0) await skipPositions(tx, organizations, runtime.now());
  const journal = createJournal({ runtime, cause: byCommandLine });
  for (const id of organizations) {
    const credentials = spent.filter((row) => row.organization_id === id).length;
    const data = { backup_at: manifest.started_at, inlay_version: manifest.inlay_version, credentials };
    await journal.record(tx, id, { type: 'backup.restored', data });
  }
  const credentials = spent.map(({ id, workspace_id, workspace_name, account_label: account }) => {
    return { id, workspace_id, workspace_name, account };
  });
  return {
    organizations: organizations.length,
    credentials,
    replayed: await replay({ store, runtime, sealer, journal }, replayed),
  };
}
