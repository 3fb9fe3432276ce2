/**
 * Follows the processes of each connector run: the connector and everything it has started, also in other sessions.
 * They end with the run, and their total memory is limited. The operating system limits each process (leash.ts) but not
 * several together.
 *
 * A process belongs to a run if it is in the run's control group (cgroups.ts). Where there is none: if it is in the run's
 * process group, or its parent belongs to the run, or its environment has the run's mark. Then a process escapes only if it
 * leaves its group, loses its parent and clears its environment, all between two looks.
 *
 * Only memory of the processes' own counts, not the programs and libraries that they share.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Runtime } from '../runtime.ts';
import { allProcessesIn, killCgroup, removeCgroup } from './cgroups.ts';
import { endMarkedProcesses, kill, markVariable } from './marked-processes.ts';

/** Often enough that a run does not get far, seldom enough to cost nothing. */
const lookEveryMs = 500;
const killEveryMs = 10;
/** A process that hangs in the kernel dies only when the kernel returns. */
const patienceMs = 10_000;

export interface WatchedRun {
  /** The process that was started, which is the first of its process group. */
  pid: number;
  /** In the environment of the process and its children. */
  mark: string;
  cgroup: string | undefined;
  limitBytes: number;
  onExceeded(): void;
}

export class RunWatch {
  readonly #runtime: Pick<Runtime, 'sleep' | 'elapsed'>;
  readonly #runs = new Set<WatchedRun>();
  /** The processes of runs without a control group. */
  #members = new Map<number, WatchedRun>();
  /** Processes that belong to nobody here. Only new processes come into a run. */
  #foreign = new Set<number>();
  #isLooking = false;

  constructor(runtime: Pick<Runtime, 'sleep' | 'elapsed'>) {
    this.#runtime = runtime;
  }

