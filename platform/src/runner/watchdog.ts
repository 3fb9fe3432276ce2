/** Notices that nothing moves any more. The time in which the platform itself is at work does not count. */
import type { Runtime } from '../runtime.ts';

export class Watchdog {
  readonly #runtime: Runtime;
  readonly #afterMs: number;
  readonly #ended = new AbortController();
  #lastSignMs: number;
  #ownWork = 0;

  constructor(runtime: Runtime, afterMs: number, onStuck: () => void) {
    this.#runtime = runtime;
    this.#afterMs = afterMs;
    this.#lastSignMs = runtime.elapsed();
    void this.#watch(onStuck);
  }

  /** Something has moved. */
  sign(): void {
    this.#lastSignMs = this.#runtime.elapsed();
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
    this.#ended.abort();
  }

  async #watch(onStuck: () => void): Promise<void> {
    let silentMs = 0;
    while (silentMs < this.#afterMs) {
      await this.#runtime.sleep(this.#afterMs - silentMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      silentMs = this.#ownWork > 0 ? 0 : this.#runtime.elapsed() - this.#lastSignMs;
    }
    onStuck();
  }
}
