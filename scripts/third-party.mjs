// Which third-party packages the product consists of: their licenses, most of which must be delivered with the code, and a
// bill of materials (CycloneDX). Both depend on the packages alone, so that two builds are equal byte for byte: no time of
// the build, no random serial number.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The dependencies that our packages declare. Reading them here keeps a single list. */
export function declaredPackages() {
  const { workspaces } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const names = workspaces.flatMap((/** @type {string} */ workspace) => {
    const manifest = JSON.parse(readFileSync(`${root}/${workspace}/package.json`, 'utf8'));
    return Object.keys(manifest.dependencies ?? {});
  });
  return [...new Set(names)].filter((name) => !/^(@inlay\/|inlay-)/.test(name));
}

/** Packages with native code stay in node_modules. @param {string} name */
export function isNative(name) {
  return ['binding.gyp', 'prebuilds'].some((entry) => existsSync(`${root}/node_modules/${name}/${entry}`));
}

/** @typedef {{ version?: string, integrity?: string, dependencies?: Record<string, string> }} Locked */

/** @returns {Record<string, Locked>} by folder */
export const readLockedPackages = () => JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')).packages;

/**
 * Where Node.js finds a package that another package asks for.
 * @param {Record<string, Locked>} locked @param {string} from a folder @param {string} name @returns {string | undefined}
 */
function findFolder(locked, from, name) {
  const parts = from.split('/');
  for (let length = parts.length; length >= 0; length -= 1) {
    const folder = [...parts.slice(0, length), 'node_modules', name].join('/');
    if (locked[folder]) return folder;
  }
  return undefined;
}

/**
 * The folders of packages and of all that these need when they run.
 * @param {Record<string, Locked>} locked @param {string[]} names
 */
export function foldersWithDependencies(locked, names) {
  const folders = names.map((name) => `node_modules/${name}`);
  for (const folder of folders) {
    for (const name of Object.keys(locked[folder]?.dependencies ?? {})) {
      const found = findFolder(locked, folder, name);
      if (!found) throw new Error(`${folder} needs ${name}, which package-lock.json does not have.`);
      if (!folders.includes(found)) folders.push(found);
    }
  }
  return folders;
}

/**
 * @param {string[]} files that are in the bundles, relative to the repository
 * @returns {{ licenses: string, sbom: string }}
 */
export function describePackages(files) {
  const locked = readLockedPackages();
  const bundled = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const folders = [...new Set([...bundled, ...foldersWithDependencies(locked, declaredPackages().filter(isNative))])];
  /** The same version may lie in several folders. @type {Map<string, { folder: string, manifest: any }>} */
  const byRef = new Map();
  const refs = new Map(
    folders.sort().map((folder) => {
      const manifest = JSON.parse(readFileSync(`${root}/${folder}/package.json`, 'utf8'));
      const ref = refOf(manifest);
      if (!byRef.has(ref)) byRef.set(ref, { folder, manifest });
      return [folder, ref];
    }),
  );
  const packages = [...byRef].sort(([a], [b]) => (a < b ? -1 : 1));
  /** @param {string} from */
  const dependenciesOf = (from) =>
    Object.keys(locked[from]?.dependencies ?? {}).flatMap(
      (name) => refs.get(findFolder(locked, from, name) ?? '') ?? [],
    );
  const { name, version, license } = JSON.parse(readFileSync(`${root}/server/package.json`, 'utf8'));
  const product = { 'bom-ref': refOf({ name, version }), type: 'application', name, version };
  const ours = Object.keys(locked).filter((folder) => folder && !folder.includes('node_modules/'));
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...product, licenses: licensesOf(license), purl: product['bom-ref'] } },
    components: packages.map(([ref, { folder, manifest }]) => {
      const digest = /^sha512-(.+)$/.exec(locked[folder]?.integrity ?? '')?.[1];
      return {
        'bom-ref': ref,
        type: 'library',
        name: manifest.name,
        version: manifest.version,
        ...(digest && { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
        licenses: licensesOf(manifest.license),
        purl: ref,
      };
    }),
    dependencies: [
      { ref: product['bom-ref'], dependsOn: [...new Set(ours.flatMap(dependenciesOf))].sort() },
      ...packages.map(([ref, { folder }]) => ({ ref, dependsOn: [...new Set(dependenciesOf(folder))].sort() })),
    ],
  };
  const licenses = packages.map(([, { folder, manifest }]) =>
    [`${manifest.name} ${manifest.version} (${manifest.license})`, ...licenseTexts(folder, manifest)].join('\n\n'),
  );
  return { licenses: `${licenses.join('\n\n')}\n`, sbom: `${JSON.stringify(sbom, undefined, 2)}\n` };
}

/** As CycloneDX refers to a package of npm. @param {{ name: string, version: string }} manifest */
const refOf = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** @param {string} license an SPDX name, or an expression of several */
const licensesOf = (license) => [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }];

/** Some packages have their license only in the README. @param {string} folder @param {any} manifest @returns {string[]} */
function licenseTexts(folder, manifest) {
  const entries = readdirSync(`${root}/${folder}`);
  /** @param {string} entry */
  const read = (entry) => readFileSync(`${root}/${folder}/${entry}`, 'utf8');
  const files = entries.filter((entry) => /^(licen[cs]e|notice|copying)/i.test(entry));
  if (files.length > 0) return files.map((entry) => read(entry).trim());
  const readme = entries.find((entry) => /^readme/i.test(entry));
  const section = readme && /^#+ *licen[cs]e\b[^\n]*\n([^#]*)/im.exec(read(readme))?.[1]?.trim();
  const author = manifest.author?.name ?? manifest.author;
  return [author && `Copyright (c) ${author}`, section].filter((text) => text);
}
