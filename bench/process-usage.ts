/*
 * What a process and its children use while they run, looked up in /proc many times a second. Without /proc there are
 * no figures.
 */
import { readFileSync } from 'node:fs';

interface ProcessUsage {
  peakMegabytes: number;
  /**
   * The peak of the second half of its life, divided by the peak of the first half: about 1 when memory does not grow.
   */
  growth: number;
  cpuSeconds: number;
}

/** The usage by the name of the process. */
export type Usage = Record<string, ProcessUsage>;

interface Sample {
  residentKilobytes: number;
  cpuSeconds: number;
}

const sampleEveryMs = 20;
/** USER_HZ, which Linux has not changed on any platform that Node.js runs on. */
const ticksPerSecond = 100;

/**
 * `names` has the processes to watch, and for each a text that its command line contains. Call the returned function to
 * stop watching.
 */
export function watchUsage(pid: number, names: Record<string, string>): () => Usage {
  const samples: Record<string, Sample[]> = {};
  const timer = setInterval(() => {
    for (const id of [pid, ...childrenOf(pid)]) {
      const commandLine = readProc(id, 'cmdline');
      const [name] = Object.entries(names).find(([, part]) => commandLine.includes(part)) ?? [];
      const resident = /^VmRSS:\s*(\d+) kB$/m.exec(readProc(id, 'status'))?.[1];
      // A process that has ended has no memory any more.
      if (name === undefined || resident === undefined) continue;
      samples[name] ??= [];
      samples[name].push({ residentKilobytes: Number(resident), cpuSeconds: cpuSecondsSoFar(id) });
    }
  }, sampleEveryMs);
  return () => {
    clearInterval(timer);
    return Object.fromEntries(Object.entries(samples).map(([name, taken]) => [name, summarize(taken)]));
  };
}

/** The CPU time of a running process, without its children. */
export const cpuSecondsSoFar = (pid: number): number => secondsInStat(pid, 11);

/** The CPU time of all children of a process that have ended. */
export const childrenCpuSecondsSoFar = (pid: number): number => secondsInStat(pid, 13);

/** The CPU time of a running process and of all its children, also of those that have ended. */
export function treeCpuSecondsSoFar(pid: number): number {
  const ofChildren = childrenOf(pid).reduce((sum, child) => sum + treeCpuSecondsSoFar(child), 0);
  return cpuSecondsSoFar(pid) + childrenCpuSecondsSoFar(pid) + ofChildren;
}

const childrenOf = (pid: number): number[] =>
  readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);

function summarize(samples: Sample[]): ProcessUsage {
  const half = Math.ceil(samples.length / 2);
  const peak = (part: Sample[]) => Math.max(...part.map(({ residentKilobytes }) => residentKilobytes));
  const [first, second] = [samples.slice(0, half), samples.slice(half)];
  return {
    peakMegabytes: peak(samples) / 1024,
    growth: second.length > 0 ? peak(second) / peak(first) : 1,
    cpuSeconds: samples.at(-1)?.cpuSeconds ?? 0,
  };
}

/** CPU time: user time at a place, system time at the next. */
function secondsInStat(pid: number, place: number): number {
  // The name of the program, before the state of the process, is in parentheses and may be any text.
  const fields = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[place] ?? 0) + Number(fields[place + 1] ?? 0)) / ticksPerSecond;
}

/** Empty for a process that is gone. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
