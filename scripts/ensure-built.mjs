// Builds the product if one of its files has changed. Used by `npm run build`, `npm start`, the demo and the tests.
//
// A build lies in a folder named after the content of its inputs, server/builds/<fingerprint>/dist, and server/dist is
// a link to the present one. A build gets its name when it is complete, and the link changes in one step. So several of
// these scripts may run at a time, and nobody ever sees half a build. A running service keeps the build it started
// with, because Node resolves the link when it loads the program.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { takeFingerprint } from './build-inputs.mjs';
import { isMain } from './is-main.mjs';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** So many builds are kept that no service still runs from a build that is removed. */
const keptBuilds = 10;
const dayMs = 24 * 60 * 60 * 1_000;
/** A person who waits sees a line at least every two seconds. */
const silenceMs = 1_200;

/**
 * @param {{
 *   root?: string,
 *   makeBuild?: (folder: string, tell: (line: string) => void) => Promise<unknown>,
 *   tell?: (line: string) => void,
 *   output?: number,
 * }} [options] another repository and another way to build, for tests; `tell` receives the progress, and the file
 *   descriptor `output` the lines of a long step
 * @returns {Promise<{ folder: string, isNew: boolean }>} where the build is, and whether it had to be made
 */
export async function ensureBuilt({
  root = repository,
  makeBuild = makeProduct,
  tell = console.error,
  output = 2,
} = {}) {
  const builds = join(root, 'server/builds');
  let isNew = false;
  for (;;) {
    const fingerprint = takeFingerprint(root);
    const folder = join(builds, fingerprint);
    if (existsSync(folder)) {
      const now = new Date();
      utimesSync(folder, now, now);
    } else {
      mkdirSync(builds, { recursive: true });
      const unfinished = mkdtempSync(join(builds, 'unfinished-'));
      // Often another user runs what one user has built.
      chmodSync(unfinished, 0o777 & ~process.umask());
      const progress = startProgress(tell, output);
      progress.tell('Building Inlay. This happens once per version and can take a minute.');
      try {
        await makeBuild(join(unfinished, 'dist'), progress.tell);
        // A file was edited in the meantime, so it is unknown which version is in the build.
        if (takeFingerprint(root) !== fingerprint) continue;
        giveName(unfinished, folder);
        isNew = true;
      } finally {
        await progress.end();
        rmSync(unfinished, { recursive: true, force: true });
      }
    }
    noteCommit(root, join(folder, 'dist/commit'));
    pointTo(root, fingerprint);
    // Someone may have edited files and built while this build was running. Then the newer build counts.
    if (takeFingerprint(root) !== fingerprint) continue;
    removeOldBuilds(builds, fingerprint);
    return { folder: join(folder, 'dist'), isNew };
  }
}

/**
 * Adds a line whenever a step takes long: from a thread of its own, because a step may block this one.
 * @param {(line: string) => void} tell @param {number} output a file descriptor
 */
function startProgress(tell, output) {
  const thread = new Worker(
    `const { parentPort, workerData: { silenceMs, output } } = require('node:worker_threads');
    const { writeSync } = require('node:fs');
    const startedAt = performance.now();
    const seconds = () => Math.round((performance.now() - startedAt) / 1000);
    const timer = setInterval(() => writeSync(output, '       still building after ' + seconds() + ' s\\n'), silenceMs);
    parentPort.on('message', () => timer.refresh());`,
    { eval: true, workerData: { silenceMs, output } },
  );
  return {
    /** @param {string} line */
    tell(line) {
      thread.postMessage('told');
      tell(line);
    },
    end: () => thread.terminate(),
  };
}

/** @param {string} folder @param {(line: string) => void} tell */
async function makeProduct(folder, tell) {
  // Loaded only here, because loading the tools takes longer than finding out that there is nothing to do.
  const { buildProduct } = await import('./build.mjs').catch((error) => {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      'Building needs the development dependencies. Run "npm ci" without --omit=dev, or install the packaged release, which needs no build.',
      { cause: error },
    );
  });
  await buildProduct(folder, tell);
}

/**
 * Writes a file with the commit of the sources and whether they were changed since; nothing without git. Two commits
 * may have the same build, so this is not part of the build.
 * @param {string} root @param {string} file
 */
function noteCommit(root, file) {
  const commit = describeCommit(root);
  if (existsSync(file) && readFileSync(file, 'utf8') === commit) return;
  // Atomically: the file may be read at this moment.
  const next = `${file}-${randomBytes(6).toString('hex')}`;
  writeFileSync(next, commit);
  renameSync(next, file);
}

/** @param {string} root */
function describeCommit(root) {
  // Without this, git would find an unrelated repository in a parent folder. The build of an image has the sources alone.
  if (!existsSync(join(root, '.git'))) return /^[0-9a-f]{8}/.exec(process.env.INLAY_COMMIT ?? '')?.[0] ?? '';
  const args = ['-C', root, 'describe', '--always', '--dirty', '--abbrev=8', '--exclude=*'];
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    // No git on this machine, or it does not trust the folder of another user: the product is the same.
    return '';
  }
}

/** @param {string} unfinished @param {string} folder */
function giveName(unfinished, folder) {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has made the same build and was faster.
    if (!existsSync(folder)) throw error;
  }
}

/** @param {string} root @param {string} fingerprint */
function pointTo(root, fingerprint) {
  const link = join(root, 'server/dist');
  const target = `builds/${fingerprint}/dist`;
  const present = lstatSync(link, { throwIfNoEntry: false });
  if (present?.isSymbolicLink() && readlinkSync(link) === target) return;
  const suffix = randomBytes(6).toString('hex');
  // Earlier versions built into the folder itself.
  if (present?.isDirectory()) renameSync(link, join(root, `server/builds/replaced-${suffix}`));
  const next = join(root, `server/builds/link-${suffix}`);
  symlinkSync(process.platform === 'win32' ? join(root, 'server', target) : target, next, 'junction');
  renameSync(next, link);
}

/** @param {string} builds @param {string} present */
function removeOldBuilds(builds, present) {
  const found = readdirSync(builds)
    .filter((name) => name !== present)
    .map((name) => ({ name, usedAt: statSync(join(builds, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.usedAt - a.usedAt);
  const complete = found.filter(({ name }) => /^[0-9a-f]{24}$/.test(name)).slice(keptBuilds - 1);
  // Folders that a killed process left. Young folders may belong to a process that is still building.
  const leftBehind = found.filter(
    ({ name, usedAt }) => /^(unfinished|replaced|link)-/.test(name) && Date.now() - usedAt > dayMs,
  );
  for (const { name } of [...complete, ...leftBehind]) rmSync(join(builds, name), { recursive: true, force: true });
}

if (isMain(import.meta.url)) {
  const startedAt = performance.now();
  try {
    const { isNew } = await ensureBuilt();
    if (isNew) console.error(`Built in ${Math.round((performance.now() - startedAt) / 1_000)} s.`);
  } catch (error) {
    console.error(`The build failed. ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
