/**
 * The folder for what running connectors need, secrets among it: one for each run of the service, below one folder of
 * the data directory. What a run that was killed has left in its folder, and the connectors that may have outlived it,
 * are ended and removed by the next run before that starts anything.
 *
 * Whether a run is over is determined by a lock on a file in its folder, whatever the machine or container is called now.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock, tryLock } from '@inlay/database/file-lock';
import type { Log } from './log.ts';
import { allProcessesIn, findUsableCgroup, killCgroup, listRunCgroups, removeCgroup } from './processes/cgroups.ts';
import { endMarkedProcesses } from './processes/marked-processes.ts';
import type { Runtime } from './runtime.ts';

export interface RunningFolder {
  /** Only for the runner, which creates it. */
  readonly path: string;
  /** What the connectors of this run of the service carry, and no other process anywhere. */
  readonly mark: string;
  /** Parent control group of the connectors' own groups, if possible. */
  readonly cgroup: string | undefined;
  remove(): void;
}

/** Those who start at the same time take turns, so that nobody takes a folder that is being made for an abandoned one. */
const turnFile = 'turn.lock';
const turnPatienceMs = 30_000;
const ownerFile = 'owner.lock';
/** Names the control group: the next run of the service may be in another one. */
const cgroupFile = 'cgroup';
const killEveryMs = 20;
const killPatienceMs = 10_000;

export async function openRunningFolder(
  parent: string,
  runtime: Pick<Runtime, 'newId' | 'sleep' | 'elapsed'>,
  log: Pick<Log, 'warn'>,
): Promise<RunningFolder> {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const turn = await takeLock(join(parent, turnFile), runtime, turnPatienceMs);
  try {
    for (const entry of readdirSync(parent, { withFileTypes: true })) {
      if (entry.isDirectory()) await removeIfAbandoned(parent, entry.name, runtime, log);
    }
    const mark = runtime.newId();
    const own = join(parent, mark);
    mkdirSync(own, { mode: 0o700 });
    const lock = tryLock(join(own, ownerFile));
    if (!lock) throw new Error(`${own} was just created but is locked by another process.`);
    const cgroup = findUsableCgroup(mark);
    if (cgroup !== undefined) writeFileSync(join(own, cgroupFile), cgroup, { mode: 0o600 });
    return {
      path: join(own, 'runs'),
      mark,
      cgroup,
      remove() {
        lock.close();
        rmSync(own, { recursive: true, force: true });
      },
    };
  } finally {
    turn.close();
  }
}

async function removeIfAbandoned(
  parent: string,
  mark: string,
  runtime: Pick<Runtime, 'sleep' | 'elapsed'>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const folder = join(parent, mark);
  // Without an owner's lock it is of a version that had none.
  const lock = existsSync(join(folder, ownerFile)) ? tryLock(join(folder, ownerFile)) : 'nobody';
  if (!lock) return;
  const file = join(folder, cgroupFile);
  const cgroups = existsSync(file) ? listRunCgroups(readFileSync(file, 'utf8'), mark) : [];
  const left = [...(await endCgroups(cgroups, runtime)), ...(await endMarkedProcesses(mark, runtime))];
  if (left.length > 0) log.warn({ pids: left }, 'Killed connectors of an earlier run have not exited yet');
  if (lock !== 'nobody') lock.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the ids of the processes that do not exit. */
async function endCgroups(
  cgroups: readonly string[],
  { sleep, elapsed }: Pick<Runtime, 'sleep' | 'elapsed'>,
): Promise<number[]> {
  const deadline = elapsed() + killPatienceMs;
  const processes = () => cgroups.flatMap(allProcessesIn);
  for (; processes().length > 0 && elapsed() < deadline; await sleep(killEveryMs)) cgroups.forEach(killCgroup);
  for (const cgroup of cgroups) {
    try {
      removeCgroup(cgroup);
    } catch (error) {
      // An empty leftover group is harmless.
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    }
  }
  return processes();
}
