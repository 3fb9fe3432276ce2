/**
 * The log of an attempt on its way to the coordinator. Lines wait here until they are there; where more wait than there is room for,
 * the middle is left out, and the log says so. Nothing of it is written to this machine.
 */
import type { RequestOf } from '../attempts/worker-messages.ts';
import type { JobLog } from '../runner/runner.ts';

type Line = RequestOf<'logs'>['lines'][number];

const maxWaitingBytes = 2_000_000;
const maxBatchBytes = 256_000;
const maxBatchLines = 5_000;
const maxMessageLength = 8 * 1024;

interface RemoteLogOptions {
  /** Returns when the coordinator has them. */
  send(request: RequestOf<'logs'>): Promise<unknown>;
  sleep(ms: number): Promise<void>;
}

const sendEveryMs = 1_000;

export class RemoteLog implements JobLog {
  readonly #options: RemoteLogOptions;
  /** A number in place of lines that were left out. */
  #waiting: (Line | number)[] = [];
  #bytes = 0;
  #sent = 0;
  #isTimed = false;
  /** One request at a time: each says how many lines came before. */
  #turn = Promise.resolve();

  constructor(options: RemoteLogOptions) {
    this.#options = options;
  }

  write(level: string, origin: Line['origin'], message: string): void {
    this.#waiting.push({ level: level as Line['level'], origin, message: message.slice(0, maxMessageLength) });
    this.#bytes += sizeOf(message);
    if (this.#bytes > maxWaitingBytes) this.#leaveOutMiddle();
    if (this.#isTimed) return;
    this.#isTimed = true;
    void this.#options.sleep(sendEveryMs).then(() => {
      this.#isTimed = false;
      // Whoever waits for the end of the log calls flush() and learns why it failed.
      this.flush().catch(() => {});
    });
  }

  /** Returns when all lines are there. */
  flush(): Promise<void> {
    const turn = this.#turn.then(async () => {
      while (this.#waiting.length > 0) {
        const lines = this.#takeBatch();
        await this.#options.send({ from: this.#sent, lines });
        this.#sent += lines.length;
      }
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #takeBatch(): Line[] {
    const lines: Line[] = [];
    let bytes = 0;
    while (this.#waiting.length > 0 && bytes < maxBatchBytes && lines.length < maxBatchLines) {
      const next = this.#waiting.shift() as Line | number;
      const line = typeof next === 'number' ? leftOut(next) : next;
      bytes += sizeOf(line.message);
      if (typeof next !== 'number') this.#bytes -= sizeOf(line.message);
      lines.push(line);
    }
    return lines;
  }

  /** The half in the middle. */
  #leaveOutMiddle(): void {
    const quarter = Math.ceil(this.#waiting.length / 4);
    const removed = this.#waiting.splice(quarter, this.#waiting.length - 2 * quarter);
    const count = removed.reduce<number>((sum, line) => sum + (typeof line === 'number' ? line : 1), 0);
    this.#bytes -= removed.reduce<number>(
      (sum, line) => sum + (typeof line === 'number' ? 0 : sizeOf(line.message)),
      0,
    );
    this.#waiting.splice(quarter, 0, count);
  }
}

/** As it travels, at most. */
const sizeOf = (message: string) => 80 + 2 * Math.min(message.length, maxMessageLength);

const leftOut = (count: number): Line => ({
  level: 'WARN',
  origin: 'platform',
  message: `${count} lines are missing because the coordinator could not take them in time.`,
});
