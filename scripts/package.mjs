// npm run package: writes a release to dist/, in two forms. Both run without the repository.
//
//   inlay-<version>.tgz                 for npm, which fetches the packages with native code from the registry
//   inlay-<version>-<platform>.tar.gz   with these packages, for one platform: unpack it, and it runs
//
//   node scripts/package.mjs [folder]   to another folder than dist/
//
// The same commit gives the same bytes on one platform and release of Node.js. So the compiled code that a build keeps
// (server/bin/code-cache.mjs) is left out: V8 never writes it twice alike.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { heavyConnectors } from '../server/bin/code-cache.mjs';
import { ensureBuilt } from './ensure-built.mjs';
import { isMain } from './is-main.mjs';
import { declaredPackages, foldersWithDependencies, isNative, readLockedPackages } from './third-party.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `${process.platform}-${process.arch}`;

const external = declaredPackages().filter(isNative);
const programs = ['inlay.cjs', 'commands.cjs', 'command-modules.cjs', 'heart.cjs', 'warden.cjs'];
/** Stack traces need these. Other connectors run without server/bin/stack-traces.js. */
const mapped = [...programs, ...['main', ...heavyConnectors].map((name) => `connectors/${name}.js`)];
/** Guides and reference pages that messages name, dashboards and alerts. */
const accompanying = ['LICENSE', 'docs', 'deploy'];

/** Not the tests of those files. @param {string} path */
const isShipped = (path) => !path.endsWith('.test.ts');

/** By its path in the package. @typedef {Map<string, { content: Buffer, isProgram?: boolean }>} Files */

/** @param {{ built: string, target: string }} folders @returns {{ file: string, unpacked: number }[]} */
export function writePackages({ built, target }) {
  const { version } = readJson('server/package.json');
  const common = commonFiles(built);
  mkdirSync(target, { recursive: true });
  return [
    writeTar(join(target, `inlay-${version}.tgz`), 'package', common),
    writeTar(
      join(target, `inlay-${version}-${platform}.tar.gz`),
      'inlay',
      new Map([...common, ...filesOfExternalPackages()]),
    ),
  ];
}

/** @param {string} path in the repository @returns {any} */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** @param {string} folder @returns {string[]} every file below it, by its path from there */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}

/** @param {string} built @returns {Files} */
function commonFiles(built) {
  /** @type {Files} */
  const files = new Map([['package.json', { content: Buffer.from(packageManifest()) }]]);
  /** @param {string} path @param {string} source */
  const add = (path, source) => files.set(path, { content: readFileSync(source) });
  add('README.md', join(root, 'server/README.md'));
  for (const name of accompanying) {
    const source = join(root, name);
    if (statSync(source).isFile()) add(name, source);
    else for (const path of listFiles(source).filter(isShipped)) add(`${name}/${path}`, join(source, path));
  }
  for (const path of listFiles(join(root, 'server/bin'))) {
    if (!path.endsWith('.d.mts')) add(`bin/${path}`, join(root, 'server/bin', path));
  }
  files.set('bin/inlay.js', { content: readFileSync(join(root, 'server/bin/inlay.js')), isProgram: true });

  for (const name of ['licenses.txt', 'sbom.cdx.json']) add(name, join(built, name));
  for (const name of [...programs, 'commit']) add(`dist/${name}`, join(built, name));
  for (const folder of ['connectors', 'widget', 'console', 'embed', 'reference']) {
    for (const path of listFiles(join(built, folder)).filter((path) => !/\.(cache|map)$/.test(path))) {
      add(`dist/${folder}/${path}`, join(built, folder, path));
    }
  }
  for (const program of mapped) files.set(`dist/${program}.map`, { content: mapOf(join(built, program)) });
  return files;
}

