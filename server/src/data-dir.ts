/**
 * The data directory: SQLite files and the secrets that the service generates for itself, readable by its owner only.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from './errors.ts';

export interface DataDir {
  path(file: string): string;
  /** The content of a file. If the file does not exist, it is made with the content that `create` gives. */
  readOrCreate(file: string, create: () => string): string;
  /** Replaces the file whole or not at all. */
  replace(file: string, content: string): void;
}

export function openDataDir(directory: string): DataDir {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new OperatorError(
      `The data directory ${directory} cannot be made. Set INLAY_DATA_DIR to a directory that can be made.`,
      {
        cause,
      },
    );
  }
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
