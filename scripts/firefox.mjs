// Finds the Firefox that the long proofs of sign-ins drive, or installs it where it may (root on Debian).

import { findOrInstall, findProgram, pathFolders } from './programs.mjs';

const names = ['firefox-esr', 'firefox'];
const macFolder = '/Applications/Firefox.app/Contents/MacOS';

function find() {
  const folders = [...pathFolders(), '/usr/bin', macFolder];
  return names.map((name) => findProgram(name, folders)).find((place) => place !== undefined);
}

/**
 * The path of the browser. FIREFOX names one to use instead.
 * @param {{ install?: boolean }} [options] install: as root on Debian, install the missing package
 */
export async function findFirefox({ install = false } = {}) {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  const program = await findOrInstall(find, { install, packages: ['firefox-esr'] });
  if (program) return program;
  throw new Error(
    'Firefox was not found. Install it: "apt-get install firefox-esr" on Debian, "brew install firefox" on macOS. Or set ' +
      'FIREFOX to its path.',
  );
}
