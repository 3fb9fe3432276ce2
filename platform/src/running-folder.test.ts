import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isAlive, scriptedSource, temporaryFolder } from '../test/connectors.ts';
import { until } from '../test/steered.ts';
import { silentLog } from './log.ts';
import { findUsableCgroup } from './processes/cgroups.ts';
import { openRunningFolder } from './running-folder.ts';
import { systemRuntime } from './runtime.ts';

// Below the repository, so that packages with native code are found.
const built = mkdtempSync(fileURLToPath(new URL('../../node_modules/.inlay-test-', import.meta.url)));
const program = join(built, 'discover-process.mjs');

beforeAll(async () => {
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL('../test/discover-process.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@photostructure/sqlite'],
    logLevel: 'silent',
  });
});
afterAll(() => rmSync(built, { recursive: true }));

/** With control groups, not even a process without environment is missed. */
const hasCgroups = findUsableCgroup('running-folder.test') !== undefined;
const steppedAway = hasCgroups ? ['away', 'bare'] : ['away'];

interface StartedPlatform {
  folder: string;
  /** The connector, its child, and its children that have left the process group. */
  pids: number[];
  kill(): Promise<void>;
  /** Kills the watchers that tie connectors to the platform, like someone who kills processes by name. */
  killLeash(): void;
}

/** A platform whose one connector pays no attention to closed pipes and to being asked to end. */
async function startPlatform(folder = temporaryFolder()): Promise<StartedPlatform> {
  const file = (name: string) => join(folder, name);
  const notes = ['note', 'child', ...steppedAway];
  for (const name of notes) rmSync(file(name), { force: true });
  const steps = [
    { ignoreSigterm: true },
    { breed: file('child') },
    { breedAway: file('away') },
    ...(hasCgroups ? [{ breedBare: file('bare') }] : []),
    { note: file('note') },
    { hang: true },
  ];
  writeFileSync(file('connector.json'), JSON.stringify(scriptedSource(steps, { password: 'hunter2' })));
  const platform = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  const kill = async () => {
    if (platform.exitCode !== null || platform.signalCode !== null) return;
    const exited = once(platform, 'exit');
    platform.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  await until(() => notes.every((name) => existsSync(file(name)) && readFileSync(file(name), 'utf8') !== ''));
  const pids = [
    JSON.parse(readFileSync(file('note'), 'utf8')).pid,
    ...['child', ...steppedAway].map((name) => Number(readFileSync(file(name), 'utf8'))),
  ];
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  const killLeash = () => {
    const mark = `INLAY_RUN=${readFileSync(file('mark'), 'utf8')}`;
    const marked = readdirSync('/proc').filter(
      (pid) => /^\d+$/.test(pid) && contentOf(`/proc/${pid}/environ`).includes(mark),
    );
    const leashes = marked.filter((pid) => contentOf(`/proc/${pid}/cmdline`).startsWith('/bin/sh'));
    expect(leashes).toHaveLength(1);
    for (const pid of leashes) process.kill(Number(pid), 'SIGKILL');
  };
  return { folder, pids, kill, killLeash };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

const open = (folder: string) => openRunningFolder(join(folder, 'running'), systemRuntime, silentLog);
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' });

describe('when the service is killed', () => {
  test('its connectors are gone with all that they started, and their configuration is off the disk, without a restart', async () => {
    const { folder, pids, kill } = await startPlatform();
    expect(filesIn(folder).filter((file) => file.endsWith('config.json'))).toHaveLength(1);
    await kill();
    await until(() => !pids.some(isAlive));
    await until(() => !filesIn(folder).some((file) => file.endsWith('config.json')));
  });
});

describe('what an earlier run has left behind', () => {
  test('is ended and removed before the next run starts anything', async () => {
    const { folder, pids, kill, killLeash } = await startPlatform();
    killLeash();
    await kill();
    expect(pids.every(isAlive)).toBe(true);
    const next = await open(folder);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(filesIn(folder).filter((file) => file.endsWith('config.json'))).toEqual([]);
    next.remove();
  });

  test('is removed whatever the machine is called now, and whatever version left it', async () => {
    const folder = temporaryFolder();
    const left = join(folder, 'running', 'aaaaaaaaaaaa-1-ofAnotherMachine', 'run-1');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'config.json'), '{"password":"hunter2"}');
    const next = await open(folder);
    expect(existsSync(left)).toBe(false);
    next.remove();
  });

  test('is distinguished from what a living run, here or on another data directory, is using', async () => {
    const living = await startPlatform();
    const dead = await startPlatform();
    dead.killLeash();
    await dead.kill();
    for (const { folder } of [living, dead]) {
      const next = await open(folder);
      // A process may open a folder several times.
      const another = await open(folder);
      expect(existsSync(next.path.replace(/runs$/, 'owner.lock'))).toBe(true);
      next.remove();
      another.remove();
    }
    expect(dead.pids.filter(isAlive)).toEqual([]);
    expect(living.pids.every(isAlive)).toBe(true);
    expect(filesIn(living.folder).filter((file) => file.endsWith('config.json'))).toHaveLength(1);
  });
});
