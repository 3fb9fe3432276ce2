/**
 * Workers that wait for something to do, in this coordinator. They look one after the other, and share a look that has found
 * nothing: a job wakes all of them, and one gets it.
 */
export class Waiters {
  readonly #elapsed: () => number;
  #waking = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  wake(): void {
    const waking = this.#waking;
    this.#waking = new AbortController();
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    waking.abort();
  }

  get woken(): AbortSignal {
    return this.#waking.signal;
  }

  /** `isAnything`: whether there is anything to do, for anybody; asked again after a call, or after so long. */
  look<T>(isAnything: () => Promise<boolean>, quietMs: number, take: () => Promise<T | undefined>) {
    const turn = this.#turn.then(async () => {
      if (this.#elapsed() < this.#quietUntilMs) return undefined;
      const { woken } = this;
      if (await isAnything()) return await take();
      if (!woken.aborted) this.#quietUntilMs = this.#elapsed() + quietMs;
      return undefined;
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }
}
