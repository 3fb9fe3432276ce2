/**
 * What a backup consists of. The manifest lists every file with its size and SHA-256, and has a checksum of its own, so a
 * flipped bit or half a copy is found before anything is restored.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SqliteConnection } from '@inlay/database/connection';
import { isOlder } from '@inlay/database/schema-history';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { OperatorError } from '../../kernel/errors.ts';
import { version } from '../../kernel/version.ts';

export const manifestFile = 'manifest.json';
export const keysFile = 'keys.sealed';
const formatVersion = 1;

/** Relative, and without a way out of the folder. */
const Path = Type.String({ pattern: '^(?!.*(^|/)\\.\\.?(/|$))[^/\\\\][^\\\\]*$' });
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' });

const Manifest = Type.Object({
  format_version: Type.Literal(formatVersion),
  id: Type.String(),
  inlay_version: Type.String(),
  started_at: Instant,
  finished_at: Instant,
  /** In the order in which they were copied. */
  stores: Type.Array(
    Type.Object({
      name: Type.Union([Type.Literal('service'), Type.Literal('platform')]),
      kind: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
      /** PostgreSQL: the folder with a file for each table. */
      file: Path,
      /** The copy is at least as new as this. */
      copied_at: Instant,
      migrations: Type.Array(Type.String()),
    }),
    { minItems: 1 },
  ),
  keys: Type.Union([
    Type.Literal('sealed'),
    Type.Literal('left_out'),
    /** In INLAY_ENCRYPTION_KEY. */
    Type.Literal('environment'),
    /** No secret was stored yet. */
    Type.Literal('none'),
  ]),
  /** Ids of the encryption keys, which reveal nothing about them. The first one sealed. */
  key_ids: Type.Array(Type.String()),
  includes_files: Type.Boolean(),
  files: Type.Array(
    Type.Object({
      path: Path,
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});
export type Manifest = Static<typeof Manifest>;

export interface Backup {
  /** Where its files are on this machine. */
  folder: string;
  /** Where it is kept: the same folder, or a URL. */
  at: string;
  manifest: Manifest;
}

export function writtenManifest(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, checksum: checksumOf(manifest) }, null, 2)}\n`;
}

const checksumOf = (manifest: object) => createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/** Throws if the folder is not a backup, or the backup is unfinished or from a later version. */
export function readBackup(folder: string, at = folder): Backup {
  const file = join(folder, manifestFile);
  if (!existsSync(file)) {
    throw new OperatorError(
      `No backup at ${at}: there is no ${manifestFile}. Name the folder of one backup; ${unfinishedEnd} folders are unfinished.`,
    );
  }
  const { checksum, ...manifest } = parse(file, at);
  if (Number(manifest.format_version) > formatVersion) throw laterVersion(at, String(manifest.inlay_version));
  if (checksum !== checksumOf(manifest) || !Value.Check(Manifest, manifest)) throw damaged(at, manifestFile);
  if (isOlder(version, manifest.inlay_version)) throw laterVersion(at, manifest.inlay_version);
  return { folder, at, manifest };
}

/** Suffix of folders that are being written, or were left by a failed backup. */
export const unfinishedEnd = '.unfinished';

function parse(file: string, at: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    throw damaged(at, manifestFile);
  }
}

const laterVersion = (at: string, later: string) =>
  new OperatorError(`The backup at ${at} was made by Inlay ${later}; this is ${version}. Use Inlay ${later} or later.`);

const damaged = (at: string, path: string) =>
  new OperatorError(`${at}/${path} is damaged. Use another copy of this backup, or an earlier backup.`);

/** Throws unless every file is unchanged and the databases can be read. */
export async function assertIntact({ folder, at, manifest }: Backup): Promise<void> {
  for (const listed of manifest.files) {
    const file = join(folder, listed.path);
    const isSame = existsSync(file) && statSync(file).size === listed.bytes && (await hashOf(file)) === listed.sha256;
    if (!isSame) throw damaged(at, listed.path);
  }
  const listed = new Set(manifest.files.map(({ path }) => path));
  const databases = manifest.stores.filter(({ kind }) => kind === 'sqlite').map(({ file }) => file);
  const needed = [...databases, ...(manifest.keys === 'sealed' ? [keysFile] : [])];
  for (const path of needed) if (!listed.has(path)) throw damaged(at, manifestFile);
  for (const file of databases) {
    const database = new SqliteConnection(join(folder, file), { readOnly: true });
    try {
      const [result] = database.prepare('pragma quick_check(1)').all();
      if (result?.quick_check !== 'ok') throw damaged(at, file);
    } finally {
      database.close();
    }
  }
}

export async function hashOf(file: string, stopping?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash, { signal: stopping });
  return hash.digest('hex');
}
