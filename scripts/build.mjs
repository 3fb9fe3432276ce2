// Makes a build; scripts/ensure-built.mjs decides whether one is needed and puts it into place as server/dist. The
// command line is bundled into inlay.cjs, and once more without the service into commands.cjs, which loads the commands
// from command-modules.cjs. heart.cjs and warden.cjs run beside a worker, in a thread and a process of their own. Each bundled connector runs as a process of its own and is a file in connectors/. Our own
// packages are bundled from their TypeScript source, so the product runs without a loader.
// Third-party packages are bundled with them: Node.js reads one file in half the time that it takes to find and read
// hundreds, at every start of the service, of a command and of a connector. Packages with native code stay in
// node_modules. What browsers load goes to widget/, console/, embed/ and reference/, whole and compressed. licenses.txt and
// sbom.cdx.json say which third-party packages are in all of it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, parse, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import * as esbuild from 'esbuild';
import { build as buildWithVite } from 'vite';
import { buildServed } from '../embed/build.mjs';
import { heavyConnectors, writeCodeCaches } from '../server/bin/code-cache.mjs';
import { buildServed as buildServedWebhooks } from '../webhooks/build.mjs';
import { isInput } from './build-inputs.mjs';
import { declaredPackages, describePackages, isNative } from './third-party.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const productEntry = 'server/src/inlay.ts';
const serviceEntry = resolve(root, 'server/src/edge/main.ts');
const connectorsMain = 'connectors/src/main.ts';
/**
 * As later versions of Node.js have it. Without it, "pg" makes an HTTP response to find out where it runs, for which
 * Node.js 20 loads the HTTP client that it has inside: a third of the start of a connector that uses "pg".
 */
const navigator = `globalThis.navigator ??= { userAgent: 'Node.js' };`;

/**
 * A program is a single CommonJS file: V8 can keep its compiled code (server/bin/compiled-program.js).
 * @param {{ entry: string, outfile: string }} options the file must lie below the repository, so that packages are found
 * @returns {Promise<esbuild.Metafile['inputs']>} the files that are in it
 */
export async function bundleProgram({ entry, outfile }) {
  const { metafile } = await esbuild.build({ ...programOptions(), entryPoints: [entry], outfile });
  return metafile.inputs;
}

function programOptions() {
  const common = commonOptions(declaredPackages());
  return /** @type {const} */ ({
    ...common,
    format: 'cjs',
    supported: { 'dynamic-import': false },
    define: { ...common.define, 'import.meta.url': 'importMetaUrl' },
    banner: {
      js: `'use strict';\nconst importMetaUrl = require('node:url').pathToFileURL(__filename).href;\n${navigator}`,
    },
    ...withoutComments,
  });
}

/**
 * The command line without the service, in two files: one answers --version and --help, and loads the other with the
 * modules of all commands for what it imports dynamically. What both contain is a copy in each, so the first must not keep
 * state or classes that the second asks about.
 * @param {string} outdir
 */
async function buildCommands(outdir) {
  /** @type {Set<string>} */
  const modules = new Set();
  const main = await esbuild.build({
    ...programOptions(),
    entryPoints: [productEntry],
    outfile: `${outdir}/commands.cjs`,
    plugins: [
      {
        name: 'modules-of-commands-in-another-file',
        setup: ({ onLoad, onResolve }) => {
          onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
            if (kind !== 'dynamic-import') return undefined;
            return { path: resolve(resolveDir, path), namespace: 'in-modules' };
          });
          onLoad({ filter: /./, namespace: 'in-modules' }, ({ path }) => {
            // bin/inlay.js starts the service from inlay.cjs.
            if (path === serviceEntry) return { contents: '' };
            modules.add(path);
            const load = `require('./command-modules.cjs').loadModule(${JSON.stringify(relative(root, path))})`;
            return { contents: `module.exports = ${load};` };
          });
          onResolve({ filter: /^\.\/command-modules\.cjs$/ }, () => ({
            path: 'command-modules',
            namespace: 'with-compiled-code',
          }));
          onLoad({ filter: /./, namespace: 'with-compiled-code' }, ({ path }) => loadedWithCode(`${path}.cjs`));
        },
      },
    ],
  });
  const cases = [...modules].sort().map((path) => {
    const name = JSON.stringify(relative(root, path));
    return `if (name === ${name}) return require(${JSON.stringify(path)});`;
  });
  const commands = await esbuild.build({
    ...programOptions(),
    stdin: { contents: `exports.loadModule = (name) => {\n${cases.join('\n')}\n};`, resolveDir: root },
    outfile: `${outdir}/command-modules.cjs`,
  });
  const inputs = Object.entries({ ...main.metafile.inputs, ...commands.metafile.inputs });
  return Object.fromEntries(inputs.filter(([file]) => !madeHere.test(file)));
}

