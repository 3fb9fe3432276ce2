// Makes a build; scripts/ensure-built.mjs decides whether one is needed and puts it into place as server/dist. The command
// line is bundled into inlay.js, and the bundled connectors, which run as processes of their own, into connectors/. Our own
// packages are bundled from their TypeScript source, so the product runs without a loader; third-party packages stay external
// and are found in node_modules, but for a few. What browsers load goes to widget/, embed/ and reference/, whole and
// compressed.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { build as buildWithVite } from 'vite';
import { buildServed } from '../embed/build.mjs';
import { isInput } from './build-inputs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
export const connectorsEntry = { 'connectors/main': 'platform/connectors/main.ts' };
const productEntries = { inlay: 'server/src/cli.ts', ...connectorsEntry };

/** Made of hundreds of small modules each: from one file they are read in a third of the time, at every start. */
const bundledPackages = ['kysely', 'typebox'];

/** The packages that stay external: whatever the workspaces declare, so that the list exists once. */
function thirdPartyPackages() {
  const names = ['contract', 'schedule', 'sqlite', 'platform', 'server'].flatMap((workspace) => {
    const manifest = JSON.parse(readFileSync(`${root}/${workspace}/package.json`, 'utf8'));
    return Object.keys(manifest.dependencies ?? {});
  });
  return [...new Set(names)].filter((name) => !name.startsWith('@inlay/') && !bundledPackages.includes(name)).sort();
}

/**
 * @param {{ outdir: string, entries?: Record<string, string> }} options the folder must lie below the repository, so that
 *   packages are found; without entries it is the product
 */
export async function build({ outdir, entries = productEntries }) {
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    bundle: true,
    // A connector is loaded only when it is the one that runs.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    external: thirdPartyPackages(),
    metafile: true,
    logLevel: 'silent',
  });
  // A package that is imported but declared nowhere would be bundled without anyone noticing.
  const undeclared = Object.keys(metafile.inputs).find(
    (input) =>
      input.includes('node_modules/') && !bundledPackages.some((name) => input.includes(`node_modules/${name}/`)),
  );
  if (undeclared) {
    throw new Error(`${undeclared} is imported, but its package is not a dependency of any of our packages.`);
  }
  if (entries === productEntries) for (const input of Object.keys(metafile.inputs)) refuseUnknownInput(input);
}

/** The widget, the embed library and the script of the API reference, as browsers load them. @param {string} folder */
async function buildPages(folder) {
  await buildWithVite({
    configFile: `${root}/widget/vite.config.ts`,
    logLevel: 'warn',
    build: { outDir: `${folder}/widget`, emptyOutDir: false },
    plugins: [
      {
        name: 'refuse-unknown-inputs',
        moduleParsed: ({ id }) => {
          // Names that begin with a zero byte are of modules that the bundler makes itself.
          if (!id.startsWith('\0')) refuseUnknownInput(relative(root, id.split('?')[0] ?? id));
        },
      },
    ],
  });
  await buildServed(`${folder}/embed`);
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { reference: 'server/src/reference/browser/main.ts' },
    outdir: `${folder}/reference`,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  for (const part of ['widget/assets', 'embed', 'reference']) compress(`${folder}/${part}`);
}

/** Everything that the service needs. @param {string} folder */
export async function buildProduct(folder) {
  await build({ outdir: folder });
  await buildPages(folder);
}

/** A change of such a file would go unnoticed, and an old build would be taken for a new one. @param {string} path */
function refuseUnknownInput(path) {
  if (!isInput(path)) throw new Error(`${path} goes into the build, and scripts/build-inputs.mjs does not name it.`);
}

/** Once and as small as can be, rather than for every answer. @param {string} folder */
function compress(folder) {
  for (const name of readdirSync(folder).filter((name) => /\.(js|mjs|ts|css|svg)$/.test(name))) {
    const content = readFileSync(`${folder}/${name}`);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${folder}/${name}.gz`, gzipSync(content, { level: 9 }));
  }
}
