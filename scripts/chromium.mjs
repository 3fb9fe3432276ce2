// Finds the Chromium that the tests of pages drive, or installs it where it may (root on Debian).
//
//   node scripts/chromium.mjs      prints where it is

import { isMain } from './is-main.mjs';
import { findOrInstall, findProgram, pathFolders } from './programs.mjs';

/** Chromium without windows. It takes half the CPU time, and looks the same. */
const shellName = 'chromium-headless-shell';
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const macNames = ['Chromium', 'Google Chrome'];
// Tests also look at pages in Japanese.
const fonts = 'fonts-noto-cjk';

const folders = () => [...pathFolders(), '/usr/bin'];
const findShell = () => findProgram(shellName, folders());

function findWhole() {
  const places = [
    ...names.map((name) => findProgram(name, folders())),
    ...macNames.map((name) => findProgram(name, [`/Applications/${name}.app/Contents/MacOS`])),
  ];
  return places.find((place) => place !== undefined);
}

/**
 * The path of the browser. CHROMIUM names one to use instead.
 * @param {{ install?: boolean, whole?: boolean }} [options] install: as root on Debian, install the missing package.
 *   whole: not the one without windows, which blocks no popups and knows no settings about cookies
 */
export async function findChromium({ install = false, whole = false } = {}) {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  /** @type {unknown} */
  let cause;
  const shell = whole
    ? undefined
    : await findOrInstall(findShell, { install, packages: [shellName, fonts] }).catch((error) => {
        // Some distributions do not have it.
        cause = error;
        return undefined;
      });
  const program = shell ?? (await findOrInstall(findWhole, { install, packages: ['chromium', fonts] }));
  if (program) return program;
  throw new Error(
    'Chromium was not found. Install it: "apt-get install chromium" on Debian and Ubuntu, "brew install chromium" on ' +
      'macOS. Or set CHROMIUM to the path of a Chromium or Chrome.',
    { cause },
  );
}

/**
 * The browser makes no requests of its own: no updates, no safe browsing, no first-run pages. Root cannot use the sandbox.
 */
export const chromiumArguments = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

if (isMain(import.meta.url)) {
  try {
    console.log(await findChromium({ install: true }));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