/** What stands between files of a program. */
const madeHere = /^(with-compiled-code:|in-modules:|<stdin>)/;

/** A module that loads another file of the build, which lies beside the program. @param {string} file */
function loadedWithCode(file) {
  return {
    contents:
      `const { loadProgram } = require('./compiled-program.js');` +
      `module.exports = loadProgram(require('node:path').join(__dirname, '${file}')).exports;`,
    resolveDir: `${root}/server/bin`,
  };
}

/** Comments about licenses are in licenses.txt. */
const withoutComments = /** @type {const} */ ({ minifyWhitespace: true, legalComments: 'none' });

/**
 * Several programs that share their parts, as ES modules.
 * @param {{ outdir: string, entries: Record<string, string> }} options the folder must lie below the repository, so that
 *   packages are found
 */
export async function bundleModules({ outdir, entries }) {
  await esbuild.build({
    ...commonOptions(declaredPackages()),
    entryPoints: entries,
    outdir,
    splitting: true,
    format: 'esm',
    // Some packages are still CommonJS and ask for built-in modules with "require".
    banner: {
      js: `import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);\n${navigator}`,
    },
  });
}

/** The command line and the connectors. @param {string} outdir @returns {Promise<string[]>} the files that are in them */
async function buildPrograms(outdir) {
  const declared = declaredPackages();
  const inputs = Object.entries({
    ...(await bundleProgram({ entry: productEntry, outfile: `${outdir}/inlay.cjs` })),
    ...(await buildCommands(outdir)),
    ...(await bundleProgram({ entry: 'platform/src/worker/heart.ts', outfile: `${outdir}/heart.cjs` })),
    ...(await bundleProgram({ entry: 'platform/src/worker/warden.ts', outfile: `${outdir}/warden.cjs` })),
    ...(await buildConnectors(`${outdir}/connectors`, commonOptions(declared))),
  });
  // A package that is imported but declared nowhere would be bundled without anyone noticing.
  for (const [file, { imports }] of inputs.filter(([file]) => packageOf(file) === undefined)) {
    const undeclared = imports.map(({ path }) => packageOf(path)).find((name) => name && !declared.includes(name));
    if (undeclared) throw new Error(`${file} imports ${undeclared}, which none of our packages lists as a dependency.`);
    // In a bundle, such an import of a CommonJS package has no named exports.
    const dynamic = imports.find(({ kind, path }) => kind === 'dynamic-import' && packageOf(path));
    if (dynamic)
      throw new Error(`${file} imports ${dynamic.path} dynamically. Re-export it from one of our files instead.`);
  }
  const files = inputs.map(([file]) => file);
  for (const file of files) refuseUnknownInput(file);
  return files;
}

/** @param {string[]} declared */
function commonOptions(declared) {
  return /** @type {const} */ ({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    // The map only gives stack traces the lines of our sources. The sources themselves would be read at every start.
    sourcesContent: false,
    // "pg-native" is a package that pg can do without.
    external: [...declared.filter(isNative), 'pg-native'],
    // "undici" asks for it where it handles cookies, which nobody here uses. Then Node.js loads the HTTP client that it has
    // inside, which takes a tenth of the start of a connector.
    define: { 'globalThis.Headers': 'undefined' },
    metafile: true,
    logLevel: 'silent',
  });
}

/**
 * The program of the connectors, and beside it one file for each connector. The program loads only the file of the
 * connector that it runs. The files share nothing, so that a class is the same class everywhere in a process. They are
 * CommonJS because ES modules need 28 ms more CPU time to start, three times in a sync.
 * @param {string} outdir @param {ReturnType<typeof commonOptions>} common
 */
