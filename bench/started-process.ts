/* Runs programs to their end, measures their time and what they use, and fails if a program fails. */
import { type SpawnOptions, spawn } from 'node:child_process';
import type { Measured } from './figures.ts';
import { childrenCpuSecondsSoFar, watchUsage } from './process-usage.ts';

const timeoutMs = 600_000;

interface RunOptions {
  signal: AbortSignal;
  stdio?: SpawnOptions['stdio'];
  /** The processes to watch, among the program and its children. */
  names?: Record<string, string>;
}

export async function runTimed(program: string, args: string[], options: RunOptions): Promise<Measured> {
  const { signal, stdio = ['ignore', 'ignore', 'inherit'], names = {} } = options;
  const startedAtMs = performance.now();
  const before = childrenCpuSecondsSoFar(process.pid);
  const child = spawn(program, args, { stdio, signal, timeout: timeoutMs });
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const endWatch = child.pid === undefined ? () => ({}) : watchUsage(child.pid, names);
  // Also an interrupted program is waited for, so that nothing is left running.
  const ending = await new Promise((resolve) => child.once('close', (code, by) => resolve(code ?? by)));
  const tookMs = performance.now() - startedAtMs;
  const usage = endWatch();
  if (ending !== 0) throw failure ?? new Error(`${child.spawnargs.join(' ')} ended with ${ending}.`);
  return { tookMs, usage, cpuMs: (childrenCpuSecondsSoFar(process.pid) - before) * 1000 };
}

/** Two commands, the first of which writes what the second reads. */
export const runPipe = (writer: string[], reader: string[], options: RunOptions): Promise<Measured> => {
  const text = (command: string[]) => command.map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(' ');
  return runTimed('/bin/sh', ['-c', `${text(writer)} | ${text(reader)}`], options);
};
