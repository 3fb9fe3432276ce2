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
const newline = 0x0a;

type Write = (bytes: Buffer, from: number) => number;

const toStandardOutput: Write = (bytes, from) => writeSync(1, bytes, from);

export interface LogStream extends DestinationStream {
  /** Writes the line before it returns. */
  write(line: string): void;
  /** Writes the line in this turn of the event loop, in one call of the system with others, and in their order. */
  writeSoon?(line: string): void;
}

/** Lines that still wait when the process ends. */
const flushes = new Set<() => void>();
process.on('exit', () => {
  for (const flush of flushes) flush();
});

/** Where the log goes. A line that cannot be written is dropped. */
export function logOutput(writeSome: Write = toStandardOutput): Required<LogStream> {
  let waiting = '';
  let dropped = 0;
  let lastError: NodeJS.ErrnoException | undefined;
  let isTorn = false;

  /** Returns how many lines could not be written. */
  function append(lines: string): number {
    const bytes = Buffer.from(isTorn ? `\n${lines}` : lines);
    const begin = isTorn ? 1 : 0;
    let written = 0;
    let waitedMs = 0;
    while (written < bytes.length) {
      try {
        written += writeSome(bytes, written);
      } catch (error) {
        lastError = error as NodeJS.ErrnoException;
        if (lastError.code !== 'EAGAIN' || waitedMs >= patienceMs) {
          if (written > 0) isTorn = bytes[written - 1] !== newline;
          return bytes.subarray(Math.max(begin, written)).filter((byte) => byte === newline).length;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
        waitedMs += pauseMs;
      }
    }
    isTorn = false;
    return 0;
  }

  function writeNow(lines: string): void {
    if (dropped > 0) {
      const fields = { level: 'warn', time: isoTime(Date.now()), droppedLines: dropped, code: lastError?.code };
      if (append(`${JSON.stringify({ ...fields, msg: 'log lines could not be written' })}\n`) > 0) {
        dropped += lines.split('\n').length - 1;
        return;
      }
      dropped = 0;
    }
    dropped += append(lines);
  }

  function flush(): void {
    flushes.delete(flush);
    const lines = waiting;
    waiting = '';
    if (lines !== '') writeNow(lines);
  }

  return {
    write(line) {
      flush();
      writeNow(line);
    },
    writeSoon(line) {
      if (waiting === '') {
        flushes.add(flush);
        setImmediate(flush);
      }
      waiting += line;
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
