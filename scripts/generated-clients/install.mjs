// Installs the generators of API clients into this folder, unless those of the lock file are there already. They have a
// folder of their own because they need an older TypeScript than the rest of the repository.

import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMain } from '../is-main.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const lockFile = `${folder}package-lock.json`;
const installedLockFile = `${folder}node_modules/.installed-lock.json`;

/** Gives the folder with everything in it. */
export async function installGenerators() {
  const [wanted, installed] = await Promise.all([
    readFile(lockFile, 'utf8'),
    readFile(installedLockFile, 'utf8').catch(() => undefined),
  ]);
  if (installed !== wanted) {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await promisify(execFile)('npm', ['ci', ...options], { cwd: folder });
    await copyFile(lockFile, installedLockFile);
  }
  return folder;
}

if (isMain(import.meta.url)) await installGenerators();
