/** Keeps a struggling platform from dragging us down, and us from drowning it: a cap on calls in flight, and a circuit breaker. */

/** At most `limit` pieces of work at a time; the others wait their turn. */
export class Bulkhead {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

export interface BreakerOptions {
  now: () => number;
  calls?: number;
  failureShare?: number;
  probeEveryMs?: number;
}

/** Opens when half of the last 20 calls failed; while open, lets one probe through every 5 s; a probe that succeeds closes it. */
export class Breaker {
  readonly #now: () => number;
  readonly #calls: number;
  readonly #failureShare: number;
  readonly #probeEveryMs: number;
  #recent: boolean[] = [];
  #open = false;
  #nextProbeAt = 0;

  constructor({ now, calls = 20, failureShare = 0.5, probeEveryMs = 5_000 }: BreakerOptions) {
    this.#now = now;
    this.#calls = calls;
    this.#failureShare = failureShare;
    this.#probeEveryMs = probeEveryMs;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Seconds until the next probe may go out. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#nextProbeAt - this.#now()) / 1000));
  }

  /** Whether a call may go out now. */
  admits(): boolean {
    if (!this.#open) return true;
    if (this.#now() < this.#nextProbeAt) return false;
    this.#nextProbeAt = this.#now() + this.#probeEveryMs;
    return true;
  }

  record(succeeded: boolean): void {
    if (this.#open) {
      if (succeeded) {
        this.#open = false;
        this.#recent = [];
      }
      return;
    }
    this.#recent.push(succeeded);
    if (this.#recent.length > this.#calls) this.#recent.shift();
    const failures = this.#recent.filter((success) => !success).length;
    if (this.#recent.length >= this.#calls && failures >= this.#calls * this.#failureShare) {
      this.#open = true;
      this.#nextProbeAt = this.#now() + this.#probeEveryMs;
    }
  }
}
