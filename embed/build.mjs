// Builds the embed library: the npm package in embed/dist, with types that stand alone; and the forms that the service
// hands out: /embed.js for pages without a bundler, /embed.mjs with /embed.d.ts, and the package itself as /embed.tgz.

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A stylesheet is imported as its minified text. @type {import('esbuild').Plugin} */
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

/** The npm package: its code and types go into `dist` below the folder. @param {string} packageFolder */
export async function buildPackage(packageFolder) {
  const folder = resolve(root, packageFolder, 'dist');
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
  ]);
}

/** What the service hands out. @param {string} servedFolder relative to the repository, or absolute */
export async function buildServed(servedFolder) {
  const folder = resolve(root, servedFolder);
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), 'inlay-embed-package-'));
  try {
    await Promise.all([buildScript(join(folder, 'embed.js')), buildPackage(scratch)]);
    for (const name of ['package.json', 'README.md']) await copyFile(join(root, 'embed', name), join(scratch, name));
    await copyFile(join(root, 'LICENSE'), join(scratch, 'LICENSE'));
    await copyFile(join(scratch, 'dist/inlay-embed.js'), join(folder, 'embed.mjs'));
    await copyFile(join(scratch, 'dist/inlay-embed.d.ts'), join(folder, 'embed.d.ts'));
    // Not renamed: the folder for temporary files may be on another file system.
    await copyFile(await pack(scratch), join(folder, 'embed.tgz'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @param {string} folder of a package @returns {Promise<string>} the tarball that npm would publish, in that folder */
export async function pack(folder) {
  // The package keeps the permissions of its files, and must not depend on those that new files get on this machine.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--ignore-scripts'], {
    cwd: folder,
    // npm needs none of the machine's settings here, and some of them make it print more than the file name.
    env: { ...process.env, npm_config_cache: join(folder, '.cache'), npm_config_update_notifier: 'false' },
  });
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
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

/** The files whose declarations make up the library's types, each after those that it refers to. */
const typeFiles = ['contract/src/embedding', 'embed/src/messages', 'embed/src/session', 'embed/src/inlay-embed'];

/** One file of types for the library, so that it can be served alone, and one file for React beside it. @param {string} folder */
async function writeTypes(folder) {
  await emitTypes('embed', async (read) => {
    await writeFile(join(folder, 'inlay-embed.d.ts'), await readAsOne(typeFiles, read));
    const react = await read('embed/src/react');
    await writeFile(join(folder, 'react.d.ts'), react.replaceAll("'./inlay-embed.ts'", "'./inlay-embed.js'"));
  });
}

/**
 * The declarations of several files as one text. Only what the last file exports is exported: other types that its
 * declarations refer to are in the text, but are not exported.
 * @param {string[]} files @param {(file: string) => Promise<string>} read
 */
export async function readAsOne(files, read) {
  const texts = await Promise.all(
    files.map(async (file) => (await read(file)).replace(/^import [^;]* from '.*';\n/gm, '')),
  );
  const last = (texts.pop() ?? '').replace(/^(export type \{.*\}) from '.*';/gm, '$1;');
  const others = texts.map((text) =>
    text.replace(/^export (declare function .*|\{\});\n/gm, '').replace(/^export (declare )?/gm, '$1'),
  );
  return [...others, last].join('');
}

/**
 * Runs the work with a way to read the declarations of source files, which are named without their ending.
 * @template Result @param {string} project the folder of a tsconfig.json
 * @param {(read: (file: string) => Promise<string>) => Promise<Result>} work
 */
export async function emitTypes(project, work) {
  const scratch = await mkdtemp(join(tmpdir(), 'inlay-types-'));
  try {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const emit = ['--noEmit', 'false', '--emitDeclarationOnly', '--outDir', scratch];
    await promisify(execFile)(tsc, ['-p', join(root, project), ...emit]);
    return await work((file) => readFile(join(scratch, `${file}.d.ts`), 'utf8'));
  } catch (error) {
    // The compiler writes its errors to its standard output.
    throw error instanceof Error && 'stdout' in error ? new Error(`${error.stdout}`.trim(), { cause: error }) : error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
