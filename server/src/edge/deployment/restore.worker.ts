/**
 * Restores a backup into an empty deployment.
 *
 * What always holds: everything that can be refused is refused before anything is written. The data is prepared in a folder
 * of its own and moved into place at the end, the service's database last, so a restore that is interrupted leaves nothing
 * that a service would start on.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openStore as openPlatformStore } from '@inlay/platform/db/open';
import { tryLock } from '@inlay/sqlite/file-lock';
import { assertCompatible } from '@inlay/sqlite/schema-history';
import { openTokens } from '../../credentials/tokens/credentials.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { findObstacle, openDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer } from '../../kernel/config/encryption-keys.ts';
import { migrate } from '../../kernel/db/migrations.ts';
import { openSqlite } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { version } from '../../kernel/version.ts';
import { createJournal } from '../../log/events/journal.ts';
import { skipPositions } from '../../log/events/restored-positions.worker.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import { assertKeyOpens } from '../../tenancy/tokens/signing-keys.ts';
import { type DeploymentContext, filesFolder, historyOf, onlySqlite } from './backup.ts';
import { type KeyFiles, openKeys } from './backup-keys.ts';
import { assertIntact, type Backup, hashOf, keysFile, readBackup } from './backup-manifest.ts';
import { forgetReplicas, listDueCredentials, markAsSent } from './restored.worker.store.ts';

interface RestoreContext extends DeploymentContext {
  runtime: Runtime;
}

export interface Restored {
  backup: Backup;
  organizations: number;
  /** Whose tokens may have been replaced since: their customers may have to sign in again. */
  credentials: { id: string; workspace_id: string; workspace_name: string; account: string | null }[];
}

const stagingFolder = 'restoring';

export async function restore(
  ctx: RestoreContext,
  { from, passphrase }: { from: string; passphrase: string | undefined },
): Promise<Restored> {
  const { config, secrets } = ctx;
  if (secrets.databaseUrl !== undefined) throw new OperatorError(onlySqlite);
  const backup = await openBackup(from);
  const keys = openKeysOf(backup, passphrase);
  assertEmpty(config.dataDir, backup);
  assertKeysFit(ctx, backup, keys);

  const dataDir = openDataDir(config.dataDir);
  const lock = tryLock(dataDir.path('upgrade.lock'));
  if (!lock) throw new OperatorError(`Another process upgrades or restores ${config.dataDir}.`);
  const staging = dataDir.path(stagingFolder);
  try {
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { mode: 0o700 });
    await copyInto(staging, backup);
    const sealer = openSealer(secrets, stagedKeys(keys, staging, config.dataDir));
    const restored = await prepare(ctx, backup, { staging, sealer });
    for (const name of ['platform.db', filesFolder, ...Object.keys(keys), 'inlay.db']) {
      if (existsSync(join(staging, name))) renameSync(join(staging, name), dataDir.path(name));
    }
    return { backup, ...restored };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    lock.close();
  }
}

/** Checks everything that can be checked without the passphrase. */
export async function openBackup(folder: string): Promise<Backup> {
  const backup = readBackup(folder);
  await assertIntact(backup);
  for (const { name, file } of backup.manifest.stores) {
    const history = await historyOf(name, join(folder, file));
    assertCompatible(history, version);
    if (history.unknown.length > 0) {
      throw new OperatorError(`The backup at ${folder} was made by a later version than ${version}. Use that version.`);
    }
  }
  return backup;
}

export function openKeysOf({ folder, manifest }: Backup, passphrase: string | undefined): KeyFiles {
  if (manifest.keys !== 'sealed') return {};
  if (passphrase === undefined) {
    throw new OperatorError(
      'The backup contains sealed encryption keys. Name the passphrase with --passphrase-file <file>.',
    );
  }
  return openKeys(readFileSync(join(folder, keysFile), 'utf8'), passphrase, manifest.id);
}

/** Secrets that the operator puts there, and what comes with a volume. */
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

/** The key that the restored deployment will use must open the backup. */
function assertKeysFit({ config, secrets }: RestoreContext, { manifest }: Backup, keys: KeyFiles): void {
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
    if (path === keysFile) continue;
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

async function prepare(
  { config, runtime }: RestoreContext,
  { manifest }: Backup,
  { staging, sealer }: { staging: string; sealer: Sealer },
): Promise<Omit<Restored, 'backup'>> {
  const has = (name: string) => manifest.stores.some((store) => store.name === name);
  if (has('platform') && config.platformUrl === undefined) {
    await (await openPlatformStore(join(staging, 'platform.db'))).close();
  } else rmSync(join(staging, 'platform.db'), { force: true });
  if (!has('service')) return { organizations: 0, credentials: [] };
  const store = openSqlite({ file: join(staging, 'inlay.db'), now: runtime.now });
  try {
    await migrate(store);
    await assertKeyOpens(store.db, sealer);
    const journal = createJournal({ runtime, cause: byCommandLine });
    return await store.transaction(async (tx) => {
      const due = await listDueCredentials(tx);
      const spent = due.filter((row) => typeof openTokens(sealer, row)?.refreshToken === 'string');
      await markAsSent(
        tx,
        spent.map(({ id }) => id),
      );
      await forgetReplicas(tx);
      const organizations = await listOrganizationIds(tx);
      if (organizations.length > 0) await skipPositions(tx, organizations, runtime.now());
      for (const id of organizations) {
        const credentials = spent.filter((row) => row.organization_id === id).length;
        const data = { backup_at: manifest.started_at, inlay_version: manifest.inlay_version, credentials };
        await journal.record(tx, id, { type: 'backup.restored', data });
      }
      const credentials = spent.map(({ id, workspace_id, workspace_name, account_label }) => {
        return { id, workspace_id, workspace_name, account: account_label };
      });
      return { organizations: organizations.length, credentials };
    });
  } finally {
    await store.close();
  }
}
