/**
 * Names that identify a process, so that leftovers of a killed process can be distinguished from files in use: a
 * machine, a process id, and something unique, since process ids are reused.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Process ids mean something only to the machine, or the container, that gave them out. */
const machine = createHash('sha256')
  .update(process.platform === 'linux' ? `${bootId()} ${hostname()} ${readlinkSync('/proc/self/ns/pid')}` : hostname())
  .digest('hex')
  .slice(0, 12);

/** Of the running kernel. Machines may have the same name, and their first namespaces always have the same number. */
function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Unique part for this process: the id alone does not distinguish it from a predecessor with the same id. */
const inUse = new Set<string>();

/** `id` is unique, and new each time. */
export function newProcessName(id: string): string {
  const name = `${machine}-${process.pid}-${id}`;
  inUse.add(name);
  return name;
}

export function forgetProcessName(name: string): void {
  inUse.delete(name);
}

/** Whether the process that used the name is certainly gone; of another machine nobody knows. */
export function isAbandoned(name: string): boolean {
  const [ofMachine, pid] = name.split('-');
  if (ofMachine !== machine) return false;
  return Number(pid) === process.pid ? !inUse.has(name) : !isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is sent to nobody; it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be signalled, but is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
