/*
 * Files on this machine. Invariants: only regular files are read, and only in folders that the operator allows, judged
 * by the resolved path. Nothing is revealed about anything outside, not even whether it exists.
 */
import { constants, type FileHandle, open, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ConnectorError } from '@inlay/protocol/connector';
import type { OpenFile, SourceFile } from './source-file.ts';

const maxFiles = 10_000;
const readBytes = 256 * 1024;

/** The file at a path, or all files whose names match when its last segment has an asterisk; sorted by name. */
export async function findLocalFiles(path: string, readableDirs: readonly string[]): Promise<SourceFile[]> {
  if (readableDirs.length === 0) {
    throw new ConnectorError('Reading folders on this server is not allowed. Ask the operator to allow a folder.');
  }
  const wanted = resolve(path);
  // Judged before the file system is asked, so that the answer is the same whether there is such a file or not.
  const isAllowed = isAbsolute(path) && readableDirs.some((dir) => isInside(resolve(dir), wanted));
  if (!isAllowed) throw notAllowed(path);
  const [folder, pattern] = [dirname(wanted), basename(wanted)];
  const names = pattern.includes('*') ? await matchingNames(folder, pattern, path, readableDirs) : [pattern];
  return names.map((name) => localFile(join(folder, name), readableDirs));
}

function localFile(path: string, readableDirs: readonly string[]): SourceFile {
  return {
    name: basename(path),
    explain: (error) => explain(error, path),
    async open(knownVersion) {
      try {
        // Non-blocking, since opening a named pipe would wait for a writer.
        const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
        const handle = await open(await allowedPath(path, readableDirs), flags);
        return await openHandle(handle, path, knownVersion);
      } catch (error) {
        throw explain(error, path);
      }
    },
  };
}

async function openHandle(handle: FileHandle, path: string, knownVersion?: string): Promise<OpenFile | undefined> {
  const stats = await handle.stat({ bigint: true });
  const version = `${stats.size}-${stats.mtimeNs}`;
  if (stats.isFile() && version !== knownVersion) {
    const body = handle.createReadStream({ highWaterMark: readBytes });
    return { version, modifiedAt: stats.mtime, body };
  }
  await handle.close();
  if (stats.isFile()) return undefined;
  const hint = stats.isDirectory() ? 'Add a file name, or a pattern such as *.csv.' : 'Choose a file.';
  throw new ConnectorError(`${path} is not a file. ${hint}`);
}

async function matchingNames(folder: string, pattern: string, path: string, readableDirs: readonly string[]) {
  try {
    const entries = await readdir(await allowedPath(folder, readableDirs, path), { withFileTypes: true });
    const names = entries
      .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && matches(entry.name, pattern))
      .map(({ name }) => name)
      .sort();
    if (names.length === 0) throw new ConnectorError(`No file matches ${path}. Check the path.`);
    if (names.length > maxFiles)
      throw new ConnectorError(`More than ${maxFiles} files match ${path}. Use a more specific path.`);
    return names;
  } catch (error) {
    throw explain(error, folder);
  }
}

/** The path with all links resolved; throws if that is outside the allowed folders. */
async function allowedPath(path: string, readableDirs: readonly string[], shownAs = path): Promise<string> {
  const real = await realpath(path);
  for (const dir of readableDirs) {
    const realDir = await findRealPath(dir);
    if (realDir !== undefined && (real === realDir || isInside(realDir, real))) return real;
  }
  throw notAllowed(shownAs);
}

async function findRealPath(dir: string): Promise<string | undefined> {
  try {
    return await realpath(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isInside(dir: string, path: string): boolean {
  const way = relative(dir, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** An asterisk matches any characters. Hidden files match only patterns that start with a dot. */
export function matches(name: string, pattern: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop() ?? '';
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - end.length >= at && name.endsWith(end);
}

function notAllowed(path: string): ConnectorError {
  return new ConnectorError(`${path} is not in an allowed folder. Choose a path in a folder that the operator allows.`);
}

function explain(error: unknown, path: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new ConnectorError(`${path} does not exist. Check the path.`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new ConnectorError(`Inlay is not allowed to read ${path}. Change its permissions.`, { cause: error });
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return new ConnectorError(`${path} cannot be opened. Check the path.`, { cause: error });
    case 'Z_BUF_ERROR':
    case 'Z_DATA_ERROR':
      return new ConnectorError(`The compressed file ${path} is damaged. Replace it.`, { cause: error });
    default:
      return error;
  }
}
