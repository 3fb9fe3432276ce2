/** Wakes those who wait for a job. */
export class Waiters {
  #waking = new AbortController();

  wake(): void {
    const waking = this.#waking;
    this.#waking = new AbortController();
    waking.abort();
  }

  get woken(): AbortSignal {
    return this.#waking.signal;
  }
}
