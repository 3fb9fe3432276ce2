/*
 * A program of ours that runs next to the benchmark and handles one request at a time. If the program ends, an open
 * request fails, so the benchmark never hangs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { BenchmarkOptions } from './benchmark.ts';

export interface ChildProgram<Question extends object, Answer> {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

export function startProgram<Question extends object, Answer>(
  name: string,
  { programs, signal, onEnd }: BenchmarkOptions,
): ChildProgram<Question, Answer> {
  const file = join(programs, `${name}.js`);
  const child = fork(file, { signal, stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = stopperOf(child, 'SIGKILL');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started.`);
  onEnd(stop);
  return {
    pid,
    async ask(question) {
      const answer = new AbortController();
      const answered = once(child, 'message', { signal: answer.signal });
      const failed = ended.then(() => Promise.reject(new Error(`${name} ended before it answered.`)));
      try {
        child.send(question);
        const [message] = await Promise.race([answered, failed]);
        return message as Answer;
      } finally {
        for (const outcome of [answered, failed]) outcome.catch(() => {});
        answer.abort();
      }
    },
    stop,
  };
}

/** Ends a process and waits for its end; a process that does not end by the signal is killed. */
export function stopperOf(child: ChildProcess, signal: NodeJS.Signals): () => Promise<void> {
  // An interruption ends the process, which its caller notices.
  child.on('error', () => {});
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return async () => {
    child.kill(signal);
    const lastResort = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await ended;
    clearTimeout(lastResort);
  };
}

/** What such a program does: it answers each question, and ends when its parent ends. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  process.on('message', (question: Question) => {
    answer(question).then(
      (value) => process.send?.(value),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit());
}

/** Lets a server listen on loopback, if it does not yet. */
export async function portOf(server: Server): Promise<{ port: number }> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port };
}
