/** One piece of work per key at a time in this process. A caller that asks for work that runs already gets its outcome. */
export class JoinableWork {
  readonly #running = new Map<string, Promise<unknown>>();

  startOrJoin<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running) return running as Promise<T>;
    const started = work().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