async function buildConnectors(outdir, common) {
  /** @type {Record<string, string>} */
  const connectors = {};
  const options = /** @type {const} */ ({ ...common, outdir, format: 'cjs' });
  const main = await esbuild.build({
    ...options,
    entryPoints: { main: connectorsMain },
    supported: { 'dynamic-import': false },
    plugins: [
      {
        name: 'a-file-for-each-connector',
        setup: ({ onLoad, onResolve }) => {
          onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
            if (kind !== 'dynamic-import') return undefined;
            const name = basename(path) === 'program.ts' ? basename(dirname(path)) : parse(path).name;
            connectors[name] = resolve(resolveDir, path);
            if (!heavyConnectors.includes(name)) return { path: `./${name}.js`, external: true };
            return { path: name, namespace: 'with-compiled-code' };
          });
          onLoad({ filter: /./, namespace: 'with-compiled-code' }, ({ path }) => loadedWithCode(`${path}.js`));
        },
      },
    ],
  });
  const { metafile } = await esbuild.build({
    ...options,
    ...withoutComments,
    entryPoints: connectors,
    banner: { js: `'use strict';\n${navigator}` },
  });
  writeFileSync(`${resolve(root, outdir)}/package.json`, '{ "type": "commonjs" }\n');
  const ofMain = Object.entries(main.metafile.inputs).filter(([file]) => !madeHere.test(file));
  return { ...Object.fromEntries(ofMain), ...metafile.inputs };
}

/** The third-party package that a file of the bundle is of. @param {string} file @returns {string | undefined} */
function packageOf(file) {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}

/** The widget, the console, the libraries that the service hands out and the script of the API reference. @param {string} folder @returns {Promise<string[]>} the files that are in the pages */
async function buildPages(folder) {
  /** @type {string[]} */
  const files = [];
  /** @param {string} part */
  const buildPage = (part) =>
    buildWithVite({
      configFile: `${root}/${part}/vite.config.ts`,
      logLevel: 'warn',
      build: { outDir: `${folder}/${part}`, emptyOutDir: false },
      plugins: [
        {
          name: 'refuse-unknown-inputs',
          moduleParsed: ({ id }) => {
            // Names that begin with a zero byte are of modules that the bundler makes itself.
            if (id.startsWith('\0')) return;
            const file = relative(root, id.split('?')[0] ?? id);
            refuseUnknownInput(file);
            files.push(file);
          },
        },
      ],
    });
  await Promise.all([
    buildPage('widget'),
    buildPage('console'),
    buildServed(`${folder}/embed`),
    buildServedWebhooks(`${folder}/embed`),
    esbuild.build({
      absWorkingDir: root,
      entryPoints: { reference: 'server/src/edge/reference/browser/main.ts' },
      outdir: `${folder}/reference`,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
    }),
  ]);
  await Promise.all(
    ['widget/assets', 'console/assets', 'embed', 'reference'].map((part) => compress(`${folder}/${part}`)),
  );
  return files;
}

/** Everything that the service needs. @param {string} folder @param {(line: string) => void} tell of each step */
export async function buildProduct(folder, tell) {
  tell('  1/3  service and connectors');
  const files = await buildPrograms(folder);
  tell('  2/3  widget, console and libraries');
  files.push(...(await buildPages(folder)));
  const built = resolve(root, folder);
  const { licenses, sbom } = describePackages(files);
  writeFileSync(`${built}/licenses.txt`, licenses);
  writeFileSync(`${built}/sbom.cdx.json`, sbom);
  tell('  3/3  code cache for quick starts');
  await writeCodeCaches(built);
}

/**
 * A change of such a file would not be noticed, and an old build would be used as if it were new.
 * @param {string} path
 */
function refuseUnknownInput(path) {
  if (!isInput(path))
    throw new Error(`${path} is a build input that scripts/build-inputs.mjs does not list. Add it there.`);
}

/** Compresses each file once and as small as possible, instead of for every answer. @param {string} folder */
async function compress(folder) {
  const names = readdirSync(folder).filter((name) => /\.(js|mjs|ts|css|svg)$/.test(name));
  const write = async (/** @type {string} */ name) => {
    const content = readFileSync(`${folder}/${name}`);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${folder}/${name}.br`, await promisify(brotliCompress)(content, { params }));
    writeFileSync(`${folder}/${name}.gz`, await promisify(gzip)(content, { level: 9, memLevel: 9 }));
  };
  await Promise.all(names.map(write));
}
