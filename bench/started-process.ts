/* Runs a program to its end, which must be a good one, and takes the time. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Measured } from './benchmark.ts';
import { type Usage, watchUsage } from './process-usage.ts';

export const timeoutMs = 600_000;

interface RunOptions {
  signal: AbortSignal;
  stdio?: SpawnOptions['stdio'];
  /** Tells the processes that the program starts apart; without it nothing of the kind is watched. */
  nameOf?(commandLine: string): string | undefined;
}

export async function runTimed(program: string, args: string[], options: RunOptions): Promise<Measured> {
  const { signal, stdio = ['ignore', 'ignore', 'inherit'], nameOf } = options;
  const startedAtMs = performance.now();
  const child = spawn(program, args, { stdio, signal, timeout: timeoutMs });
  const endWatching = nameOf && child.pid !== undefined ? watchUsage(child.pid, nameOf) : () => ({}) as Usage;
  try {
    await endOf(child, program);
    return { tookMs: performance.now() - startedAtMs, usage: endWatching() };
  } finally {
    endWatching();
  }
}

export async function endOf(child: ChildProcess, program: string): Promise<void> {
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}.`);
}
