/**
 * Standard output when it cannot be written to: its disk is full, or its reader has gone. A service runs on without it,
 * and the log says later how many lines it lost. A command ends: quietly where its reader has read enough, as in
 * `inlay workspaces list | head`, and otherwise with the reason.
 */
import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { isoTime } from './iso-time.ts';

/** How long a line waits for a slow reader. Waiting blocks the whole process. */
const patienceMs = 1_000;
const pauseMs = 10;

type Write = (bytes: Buffer, from: number) => number;

const toStandardOutput: Write = (bytes, from) => writeSync(1, bytes, from);

/** Where the log goes. Each line is written before `write` returns; a line that cannot be written is dropped. */
export function logOutput(writeSome: Write = toStandardOutput): DestinationStream {
  let dropped = 0;
  let lastError: NodeJS.ErrnoException | undefined;
  let isTorn = false;

  function append(line: string): boolean {
    const bytes = Buffer.from(isTorn ? `\n${line}` : line);
    let written = 0;
    let waitedMs = 0;
    while (written < bytes.length) {
      try {
        written += writeSome(bytes, written);
      } catch (error) {
        lastError = error as NodeJS.ErrnoException;
        if (lastError.code !== 'EAGAIN' || waitedMs >= patienceMs) {
          isTorn ||= written > 0;
          return false;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
        waitedMs += pauseMs;
      }
    }
    isTorn = false;
    return true;
  }

  return {
    write(line) {
      if (dropped > 0) {
        const fields = { level: 'warn', time: isoTime(Date.now()), droppedLines: dropped, code: lastError?.code };
        const isSaid = append(`${JSON.stringify({ ...fields, msg: 'log lines could not be written' })}\n`);
        dropped = isSaid ? 0 : dropped + 1;
        if (!isSaid) return;
      }
      if (!append(line)) dropped++;
    },
  };
}

/** For a command that has something to print and then ends. */
export function endWithoutOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`The output could not be written: ${error.message}\n`, () => process.exit(1));
  });
  // There is nowhere left to say it.
  process.stderr.on('error', () => process.exit(1));
}

/** For a service: whatever becomes of its output, it has other work. */
export function runWithoutOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {});
}
