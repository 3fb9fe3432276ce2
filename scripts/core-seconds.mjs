// Counts how much CPU time a run takes: seconds of one core, user and system, of this process and all processes below it.
//
// What counts, from /proc/<pid>/stat:
// - this process, and every descendant that has ended and that its parent has waited for (the kernel adds those up),
// - descendants that still run, such as a server that a test has left to its guard,
// - orphans: descendants that have lost their parent, whom init or a container's first process waits for. The kernel
//   adds their time to nobody of ours, so the last look at them counts.
//
// What an orphan does after the last look is missing, and everything if it ends before a look finds it without its parent.
// Other programs on the machine never count, which is why this does not read the counter of the control group.

import { readdirSync, readFileSync } from 'node:fs';

/** Linux shows times to programs in this unit on every machine. */
const ticksPerSecond = 100;
/** A look takes 4 ms of CPU time where there are 200 processes. */
const lookEveryMs = 2_000;

/**
 * @typedef {{ id: string, pid: number, parent: number, ticks: number }} Process its id stays unique when the number of
 * the process is given to another one; its ticks are its own and of the children that it has waited for
 */

/** @param {string} stat @returns {Process} */
export function parseStat(stat) {
  // The name of the program stands in brackets and may have brackets and spaces in it.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  const pid = Number.parseInt(stat, 10);
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { id: `${pid} ${fields[19]}`, pid, parent: Number(fields[1]), ticks };
}

/** @returns {Process[]} all processes of the machine */
function readProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))];
      } catch {
        // The process has ended since.
        return [];
      }
    });
}

/** Adds up looks at all processes. @param {number} root the number of the process that counts with all below it */
export function createTally(root) {
  /** @type {Map<string, Process & { isOrphan: boolean }>} */
  let ours = new Map();
  let ticksOfEndedOrphans = 0;

  return {
    /** @param {Process[]} processes */
    look(processes) {
      /** @type {Map<number, Process[]>} */
      const childrenOf = new Map();
      for (const process of processes) {
        childrenOf.set(process.parent, [...(childrenOf.get(process.parent) ?? []), process]);
      }
      /** @type {typeof ours} */
      const found = new Map();
      const add = (/** @type {Process} */ process, isOrphan = false) => {
        found.set(process.id, { ...process, isOrphan });
        for (const child of childrenOf.get(process.pid) ?? []) add(child);
      };
      const known = processes.filter(({ id }) => ours.has(id));
      const knownPids = new Set(known.map(({ pid }) => pid));
      for (const process of processes) if (process.pid === root) add(process);
      for (const process of known) {
        if (!found.has(process.id) && !knownPids.has(process.parent)) add(process, true);
      }
      for (const { id, ticks, isOrphan } of ours.values()) {
        if (isOrphan && !found.has(id)) ticksOfEndedOrphans += ticks;
      }
      ours = found;
    },
    seconds: () => [...ours.values()].reduce((sum, { ticks }) => sum + ticks, ticksOfEndedOrphans) / ticksPerSecond,
  };
}

/** Counts from the start of this process on. @returns {() => number | undefined} undefined on a system without /proc */
export function countCoreSeconds() {
  if (process.platform !== 'linux') return () => undefined;
  const tally = createTally(process.pid);
  const look = () => tally.look(readProcesses());
  look();
  setInterval(look, lookEveryMs).unref();
  return () => {
    look();
    return tally.seconds();
  };
}
