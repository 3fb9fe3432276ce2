/**
 * Watches how much memory the process groups of connectors have in use, all processes of a group together. A process for
 * itself is held by the operating system (leash.ts), which knows no limit for a group.
 *
 * Only memory of the processes' own counts, not the programs and libraries that they share.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Runtime } from '../runtime.ts';

/** Often enough that a group does not get far, seldom enough to cost nothing. */
const lookEveryMs = 500;

interface Group {
  limitBytes: number;
  onExceeded(): void;
}

export class MemoryWatch {
  readonly #runtime: Pick<Runtime, 'sleep'>;
  readonly #groups = new Map<number, Group>();
  /** Processes that were seen in another group. Only new processes come into a group that is watched. */
  #foreign = new Set<string>();
  #isLooking = false;

  constructor(runtime: Pick<Runtime, 'sleep'>) {
    this.#runtime = runtime;
  }

  /** Until the function that is given back is called. */
  watch(groupId: number, limitBytes: number, onExceeded: () => void): () => void {
    this.#groups.set(groupId, { limitBytes, onExceeded });
    if (!this.#isLooking) void this.#look();
    return () => this.#groups.delete(groupId);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    await this.#runtime.sleep(lookEveryMs);
    while (this.#groups.size > 0) {
      const used = process.platform === 'linux' ? this.#measureByProc() : await measureByPs();
      for (const [groupId, { limitBytes, onExceeded }] of this.#groups) {
        if ((used.get(groupId) ?? 0) > limitBytes) onExceeded();
      }
      await this.#runtime.sleep(lookEveryMs);
    }
    this.#foreign.clear();
    this.#isLooking = false;
  }

  #measureByProc(): Map<number, number> {
    const used = new Map<number, number>();
    const foreign = new Set<string>();
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      // The first process of a group is seen before it has made its group.
      if (this.#foreign.has(pid) && !this.#groups.has(Number(pid))) {
        foreign.add(pid);
        continue;
      }
      const status = statusOf(pid);
      const groupId = field(status, 'NSpgid');
      if (!this.#groups.has(groupId)) foreign.add(pid);
      else add(used, groupId, (field(status, 'RssAnon') + field(status, 'RssShmem') + field(status, 'VmSwap')) * 1024);
    }
    this.#foreign = foreign;
    return used;
  }
}

/** Empty for a process that has ended meanwhile. */
function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function field(status: string, name: string): number {
  const start = status.indexOf(`${name}:`);
  return start === -1 ? 0 : Number.parseInt(status.slice(start + name.length + 1), 10);
}

async function measureByPs(): Promise<Map<number, number>> {
  const used = new Map<number, number>();
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pgid=,rss=']);
  for (const line of stdout.trim().split('\n')) {
    const [groupId = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    add(used, groupId, kilobytes * 1024);
  }
  return used;
}

function add(used: Map<number, number>, groupId: number, bytes: number): void {
  used.set(groupId, (used.get(groupId) ?? 0) + bytes);
}
