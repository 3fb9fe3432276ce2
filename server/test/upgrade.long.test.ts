/**
 * The last release (release.json) and this version side by side on one database, then this version alone, then the last
 * release again: no request fails, and no job is lost.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createTestDatabase, describeOnBothDatabases } from './support/databases.ts';
import { takeOver } from './support/side-by-side.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { commit } = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'inlay-last-release-'));
const lastRelease = join(folder, 'server/bin/inlay.js');

beforeAll(() => {
  const run = (cwd: string, program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1e8 });
  try {
    run(root, 'git', 'cat-file', '-e', `${commit}^{commit}`);
  } catch (cause) {
    const advice = `The last release, ${commit}, is not in this clone. Fetch the whole history: git fetch --unshallow`;
    throw new Error(advice, { cause });
  }
  run(root, 'git', 'archive', '--output', join(folder, 'release.tar'), commit);
  run(folder, 'tar', '-xf', 'release.tar');
  const lockOf = (top: string) => readFileSync(join(top, 'package-lock.json'), 'utf8');
  const isSame = lockOf(folder) === lockOf(root);
  // The links to our own packages are relative, so in a copy they lead to the release's.
  if (isSame)
    cpSync(join(root, 'node_modules'), join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  else run(folder, 'npm', 'ci', '--no-audit', '--no-fund');
  run(folder, process.execPath, 'scripts/ensure-built.mjs');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeOnBothDatabases('An upgrade without an outage, and back', (kind) => {
  it('fails no request and loses no job', async () => {
    const database = await createTestDatabase(kind);
    onTestFinished(() => database.drop());
    const programs = [lastRelease, undefined, lastRelease];
    await expect(takeOver({ database, programs, clients: 4, pauseMs: 20 })).resolves.toBeUndefined();
  });
});
