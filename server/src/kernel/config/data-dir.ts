/**
 * The data directory: SQLite files and the secrets that the service generates for itself, readable by its owner only.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../errors.ts';

export interface DataDir {
  path(file: string): string;
  /** The content of a file. If the file does not exist, it is made with the content that `create` gives. */
  readOrCreate(file: string, create: () => string): string;
  /** Replaces the file whole or not at all. */
  replace(file: string, content: string): void;
}

/** Makes the directory if it does not exist. */
export function openDataDir(directory: string): DataDir {
  const isThere = existsSync(directory);
  const refuse = (why: string, cause?: unknown) =>
    new OperatorError(
      `Cannot ${isThere ? 'use' : 'create'} the data directory ${directory}: ${why}.\nGive the user that runs Inlay access to it, or set INLAY_DATA_DIR to a different directory.`,
      { cause },
    );
  const obstacle = findObstacle(directory);
  if (obstacle !== undefined) throw refuse(obstacle);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw refuse((cause as Error).message, cause);
  }
  return at(directory);
}

/** For a command that only reads: it makes nothing, neither in a wrong place nor in place of a lost file. */
export function openExistingDataDir(directory: string): DataDir {
  return {
    ...at(directory),
    readOrCreate(file) {
      if (!existsSync(directory)) throw noData(directory);
      const target = join(directory, file);
      if (!existsSync(target)) throw new OperatorError(`The file ${target} is missing. Restore it from a backup.`);
      return readFileSync(target, 'utf8');
    },
  };
}

export class NoData extends OperatorError {}

export const noData = (directory: string) => new NoData(`No Inlay data at ${directory}. Set INLAY_DATA_DIR.`);

const { R_OK, W_OK, X_OK } = constants;
/** A key may lie on a read-only volume; SQLite writes even to read. */
const accessToFiles: Record<string, number> = {
  'encryption.key': R_OK,
  'platform-credentials.json': R_OK,
  ...Object.fromEntries(
    ['inlay.db', 'platform.db'].flatMap((file) => ['', '-wal', '-shm'].map((end) => [`${file}${end}`, R_OK | W_OK])),
  ),
};

/** What keeps this process from using the directory, or from making it: a path and its permission. */
export function findObstacle(directory: string): string | undefined {
  let place = directory;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  if (!statSync(place).isDirectory()) return `${place} is a file`;
  const files = Object.entries(accessToFiles).map(([file, access]) => [join(directory, file), access] as const);
  const needed = [[place, place === directory ? R_OK | W_OK | X_OK : W_OK | X_OK] as const, ...files];
  for (const [path, access] of needed) {
    try {
      accessSync(path, access);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS') return `${path} is on a read-only file system`;
      if (code !== 'ENOENT') return `${path} ${permissionOf(path)}`;
    }
  }
  return undefined;
}

function permissionOf(path: string): string {
  const { mode, uid, gid } = statSync(path);
  const permission = (mode & 0o7777).toString(8).padStart(4, '0');
  return `has permission ${permission} and belongs to user ${uid}, group ${gid}, while Inlay runs as user ${process.getuid?.()}, group ${process.getgid?.()}`;
}

function at(directory: string): DataDir {
  return {
    path: (file) => join(directory, file),
    readOrCreate(file, create) {
      const target = join(directory, file);
      if (!existsSync(target)) {
        // Written whole under another name, then linked: another process sees the whole file or nothing, and one of two
        // writers wins.
        const draft = writeDraft(target, create());
        try {
          linkSync(draft, target);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        } finally {
          rmSync(draft);
        }
      }
      return readFileSync(target, 'utf8');
    },
    replace(file, content) {
      const target = join(directory, file);
      renameSync(writeDraft(target, content), target);
    },
  };
}

function writeDraft(target: string, content: string): string {
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
  return draft;
}
