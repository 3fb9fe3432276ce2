// Builds the npm package `inlay-manifests`: the library with types that stand alone, and the command. Our own packages are
// bundled; those of others are its dependencies.

import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { emitTypes, pack } from '../embed/build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} packageFolder @returns {Promise<string>} the tarball that npm would publish */
export async function buildPackage(packageFolder) {
  const folder = resolve(root, packageFolder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'dist'), { recursive: true });
  /** @type {Record<string, string>} */
  const dependencies = {};
  for (const name of ['manifests', 'guard', 'protocol', 'contract']) {
    Object.assign(dependencies, JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8')).dependencies);
  }
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { 'inlay-manifests': 'manifests/src/inlay-manifests.ts', cli: 'manifests/src/cli.ts' },
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'bundle',
    external: Object.keys(dependencies).filter((name) => !name.startsWith('@inlay/')),
    logLevel: 'silent',
    metafile: true,
  });
  const used = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const { version } = JSON.parse(await readFile(join(root, 'manifests/package.json'), 'utf8'));
  const published = {
    name: 'inlay-manifests',
    version,
    description:
      'Runs declarative source manifests (low-code YAML connectors) in Node.js, without Python and without Docker',
    type: 'module',
    license: 'Apache-2.0',
    keywords: ['declarative', 'manifest', 'low-code', 'connector', 'source', 'elt'],
    files: ['dist'],
    bin: { 'inlay-manifests': 'dist/cli.js' },
    exports: { '.': { types: './dist/inlay-manifests.d.ts', default: './dist/inlay-manifests.js' } },
    engines: { node: '>=20.19' },
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) =>
        used.some((path) => path === name || path.startsWith(`${name}/`)),
      ),
    ),
    publishConfig: { access: 'public' },
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  const cli = join(folder, 'dist/cli.js');
  await writeFile(cli, `#!/usr/bin/env node\n${await readFile(cli, 'utf8')}`, { mode: 0o755 });
  await emitTypes('manifests', (read) => writeTypes(join(folder, 'dist'), read));
  await copyFile(join(root, 'manifests/README.md'), join(folder, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return await pack(folder);
}

/**
 * The declarations of the library and of the files that they refer to, side by side.
 * @param {string} folder @param {(file: string) => Promise<string>} read
 */
async function writeTypes(folder, read) {
  const files = ['manifests/src/inlay-manifests'];
  /** @param {string} file */
  const nameOf = (file) => (file === files[0] ? 'inlay-manifests' : file.replace('/src/', '-').replaceAll('/', '-'));
  for (const file of files) {
    const text = (await read(file)).replace(/(from |import\()'([^']+)'/g, (_whole, before, specifier) => {
      const [, ours, rest] = /^@inlay\/([a-z]+)\/(.*)$/.exec(specifier) ?? [];
      const target = ours ? `${ours}/src/${rest}` : posix.join(posix.dirname(file), specifier.replace(/\.ts$/, ''));
      if (!files.includes(target)) files.push(target);
      return `${before}'./${nameOf(target)}.js'`;
    });
    await writeFile(join(folder, `${nameOf(file)}.d.ts`), text);
  }
}
