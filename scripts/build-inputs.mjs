// Which files the product is made of, and a fingerprint of their content.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages that the product is made of. */
export const packages = [
  'contract',
  'schedule',
  'database',
  'protocol',
  'guard',
  'manifests',
  'connectors',
  'platform',
  'server',
  'ui',
  'widget',
  'console',
  'embed',
  'webhooks',
];
// These are more files than a build reads: a needless build costs little, but a missed change would leave an old build
// in use.
const inputFiles = [
  'LICENSE',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build.mjs',
  'scripts/build-inputs.mjs',
  'scripts/ensure-built.mjs',
  'scripts/is-main.mjs',
  'scripts/third-party.mjs',
  // npm's own list of what is really installed.
  'node_modules/.package-lock.json',
];
const foldersWithoutInputs = new Set(['node_modules', 'dist', 'builds', 'test']);

/** @param {string} root @returns {string[]} paths relative to the root, in order */
function listInputs(root) {
  /** @param {string} folder @returns {string[]} */
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return foldersWithoutInputs.has(entry.name) ? [] : below(path);
      return entry.isFile() && !/\.test\.[a-z]+$/.test(entry.name) ? [path] : [];
    });
  const folders = packages.filter((folder) => existsSync(join(root, folder)));
  const files = inputFiles.filter((file) => existsSync(join(root, file)));
  return [...folders.flatMap(below), ...files].sort();
}

/** A fingerprint of the content of all inputs. @param {string} root */
export function takeFingerprint(root) {
  const hash = createHash('sha256');
  for (const path of listInputs(root)) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 24);
}

/** Whether the fingerprint covers a file that went into a build. @param {string} path relative to the root */
export function isInput(path) {
  const parts = path.split(/[\\/]/);
  if (parts.includes('node_modules')) return true; // The lock file covers it.
  if (inputFiles.includes(parts.join('/'))) return true;
  const isCovered = packages.includes(parts[0] ?? '') && !parts.some((part) => foldersWithoutInputs.has(part));
  return isCovered && !/\.test\.[a-z]+$/.test(path);
}
