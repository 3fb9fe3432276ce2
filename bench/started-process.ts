/* Runs programs to their end, measures their time and what they use, and fails if a program fails. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Measured } from './figures.ts';
import { cpuMsOf, watchUsage } from './process-usage.ts';

const timeoutMs = 600_000;

interface RunOptions {
  signal: AbortSignal;
  stdio?: SpawnOptions['stdio'];
  /** The processes to watch, among the program and its children. */
  names?: Record<string, string>;
}

export function runTimed(program: string, args: string[], options: RunOptions): Promise<Measured> {
  const { signal, stdio = ['ignore', 'ignore', 'inherit'], names = {} } = options;
  return measure(() => [spawn(program, args, { stdio, signal, timeout: timeoutMs })], names);
}

/** Two programs, the first of which writes what the second reads. */
export function runPipe(writer: string[], reader: string[], { signal, names = {} }: RunOptions): Promise<Measured> {
  const limits = { signal, timeout: timeoutMs };
  return measure(() => {
    const second = spawn(process.execPath, reader, { ...limits, stdio: ['pipe', 'ignore', 'inherit'] });
    const first = spawn(process.execPath, writer, { ...limits, stdio: ['ignore', second.stdin, 'inherit'] });
    // The writer has this pipe now. While another process holds it open, the input of the reader does not end.
    second.stdin.destroy();
    return [first, second];
  }, names);
}

async function measure(start: () => ChildProcess[], names: Record<string, string>): Promise<Measured> {
  const startedAtMs = performance.now();
  const children = start();
  const watches = children.flatMap(({ pid }) => (pid === undefined ? [] : [watchUsage(pid, names)]));
  // Wait for all, so that nothing is left running even if one has failed.
  const endings = await Promise.allSettled(children.map(endOf));
  const tookMs = performance.now() - startedAtMs;
  const usage = Object.assign({}, ...watches.map((end) => end()));
  for (const ending of endings) if (ending.status === 'rejected') throw ending.reason;
  return { tookMs, usage, cpuMs: cpuMsOf(usage) };
}

/** Resolves after the process has ended, also when it was interrupted. */
function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    child.once('close', (code, signal) => {
      if (failure) reject(failure);
      else if (code === 0) resolve();
      else reject(new Error(`${child.spawnargs.join(' ')} exited with ${code ?? signal}.`));
    });
  });
}
