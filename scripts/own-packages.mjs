// Installs the packages of folders that have their own lock file, unless they are installed already. Such folders hold
// packages that only long tests use and that do not fit the rest: the generators of API clients need an older TypeScript,
// the kit for connectors brings fifty packages that a user of Inlay does not need, and each release of Node.js takes 190 MB.

import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMain } from './is-main.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
export const generatorsFolder = `${root}scripts/generated-clients/`;
export const kitFolder = `${root}platform/test/torture/kit/`;
const nodeVersionsFolder = `${root}scripts/node-versions/`;

/** The releases that the long run tries besides Node.js 20, see docs/adr/0026-node-floor.md. Their npm packages are for Linux. */
export const nodeVersions = [22, 24].map((version) => ({
  version,
  binFolder: `${nodeVersionsFolder}node_modules/node-${version}-linux-${process.arch}/bin/`,
}));

/** @param {string} folder one of those above */
export async function installOwnPackages(folder) {
  const lockFile = `${folder}package-lock.json`;
  const installedLockFile = `${folder}node_modules/.installed-lock.json`;
  const [wanted, installed] = await Promise.all([
    readFile(lockFile, 'utf8'),
    readFile(installedLockFile, 'utf8').catch(() => undefined),
  ]);
  if (installed === wanted) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', ...options], { cwd: folder });
  await copyFile(lockFile, installedLockFile);
}

if (isMain(import.meta.url)) {
  await Promise.all([generatorsFolder, kitFolder, nodeVersionsFolder].map(installOwnPackages));
}
