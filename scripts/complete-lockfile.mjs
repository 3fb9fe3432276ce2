/**
 * Adds to package-lock.json the optional packages for other machines that npm left out because its registry did not
 * offer them, and the integrity of every package that lacks one. Without these entries `npm ci` refuses the lock file, or
 * leaves a Mac or an Alpine machine without its native bindings; without an integrity it installs whatever the registry
 * gives it. Run after `npm install`, until npm does it.
 *
 *   node scripts/complete-lockfile.mjs [package-lock.json]
 *
 * Asks the registry that npm is configured for. If that registry lacks a package, nothing is written: set
 * npm_config_registry to one that has them all.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];

const file = process.argv[2] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(file, 'utf8'));
const { '': root, ...packages } = lock.packages;
let added = 0;

for (const [path, parent] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
    const words = name.split('/').at(-1).split('-');
    const cpu = words.filter((word) => processors.includes(word));
    const os = words.filter((word) => systems.includes(word));
    const libc = words.some((word) => word.startsWith('musl'))
      ? ['musl']
      : words.some((word) => word.startsWith('gnu'))
        ? ['glibc']
        : [];
    packages[`node_modules/${name}`] = {
      version,
      ...(cpu.length > 0 && { cpu }),
      ...(parent.dev && { dev: true }),
      optional: true,
      ...(os.length > 0 && { os }),
      ...(os.includes('linux') && libc.length > 0 && { libc }),
    };
    added += 1;
  }
}

const registry = (
  process.env.npm_config_registry ?? execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
).replace(/\/$/, '');
/** What comes from a registry. A package inside of another one is covered by the integrity of that one. */
const incomplete = Object.entries(packages).filter(
  ([path, entry]) => path.includes('node_modules/') && !entry.link && !entry.inBundle && !entry.integrity,
);
const missing = [];
for (const [path, entry] of incomplete) {
  const name = entry.name ?? path.split('node_modules/').at(-1);
  const answer = await fetch(`${registry}/${name.replace('/', '%2f')}/${entry.version}`);
  const integrity = answer.ok ? (await answer.json()).dist?.integrity : undefined;
  if (!/^sha512-[\w+/]{86}==$/.test(integrity)) missing.push(`${name}@${entry.version}`);
  // In npm's own order: behind the version.
  const { version, ...rest } = entry;
  packages[path] = { version, integrity, ...rest };
}
if (missing.length > 0) {
  console.error(`${registry} has no integrity for ${missing.join(', ')}. package-lock.json was not changed.`);
  process.exit(1);
}

const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: { '': root, ...sorted } }, null, 2)}\n`);
console.log(`package-lock.json: ${added} optional packages added, ${incomplete.length} integrities added`);
