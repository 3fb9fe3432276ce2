// Builds the embed library: the npm package in embed/dist, with types that stand alone, and the same as one script for
// pages without a bundler, which the service hands out as /embed.js.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { isMain } from '../scripts/is-main.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A stylesheet is imported as its text, without the room it takes to be read. @type {import('esbuild').Plugin} */
const styleAsText = {
  name: 'style-as-text',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(await readFile(path), { loader: 'css', minify: true });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

/** The React part imports the library rather than containing it a second time. @type {import('esbuild').Plugin} */
const besideTheLibrary = {
  name: 'beside-the-library',
  setup(build) {
    build.onResolve({ filter: /\/inlay-embed\.ts$/ }, () => ({ path: './inlay-embed.js', external: true }));
  },
};

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  plugins: [styleAsText],
};

/** @param {{ packageFolder?: string, scriptFile?: string }} [to] relative to the repository, or absolute */
export async function buildEmbed({ packageFolder = 'embed/dist', scriptFile = 'server/dist/embed/embed.js' } = {}) {
  const folder = resolve(root, packageFolder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    esbuild.build({
      ...common,
      entryPoints: ['embed/src/inlay-embed.ts'],
      outfile: join(folder, 'inlay-embed.js'),
      format: 'esm',
    }),
    esbuild.build({
      ...common,
      entryPoints: ['embed/src/react.ts'],
      outfile: join(folder, 'react.js'),
      format: 'esm',
      external: ['react'],
      plugins: [besideTheLibrary],
    }),
    writeTypes(folder),
    buildScript(scriptFile),
  ]);
}

/** @param {string} scriptFile relative to the repository, or absolute */
export async function buildScript(scriptFile) {
  await esbuild.build({
    ...common,
    entryPoints: ['embed/src/script.ts'],
    outfile: resolve(root, scriptFile),
    format: 'iife',
    minify: true,
  });
}

/** What the declarations take from the contract, which is not published, is put beside them. @param {string} folder */
async function writeTypes(folder) {
  const scratch = await mkdtemp(join(tmpdir(), 'inlay-embed-types-'));
  try {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const emit = ['--noEmit', 'false', '--emitDeclarationOnly', '--outDir', scratch];
    await promisify(execFile)(tsc, ['-p', join(root, 'embed'), ...emit]);
    await cp(join(scratch, 'contract/src/embedding.d.ts'), join(folder, 'embedding.d.ts'));
    for (const file of await readdir(join(scratch, 'embed/src'))) {
      if (file === 'script.d.ts') continue;
      const text = await readFile(join(scratch, 'embed/src', file), 'utf8');
      await writeFile(
        join(folder, file),
        text
          .replaceAll("'@inlay/contract/embedding'", "'./embedding.js'")
          .replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"),
      );
    }
  } catch (error) {
    // The compiler says what is wrong on its standard output.
    throw error instanceof Error && 'stdout' in error ? new Error(`${error.stdout}`.trim(), { cause: error }) : error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) {
  try {
    await buildEmbed();
  } catch (error) {
    console.error(`The embed library could not be built. ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
