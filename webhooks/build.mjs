// Builds the npm package in webhooks/dist, with types that stand alone; and the forms that the service hands out:
// /webhooks.mjs, and the package itself as /webhooks.tgz.

import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { emitTypes, pack, readAsOne } from '../embed/build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The npm package: its code and types go into `dist` below the folder. @param {string} packageFolder */
export async function buildPackage(packageFolder) {
  const folder = resolve(root, packageFolder, 'dist');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    esbuild.build({
      absWorkingDir: root,
      entryPoints: ['webhooks/src/inlay-webhooks.ts'],
      outfile: join(folder, 'inlay-webhooks.js'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
    }),
    writeTypes(folder),
  ]);
}

/** What the service hands out. @param {string} servedFolder relative to the repository, or absolute */
export async function buildServed(servedFolder) {
  const folder = resolve(root, servedFolder);
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), 'inlay-webhooks-package-'));
  try {
    await buildPackage(scratch);
    await writeFile(join(scratch, 'package.json'), await publishedManifest());
    await copyFile(join(root, 'webhooks/README.md'), join(scratch, 'README.md'));
    await copyFile(join(root, 'LICENSE'), join(scratch, 'LICENSE'));
    await copyFile(join(scratch, 'dist/inlay-webhooks.js'), join(folder, 'webhooks.mjs'));
    // Not renamed: the folder for temporary files may be on another file system.
    await copyFile(await pack(scratch), join(folder, 'webhooks.tgz'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Without the sources that only this repository imports. */
async function publishedManifest() {
  const manifest = JSON.parse(await readFile(join(root, 'webhooks/package.json'), 'utf8'));
  return `${JSON.stringify({ ...manifest, exports: { '.': manifest.exports['.'] } }, null, 2)}\n`;
}

/** One file of types, without imports. @param {string} folder */
async function writeTypes(folder) {
  const files = ['webhooks/src/key-error', 'webhooks/src/inlay-webhooks'];
  const types = await emitTypes('webhooks', (read) => readAsOne(files, read));
  await writeFile(join(folder, 'inlay-webhooks.d.ts'), types);
}
