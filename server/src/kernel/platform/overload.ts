/**
 * Keeps an overloaded platform from blocking the service, and the service from overloading the platform: a circuit breaker
 * and a budget for retries. calls.ts limits how many calls there are at a time.
 */

interface BreakerOptions {
  now: () => number;
  calls?: number;
  failureShare?: number;
  probeEveryMs?: number;
  onChange?: (open: boolean) => void;
}

/**
 * Opens when half of the last 20 calls failed; while open, lets one probe through every 5 s; a probe that succeeds
 * closes it.
 */
export class Breaker {
  readonly #now: () => number;
  readonly #calls: number;
  readonly #failureShare: number;
  readonly #probeEveryMs: number;
  readonly #onChange: ((open: boolean) => void) | undefined;
  #recent: boolean[] = [];
  #open = false;
  #nextProbeAt = 0;

  constructor({ now, calls = 20, failureShare = 0.5, probeEveryMs = 5_000, onChange }: BreakerOptions) {
    this.#now = now;
    this.#calls = calls;
    this.#failureShare = failureShare;
    this.#probeEveryMs = probeEveryMs;
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Seconds until the next probe may be sent. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#nextProbeAt - this.#now()) / 1000));
  }

  /** Whether a call may be sent now. */
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
        this.#onChange?.(false);
      }
      return;
    }
    this.#recent.push(succeeded);
    if (this.#recent.length > this.#calls) this.#recent.shift();
    const failures = this.#recent.filter((success) => !success).length;
    if (this.#recent.length >= this.#calls && failures >= this.#calls * this.#failureShare) {
      this.#open = true;
      this.#nextProbeAt = this.#now() + this.#probeEveryMs;
      this.#onChange?.(true);
    }
  }
}

interface RetryBudgetOptions {
  now: () => number;
  shareOfCalls?: number;
  perSecond?: number;
  most?: number;
}

/**
 * A retry must be paid for: each call earns a fifth of a retry, each second earns one more, and at most twenty are
 * saved. So an outage adds about a fifth to the load of the platform instead of multiplying it, and a quiet service may
 * still retry.
 */
export class RetryBudget {
  readonly #now: () => number;
  readonly #shareOfCalls: number;
  readonly #perSecond: number;
  readonly #most: number;
  #saved: number;
  #countedAt: number;

  constructor({ now, shareOfCalls = 0.2, perSecond = 1, most = 20 }: RetryBudgetOptions) {
    this.#now = now;
    this.#shareOfCalls = shareOfCalls;
    this.#perSecond = perSecond;
    this.#most = most;
    this.#saved = most;
    this.#countedAt = now();
  }

  /** Must be called for every call that is not a retry. */
  earn(): void {
    this.#save(this.#shareOfCalls);
  }

  /** Whether a retry may be sent now. If so, it is paid for. */
  spend(): boolean {
    const now = this.#now();
    this.#save(((now - this.#countedAt) / 1000) * this.#perSecond);
    this.#countedAt = now;
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }

  #save(retries: number): void {
    this.#saved = Math.min(this.#most, this.#saved + retries);
  }
}
