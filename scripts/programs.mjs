// Finds the programs that tests and benchmarks start, and installs what is missing as root on Debian. Every program is
// searched separately in every folder: a machine may have the client of PostgreSQL without its server, or links to
// some of the programs in one folder and their siblings in another.

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The folders of $PATH. */
export function pathFolders() {
  return (process.env.PATH ?? '').split(delimiter).filter(Boolean);
}

/**
 * The folders, each followed by those that links in it point to.
 * @param {string[]} folders @param {string[]} programs whose links are followed
 */
export function withLinkedFolders(folders, programs) {
  const all = folders.flatMap((folder) => [
    folder,
    ...programs
      .map((program) => join(folder, program))
      .filter(isProgram)
      .map((file) => dirname(realpathSync(file))),
  ]);
  return [...new Set(all)];
}

/** The first place of a program. @param {string} program @param {string[]} folders */
export function findProgram(program, folders) {
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

/**
 * Debian's pg_wrapper is in $PATH under the names of PostgreSQL's programs, even where none of them is installed. The
 * real programs are in Debian's own folders.
 * @param {string} file
 */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() && basename(realpathSync(file)) !== 'pg_wrapper';
  } catch {
    return false;
  }
}

/**
 * The result of `find`. If it finds nothing, the packages are installed (if this process may), and `find` is called
 * again.
 * @template Found
 * @param {() => Found | undefined} find
 * @param {{ install: boolean, packages: string[], installPackages?: (packages: string[]) => Promise<boolean> }} options
 * @returns {Promise<Found | undefined>}
 */
export async function findOrInstall(find, { install, packages, installPackages = installOnDebian }) {
  const found = find();
  if (found !== undefined || !install) return found;
  return (await installPackages(packages)) ? find() : undefined;
}

/**
 * The path of a program of the system, installed as root on Debian if it is missing.
 * @param {string} program @param {string} [name] of the package that brings it
 */
export async function findSystemProgram(program, name = program) {
  const find = () => findProgram(program, [...pathFolders(), '/usr/sbin', '/usr/bin', '/sbin', '/bin']);
  const place = await findOrInstall(find, { install: true, packages: [name] });
  if (!place) throw new Error(`Program ${program} not found. Install the package ${name}.`);
  return place;
}

// The policy file keeps Debian from starting the system's own server, which nobody here asked for. The lock is held
// because test files that run side by side may find the same package missing.
const installScript = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
apt-get -qq update
apt-get -qq install -y --no-install-recommends "$@"
`;

/** @param {string[]} packages @returns {Promise<boolean>} false where this process may not install anything */
async function installOnDebian(packages) {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/flock')) return false;
  const lock = join(tmpdir(), 'inlay-apt.lock');
  try {
    await promisify(execFile)('flock', [lock, 'sh', '-c', installScript, 'install', ...packages], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    });
    return true;
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? error.stderr : '';
    throw new Error(`apt-get could not install ${packages.join(' ')}.\n${output}`, { cause: error });
  }
}
