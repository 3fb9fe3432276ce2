/*
 * Limits the rate of API calls. One budget per run, shared by all streams and partitions. A call waits its turn before
 * it is sent; the API's response may report what is left.
 */
import type { Answer } from './answer.ts';
import type { PreparedRequest } from './request.ts';

export interface CallPolicy {
  matches(request: PreparedRequest): boolean;
  /** Seconds to wait before the call may be made; 0 takes it into account and lets it go. */
  take(request: PreparedRequest, now: number): number;
  /** What the API says about its limit: calls left, and when there are more (seconds since 1970). */
  update(left: number | undefined, resetAt: number | undefined): void;
}

export interface BudgetRules {
  policies: readonly CallPolicy[];
  remainingHeader: string;
  resetHeader: string;
  statusesOfLimit: readonly number[];
}

/** Asks again after a wait, so that calls that wait keep their order. */
export class Budget {
  rules: BudgetRules | undefined;
  readonly #now: () => number;
  readonly #wait: (seconds: number) => Promise<void>;
  #queue: Promise<void> = Promise.resolve();

  /** `now` moves on with every wait: in seconds since 1970. */
  constructor(now: () => number, wait: (seconds: number) => Promise<void>) {
    this.#now = now;
    this.#wait = wait;
  }

  async take(request: PreparedRequest): Promise<void> {
    const policy = this.#policyOf(request);
    if (!policy) return;
    const before = this.#queue;
    let done = () => {};
    this.#queue = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    try {
      for (let seconds = policy.take(request, this.#now()); seconds > 0; ) {
        await this.#wait(seconds);
        seconds = policy.take(request, this.#now());
      }
    } finally {
      done();
    }
  }

  update(request: PreparedRequest, answer: Answer): void {
    const policy = this.#policyOf(request);
    if (!policy || !this.rules) return;
    const number = (name: string) => {
      const value = answer.header(name);
      return value !== undefined && /^\d+$/.test(value.trim()) ? Number(value) : undefined;
    };
    const isLimit = this.rules.statusesOfLimit.includes(answer.status);
    policy.update(number(this.rules.remainingHeader) ?? (isLimit ? 0 : undefined), number(this.rules.resetHeader));
  }

  #policyOf(request: PreparedRequest): CallPolicy | undefined {
    return this.rules?.policies.find((policy) => policy.matches(request));
  }
}
