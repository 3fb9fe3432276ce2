/*
 * What a process and its children use while they run, looked up in /proc many times a second. Without /proc there are
 * no figures.
 */
import { readFileSync } from 'node:fs';

export interface ProcessUsage {
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
  cpuTicks: number;
}

const sampleEveryMs = 20;
/** USER_HZ, which Linux has not changed on any platform that Node.js runs on. */
const ticksPerSecond = 100;

/**
 * `nameOf` gives the name of a process from its command line, and undefined for a process that does not matter. Call
 * the returned function to stop watching.
 */
export function watchUsage(pid: number, nameOf: (commandLine: string) => string | undefined): () => Usage {
  const samples = new Map<string, Sample[]>();
  function sample(): void {
    for (const id of [pid, ...childrenOf(pid)]) {
      const name = nameOf(readProc(id, 'cmdline'));
      const taken = sampleOf(id);
      if (!name || !taken) continue;
      const before = samples.get(name);
      if (before) before.push(taken);
      else samples.set(name, [taken]);
    }
  }
  const timer = setInterval(sample, sampleEveryMs);
  return () => {
    clearInterval(timer);
    return Object.fromEntries([...samples].map(([name, taken]) => [name, summarise(taken)]));
  };
}

export function cpuSecondsOf(usage: Usage): number {
  return Object.values(usage).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/** The CPU time of a running process, without its children. */
export function cpuSecondsSoFar(pid: number): number {
  return (sampleOf(pid)?.cpuTicks ?? 0) / ticksPerSecond;
}

/** The CPU time of all children of a process that have ended. */
export function childrenCpuSecondsSoFar(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / ticksPerSecond;
}

function summarise(samples: Sample[]): ProcessUsage {
  const half = Math.ceil(samples.length / 2);
  const peak = (part: Sample[]) => Math.max(...part.map(({ residentKilobytes }) => residentKilobytes));
  const [first, second] = [samples.slice(0, half), samples.slice(half)];
  return {
    peakMegabytes: peak(samples) / 1024,
    growth: second.length > 0 ? peak(second) / peak(first) : 1,
    cpuSeconds: (samples.at(-1)?.cpuTicks ?? 0) / ticksPerSecond,
  };
}

function childrenOf(pid: number): number[] {
  return readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function sampleOf(pid: number): Sample | undefined {
  const resident = /^VmRSS:\s*(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1];
  const fields = statOf(pid);
  // A process that has ended has no memory any more.
  if (resident === undefined) return undefined;
  return { residentKilobytes: Number(resident), cpuTicks: Number(fields[11]) + Number(fields[12]) };
}

/**
 * The fields from the state of the process on. The name of the program before them is in parentheses and may be any
 * text.
 */
function statOf(pid: number): string[] {
  return readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
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
