// Builds a commit of this repository with its own dependencies and its own tools, to run it beside the checkout: for
// `npm run bench -- compare` and the test of upgrades. The build is kept in server/builds/commits for the next time.

import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** @type {typeof import('./build-commit.d.mts').buildCommit} */
export async function buildCommit({ root, commit: given, tell = () => {}, signal }) {
  // Under Vitest it is "test", which would make another build.
  const env = { ...process.env, NODE_ENV: undefined };
  /** @param {string} cwd @param {string} program @param {string[]} args */
  const run = async (cwd, program, ...args) =>
    (await promisify(execFile)(program, args, { cwd, env, maxBuffer: 1e8, ...(signal && { signal }) })).stdout.trim();

  const name = given ?? JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')).commit;
  const commit = await run(root, 'git', 'rev-parse', '--verify', `${name}^{commit}`).catch((cause) => {
    throw new Error(`${name} is not in this clone. Fetch the whole history: git fetch --unshallow`, { cause });
  });
  const commits = join(root, 'server/builds/commits');
  const folder = join(commits, commit);
  const product = join(folder, 'server/bin/inlay.js');
  if (existsSync(folder)) return { commit, product };

  tell(`Building ${name}. This happens once per commit and can take two minutes.`);
  mkdirSync(commits, { recursive: true });
  const unfinished = mkdtempSync(join(commits, 'unfinished-'));
  try {
    await run(root, 'git', 'archive', '--output', join(unfinished, 'sources.tar'), commit);
    await run(unfinished, 'tar', '-xf', 'sources.tar');
    rmSync(join(unfinished, 'sources.tar'));
    /** @param {string} top */
    const lockOf = (top) => readFileSync(join(top, 'package-lock.json'), 'utf8');
    const modules = 'node_modules';
    // The links to our own packages are relative, so in a copy they lead to the commit's.
    if (lockOf(unfinished) === lockOf(root))
      cpSync(join(root, modules), join(unfinished, modules), { recursive: true, verbatimSymlinks: true });
    else await run(unfinished, 'npm', 'ci', '--no-audit', '--no-fund');
    await run(unfinished, process.execPath, 'scripts/ensure-built.mjs');
    // Another process may have built the same commit and been faster.
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return { commit, product };
}
