// Builds the npm package in webhooks/dist, with types that stand alone; and the forms that the service hands out:
// /webhooks.mjs, and the package itself as /webhooks.tgz.

import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { pack } from '../embed/build.mjs';

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
    for (const name of ['package.json', 'README.md']) await copyFile(join(root, 'webhooks', name), join(scratch, name));
    await copyFile(join(root, 'LICENSE'), join(scratch, 'LICENSE'));
    await copyFile(join(scratch, 'dist/inlay-webhooks.js'), join(folder, 'webhooks.mjs'));
    // Not renamed: the folder for temporary files may be on another file system.
    await copyFile(await pack(scratch), join(folder, 'webhooks.tgz'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** One file of types, without imports. @param {string} folder */
async function writeTypes(folder) {
  const scratch = await mkdtemp(join(tmpdir(), 'inlay-webhooks-types-'));
  /** @param {string} name */
  const read = (name) => readFile(join(scratch, `webhooks/src/${name}.d.ts`), 'utf8');
  try {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const emit = ['--noEmit', 'false', '--emitDeclarationOnly', '--outDir', scratch];
    await promisify(execFile)(tsc, ['-p', join(root, 'webhooks'), ...emit]);
    const keyError = (await read('key-error')).replace('export declare', 'declare');
    const library = (await read('inlay-webhooks')).replace(/^import .* from '.*';\n/gm, '');
    await writeFile(join(folder, 'inlay-webhooks.d.ts'), keyError + library);
  } catch (error) {
    // The compiler writes its errors to its standard output.
    throw error instanceof Error && 'stdout' in error ? new Error(`${error.stdout}`.trim(), { cause: error }) : error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
