// Finds every program that the tests start, or installs it where it may (root on Debian). The check does this first,
// because the time limits of tests should not have to allow for an installation.

import { findChromium } from './chromium.mjs';
import { findFirefox } from './firefox.mjs';
import { isMain } from './is-main.mjs';
import { findPgbouncer } from './pgbouncer.mjs';
import { findPostgres, postgresPrograms } from './postgres.mjs';
import { findSystemProgram } from './programs.mjs';
import { findProxies } from './proxies.mjs';

/** Programs of the system that a small image may lack, with the package that brings them. */
const systemPrograms = { openssl: 'openssl', ps: 'procps', mkfifo: 'coreutils', 'systemd-analyze': 'systemd' };
/** What builds and runs the image, in the long run. */
const imagePrograms = { buildah: 'buildah', crun: 'crun', mmdebstrap: 'mmdebstrap', unshare: 'util-linux' };

/** @returns {Promise<string[]>} where they are */
export async function findTestPrograms() {
  const postgres = await findPostgres({ install: true, needed: postgresPrograms });
  const places = [...Object.values(postgres), await findPgbouncer({ install: true })];
  places.push(...Object.values(await findProxies({ install: true })));
  const more = process.env.INLAY_LONG_TESTS ? imagePrograms : {};
  for (const [program, name] of Object.entries({ ...systemPrograms, ...more })) {
    places.push(await findSystemProgram(program, name));
  }
  places.push(await findChromium({ install: true }));
  if (process.env.INLAY_LONG_TESTS) {
    places.push(await findChromium({ install: true, whole: true }), await findFirefox({ install: true }));
  }
  return places;
}

if (isMain(import.meta.url)) {
  try {
    for (const place of await findTestPrograms()) console.log(place);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
