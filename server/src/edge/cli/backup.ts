/** `inlay backup`, `inlay backup verify` and `inlay restore`. */
import { readConfig, type Secrets } from '../../kernel/config/config.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { makeBackup } from '../deployment/backup.worker.ts';
import { readPassphrase } from '../deployment/backup-keys.ts';
import type { Backup, Manifest } from '../deployment/backup-manifest.ts';
import { openKeysOf, type Restored, restore, withBackup } from '../deployment/restore.worker.ts';
import { megabytes } from '../deployment/upgrade.ts';
import { plain, print, printJson, table } from './output.ts';

interface KeyOptions {
  passphraseFile?: string;
  json?: boolean;
}

const passphraseOf = ({ passphraseFile }: KeyOptions, { backupPassphrase }: Secrets) =>
  passphraseFile === undefined ? backupPassphrase : readPassphrase(passphraseFile);

export async function backUp(options: KeyOptions & { to?: string; withoutKeys?: boolean; files?: boolean }) {
  const ctx = { ...readConfig(process.env), runtime: systemRuntime };
  const { to = ctx.config.backup.to, withoutKeys = false, files = false } = options;
  if (to === undefined) {
    throw new OperatorError('Pass a folder or an s3:// URL for the backup with --to <place>, or set INLAY_BACKUP_TO.');
  }
  const passphrase =
    withoutKeys && options.passphraseFile === undefined ? undefined : passphraseOf(options, ctx.secrets);
  const made = await makeBackup(ctx, { to, passphrase, leavesKeysOut: withoutKeys, includesFiles: files });
  if (options.json) return printJson(report(made));
  print(`Backed up to ${made.at} (${sizeOf(made.manifest)}).`, keysText[made.manifest.keys]);
}

export async function verifyBackup(from: string, options: KeyOptions): Promise<void> {
  const { secrets } = readConfig(process.env);
  const passphrase = passphraseOf(options, secrets);
  const verified = await withBackup(from, secrets.aws, async (backup) => {
    if (passphrase !== undefined) await openKeysOf(backup, passphrase);
    return backup;
  });
  if (options.json) return printJson(report(verified));
  const { manifest } = verified;
  print(
    `The backup of ${manifest.started_at} is complete and unchanged (${sizeOf(manifest)}).`,
    keysText[manifest.keys],
  );
  if (manifest.keys === 'sealed') {
    print(
      passphrase === undefined
        ? 'To check the passphrase too, add --passphrase-file.'
        : 'The passphrase opens the keys.',
    );
  }
}

const keysText: Record<Manifest['keys'], string> = {
  sealed: 'The encryption keys are in the backup, sealed with your passphrase. Without it, the backup is useless.',
  left_out: 'The encryption keys are not in the backup. Without encryption.key, the backup is useless.',
  environment: 'The encryption key is not in the backup. Without INLAY_ENCRYPTION_KEY, the backup is useless.',
  none: 'There is no encryption key yet.',
};

const bytesOf = ({ files }: Manifest) => files.reduce((sum, { bytes }) => sum + bytes, 0);
const sizeOf = (manifest: Manifest) => megabytes(bytesOf(manifest));

function report({ at: folder, manifest }: Backup) {
  const { id, inlay_version, started_at, finished_at, stores, keys, includes_files } = manifest;
  const bytes = bytesOf(manifest);
  return { folder, id, inlay_version, started_at, finished_at, stores, keys, includes_files, bytes };
}

export async function restoreBackup(options: KeyOptions & { from: string; replayEvents?: string[] }): Promise<void> {
  const ctx = { ...readConfig(process.env), runtime: systemRuntime };
  const restored = await restore(ctx, {
    from: options.from,
    passphrase: passphraseOf(options, ctx.secrets),
    replayFiles: options.replayEvents ?? [],
  });
  const { organizations, credentials, backup, missingOnPlatform: missing_on_platform, replayed } = restored;
  if (options.json) {
    return printJson({ ...report(backup), organizations, credentials, missing_on_platform, replayed });
  }
  print(`Restored the backup of ${backup.manifest.started_at} into ${ctx.config.dataDir}.`);
  describe(restored);
}

function describe({ organizations, credentials, backup, missingOnPlatform, replayed }: Restored): void {
  if (!backup.manifest.stores.some(({ name }) => name === 'service')) return;
  print(
    `The restore is recorded in the audit trail (organizations: ${organizations}). Events continue after a gap in their positions.`,
    '',
    'Before you let customers in:',
    '- Make sure that the old deployment no longer runs.',
    '- Start the service, then sync workspaces: POST /api/v1/workspaces/sync',
    '- Changes since the backup are lost. Delete again what was deleted, and revoke again what was revoked.',
  );
  if (replayed.deleted + replayed.revoked > 0) {
    print(`  Repeated from the export: ${replayed.deleted} deleted workspaces, ${replayed.revoked} revocations.`);
  }
  if (missingOnPlatform.length > 0) {
    print('', 'Workspaces to reconcile, which were deleted while the backup was made. Delete them again:', '');
    table(
      ['WORKSPACE', { title: 'NAME', isCut: true }],
      missingOnPlatform.map(({ id, name }) => [id, plain(name)]),
    );
  }
  if (credentials.length === 0) return;
  print(
    '',
    `Credentials whose tokens were due since the backup: ${credentials.length}. Inlay tries each refresh token once. If the provider rejects it, the customer is asked to sign in again.`,
    '',
  );
  const rows = credentials.map(({ id, workspace_name, account }) => [id, plain(workspace_name), plain(account ?? '-')]);
  table(['CREDENTIAL', { title: 'WORKSPACE', isCut: true }, { title: 'ACCOUNT', isCut: true }], rows);
}
