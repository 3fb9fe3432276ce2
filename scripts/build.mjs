// Bundles the command line into server/dist/inlay.js and the bundled connectors, which run as processes of their own,
// into server/dist/connectors/. Our own packages are bundled from their TypeScript source, so the product runs without
// a loader; third-party packages stay external and are found in node_modules, but for a few. What browsers load, the widget and
// the embed library, goes to server/dist/widget/ and server/dist/embed/, whole and compressed.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { build as buildWithVite } from 'vite';
import { buildServed } from '../embed/build.mjs';
import { isMain } from './is-main.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const productFolder = 'server/dist';
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
 * @param {{ outdir?: string, entries?: Record<string, string> }} [options] by default the product; anything else must lie
 *   below the repository as well, so that its packages are found
 * @returns {Promise<number>} how many bytes it made
 */
export async function build({ outdir = productFolder, entries = productEntries } = {}) {
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
  return Object.entries(metafile.outputs).reduce(
    (sum, [file, { bytes }]) => sum + (file.endsWith('.js') ? bytes : 0),
    0,
  );
}

/** The widget and the embed library, as browsers load them. */
export async function buildPages() {
  await buildWithVite({ configFile: `${root}/widget/vite.config.ts`, logLevel: 'warn' });
  await buildServed(`${productFolder}/embed`);
  for (const folder of [`${root}/${productFolder}/widget/assets`, `${root}/${productFolder}/embed`]) compress(folder);
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

if (isMain(import.meta.url)) {
  const startedAt = performance.now();
  try {
    const bytes = await build();
    await buildPages();
    console.log(`${productFolder}  ${Math.round(bytes / 1024)} kB  ${Math.round(performance.now() - startedAt)} ms`);
  } catch (error) {
    console.error(`The build failed. ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