/** The map of a program, which names sources by their path in the repository. @param {string} program */
function mapOf(program) {
  const map = JSON.parse(readFileSync(`${program}.map`, 'utf8'));
  /** What the build made itself has no path. @param {string} source */
  const inRepository = (source) =>
    source.startsWith('../') ? relative(root, resolve(dirname(program), source)).replaceAll('\\', '/') : source;
  return Buffer.from(JSON.stringify({ ...map, sources: map.sources.map(inRepository) }));
}

function packageManifest() {
  const { name, version, license, bin, engines } = readJson('server/package.json');
  const locked = readLockedPackages();
  const manifest = {
    name,
    version,
    description:
      'Lets your customers connect their data inside your product: API, embedded widget, console and data platform',
    license,
    keywords: ['inlay', 'embedded', 'integrations', 'data integration', 'etl', 'elt', 'connectors', 'self-hosted'],
    bin,
    files: ['bin', 'deploy', 'dist', 'docs', 'licenses.txt', 'sbom.cdx.json'],
    engines,
    dependencies: Object.fromEntries(external.map((name) => [name, locked[`node_modules/${name}`]?.version])),
    publishConfig: { access: 'public' },
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** What runs of the packages with native code, without what compiles them. @returns {Files} */
function filesOfExternalPackages() {
  const runs = new RegExp(`^(package\\.json|licen[cs]e.*|(?!src/|scripts/).*\\.c?js|prebuilds/${platform}/.*)$`, 'i');
  const folders = foldersWithDependencies(readLockedPackages(), external);
  if (!folders.some((folder) => existsSync(join(root, folder, 'prebuilds', platform)))) {
    throw new Error(`There are no binaries for ${platform}.`);
  }
  return new Map(
    folders.flatMap((folder) =>
      listFiles(join(root, folder))
        .filter((path) => runs.test(path.replaceAll('\\', '/')))
        .map((path) => [`${folder}/${path}`, { content: readFileSync(join(root, folder, path)) }]),
    ),
  );
}

/**
 * Written here because not every machine has GNU tar, and others cannot sort or leave out times and owners.
 * @param {string} file @param {string} top the folder that everything is in @param {Files} files
 */
function writeTar(file, top, files) {
  const entries = [...files].map(([path, entry]) => ({ path: `${top}/${path.replaceAll('\\', '/')}`, ...entry }));
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = entries.flatMap(({ path, content, isProgram = false }) => [
    tarHeader(path, content.length, isProgram ? 0o755 : 0o644),
    content,
    Buffer.alloc(-content.length & 511),
  ]);
  writeFileSync(file, gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
  return { file, unpacked: entries.reduce((sum, { content }) => sum + content.length, 0) };
}

/** As npm: a time that no tool takes for an invalid one. */
const mtime = Date.UTC(1985, 9, 26, 8, 15) / 1_000;

/** The header of a file in the format "ustar". @param {string} path @param {number} size @param {number} mode */
function tarHeader(path, size, mode) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for the archive.`);
  const header = Buffer.alloc(512);
  /** @param {number} value @param {number} offset @param {number} length */
  const writeNumber = (value, offset, length) => header.write(value.toString(8).padStart(length - 1, '0'), offset);
  header.write(path, 0);
  writeNumber(mode, 100, 8);
  writeNumber(0, 108, 8); // user
  writeNumber(0, 116, 8); // group
  writeNumber(size, 124, 12);
  writeNumber(mtime, 136, 12);
  header.write('        0', 148); // The sum counts itself as blanks; then the type, a file.
  header.write('ustar\x0000', 257);
  writeNumber(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  header[154] = 0;
  return header;
}

if (isMain(import.meta.url)) {
  try {
    const { folder } = await ensureBuilt();
    const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    for (const { file, unpacked } of writePackages({
      built: folder,
      target: resolve(process.argv[2] ?? join(root, 'dist')),
    })) {
      const content = readFileSync(file);
      const digest = createHash('sha256').update(content).digest('hex');
      console.log(`${file}\n  ${megabytes(content.length)}, unpacked ${megabytes(unpacked)}, sha256 ${digest}`);
    }
  } catch (error) {
    console.error(`Packaging failed. ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
