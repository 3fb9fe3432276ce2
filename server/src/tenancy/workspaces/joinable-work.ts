/** Single-flight per key, in this process: a caller that asks for work already running gets its outcome. */
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