  /** Call it before a process starts: what is there already is none of its descendants, and is not looked at. */
  prepare(): void {
    if (process.platform === 'linux' && this.#runs.size === 0) this.#foreign = new Set(listPids());
  }

  /**
   * Until the returned function is called, which resolves when every process of the run is gone. Its caller has killed
   * the run's process group.
   */
  watch(run: WatchedRun): () => Promise<void> {
    this.#runs.add(run);
    if (!this.#isLooking) void this.#look();
    let ended: Promise<void> | undefined;
    return () => {
      ended ??= this.#end(run).finally(() => this.#runs.delete(run));
      return ended;
    };
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    await this.#runtime.sleep(lookEveryMs);
    while (this.#runs.size > 0) {
      const used = process.platform === 'linux' ? this.#measureByProc() : await this.#measureByPs();
      for (const [run, bytes] of used) if (bytes > run.limitBytes && this.#runs.has(run)) run.onExceeded();
      await this.#runtime.sleep(lookEveryMs);
    }
    this.#members.clear();
    this.#isLooking = false;
  }

  async #end(run: WatchedRun): Promise<void> {
    if (process.platform !== 'linux') {
      for (const [pid, of] of this.#members) if (of === run) kill(pid);
      await endMarkedProcesses(run.mark.replace(/\.$/, ''), this.#runtime);
      return;
    }
    const deadline = this.#runtime.elapsed() + patienceMs;
    for (;;) {
      const pids = this.#processesLeftOf(run);
      if (pids.length === 0 || this.#runtime.elapsed() > deadline) break;
      if (run.cgroup !== undefined) killCgroup(run.cgroup);
      else for (const pid of pids) kill(pid);
      await this.#runtime.sleep(killEveryMs);
    }
    if (run.cgroup !== undefined) await this.#remove(run.cgroup, deadline);
  }

  /** A group is busy for a moment after its last process. */
  async #remove(cgroup: string, deadline: number): Promise<void> {
    for (;;) {
      try {
        return removeCgroup(cgroup);
      } catch (error) {
        // The next start of the service removes it.
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || this.#runtime.elapsed() > deadline) return;
        await this.#runtime.sleep(killEveryMs);
      }
    }
  }

  /** Those that the end of the process group has not reached. */
  #processesLeftOf(run: WatchedRun): number[] {
    if (run.cgroup !== undefined) return allProcessesIn(run.cgroup);
    this.#findMembers();
    const isLeft = (pid: number) => {
      const status = statusOf(pid);
      return isRunning(status) && field(status, 'NSpgid') !== run.pid;
    };
    return [...this.#members].flatMap(([pid, of]) => (of === run && isLeft(pid) ? [pid] : []));
  }

  #measureByProc(): Map<WatchedRun, number> {
    const used = new Map<WatchedRun, number>();
    const ownMemory = (pid: number) => {
      const status = statusOf(pid);
      return (field(status, 'RssAnon') + field(status, 'RssShmem') + field(status, 'VmSwap')) * 1024;
    };
    const inGroups = [...this.#runs].filter(({ cgroup }) => cgroup !== undefined);
    for (const run of inGroups) for (const pid of allProcessesIn(run.cgroup ?? '')) add(used, run, ownMemory(pid));
    if (inGroups.length < this.#runs.size) {
      this.#findMembers();
      for (const [pid, run] of this.#members) add(used, run, ownMemory(pid));
    }
    return used;
  }

  /** Looks at the processes that are new since the last time. */
  #findMembers(): void {
    const runs = [...this.#runs].filter(({ cgroup }) => cgroup === undefined);
    const members = new Map<number, WatchedRun>();
    const foreign = new Set<number>();
    let unknown: { pid: number; parent: number }[] = [];
    for (const pid of listPids()) {
      const known = this.#members.get(pid);
      if (known) members.set(pid, known);
      else if (this.#foreign.has(pid)) foreign.add(pid);
      else {
        const status = statusOf(pid);
        const group = field(status, 'NSpgid');
        const run = runs.find(({ pid: first }) => first === group) ?? this.#runByMark(runs, pid, status, foreign);
        if (run) members.set(pid, run);
        else unknown.push({ pid, parent: field(status, 'PPid') });
      }
    }
    for (let found = true; found; ) {
      const children = unknown.filter(({ parent }) => members.has(parent));
      for (const { pid, parent } of children) {
        members.set(pid, members.get(parent) as WatchedRun);
        foreign.delete(pid);
      }
      unknown = unknown.filter((one) => !children.includes(one));
      found = children.length > 0;
    }
    this.#members = members;
    this.#foreign = foreign;
  }

  /** A process whose environment is empty may be on its way into a program, and is looked at again. */
  #runByMark(runs: WatchedRun[], pid: number, status: string, foreign: Set<number>): WatchedRun | undefined {
    const environment = environmentOf(pid);
    const run = runs.find(({ mark }) => environment?.includes(`${markVariable}=${mark}`));
    if (!run && (environment !== '' || !isRunning(status))) foreign.add(pid);
    return run;
  }

  async #measureByPs(): Promise<Map<WatchedRun, number>> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=']);
    const used = new Map<WatchedRun, number>();
    const members = new Map<number, WatchedRun>();
    // Parents before their children, nearly always: a child that is missed is found at the next look.
    for (const line of stdout.trim().split('\n')) {
      const [pid = 0, parent = 0, group = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
      const byGroup = [...this.#runs].find(({ pid: first }) => first === group);
      const run = byGroup ?? this.#members.get(pid) ?? members.get(parent);
      if (!run) continue;
      members.set(pid, run);
      add(used, run, kilobytes * 1024);
    }
    this.#members = members;
    return used;
  }
}

const listPids = () => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** Empty for a process that has exited in the meantime. */
const statusOf = (pid: number) => contentOf(pid, 'status') ?? '';
/** Undefined for a process that has exited or belongs to another user. */
const environmentOf = (pid: number) => contentOf(pid, 'environ');

function contentOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}

/** Exited processes may be listed until their parent reaps them. */
const isRunning = (status: string) => status !== '' && !/^State:\s+[ZX]/m.test(status);

function field(status: string, name: string): number {
  const start = status.indexOf(`${name}:`);
  return start === -1 ? 0 : Number.parseInt(status.slice(start + name.length + 1), 10);
}

function add(used: Map<WatchedRun, number>, run: WatchedRun, bytes: number): void {
  used.set(run, (used.get(run) ?? 0) + bytes);
}
