/**
 * Processes that an earlier run of the service has left behind, found by the mark in their environment. Only what carries
 * the mark is touched, and a mark belongs to one run of the service on one data directory.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Runtime } from '../runtime.ts';

/** The variable that every connector and its descendants carry; its value begins with the mark of the service's run. */
export const markVariable = 'INLAY_RUN';

/** Marks of connectors are that of the service's run and a number; no mark begins with another one. */
export const connectorMark = (serviceMark: string, number: number) => `${serviceMark}.${number}.`;

const lookEveryMs = 20;
/** A process that hangs in the kernel dies only when the kernel returns. */
const patienceMs = 10_000;

/** Kills them, and those they start in the meantime, until none is left. Returns the ids of those that do not exit. */
export async function endMarkedProcesses(
  serviceMark: string,
  { sleep, elapsed }: Pick<Runtime, 'sleep' | 'elapsed'>,
): Promise<number[]> {
  const deadline = elapsed() + patienceMs;
  let pids = listMarked(serviceMark);
  while (pids.length > 0 && elapsed() < deadline) {
    for (const pid of pids) kill(pid);
    await sleep(lookEveryMs);
    pids = listMarked(serviceMark);
  }
  return pids;
}

function listMarked(serviceMark: string): number[] {
  const variable = `${markVariable}=${serviceMark}.`;
  const marked = process.platform === 'linux' ? listMarkedByProc(variable) : listMarkedByPs(variable);
  return marked.filter((pid) => pid !== process.pid);
}

function listMarkedByProc(variable: string): number[] {
  return readdirSync('/proc')
    .filter(
      (name) =>
        /^\d+$/.test(name) &&
        environmentOf(name)
          .split('\0')
          .some((entry) => entry.startsWith(variable)),
    )
    .map(Number);
}

/** Empty for a process that has exited or belongs to another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

function listMarkedByPs(variable: string): number[] {
  // With the environment after each command line.
  const list = execFileSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  return list.split('\n').flatMap((line) => (line.includes(` ${variable}`) ? [Number.parseInt(line, 10)] : []));
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // The process has exited in the meantime, or the id was reused.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
