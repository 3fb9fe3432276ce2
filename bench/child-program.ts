/*
 * A program of ours that runs beside the benchmark and does what the benchmark asks, one thing at a time. When the
 * program ends, an open question fails, so the benchmark never waits for ever.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface ChildProgram<Question extends object, Answer> {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

export function startProgram<Question extends object, Answer>(
  file: string,
  signal: AbortSignal,
): ChildProgram<Question, Answer> {
  const child = fork(file, { signal, stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  // An interruption ends the program. The end tells the caller, which may still wait for an answer.
  child.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started.`);
  return {
    pid,
    async ask(question) {
      const answered = new AbortController();
      const answer = once(child, 'message', { signal: answered.signal });
      const ended = once(child, 'exit', { signal: answered.signal }).then(() => {
        throw new Error(`${file} ended before it answered.`);
      });
      try {
        child.send(question);
        const [message] = await Promise.race([answer, ended]);
        return message as Answer;
      } finally {
        ended.catch(() => {});
        answer.catch(() => {});
        answered.abort();
      }
    },
    stop: () => endOf(child),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
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
