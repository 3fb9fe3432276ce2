/* Notices that nothing moves any more. The time in which the platform itself is at work does not count. */
export class Watchdog {
  readonly #afterMs: number;
  readonly #onStuck: () => void;
  #lastSignMs = performance.now();
  #ownWork = 0;
  #timer: NodeJS.Timeout;

  constructor(afterMs: number, onStuck: () => void) {
    this.#afterMs = afterMs;
    this.#onStuck = onStuck;
    this.#timer = setTimeout(() => this.#look(), afterMs);
  }

  /** Something has moved. */
  sign(): void {
    this.#lastSignMs = performance.now();
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.#ownWork++;
    try {
      return await work;
    } finally {
      this.#ownWork--;
      this.sign();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const silentMs = this.#ownWork > 0 ? 0 : performance.now() - this.#lastSignMs;
    if (silentMs >= this.#afterMs) this.#onStuck();
    else this.#timer = setTimeout(() => this.#look(), this.#afterMs - silentMs);
  }
}
