/**
 * The scoped token and its renewal when the service rejects it. Renewal is single-flight: however many requests were rejected,
 * the host page is asked once, and all of them continue with the new token.
 */

export interface Session {
  token(): string | undefined;
  /** A token other than the refused one, now or once the page has given it. Rejects when aborted. */
  renewed(refused: string | undefined, signal: AbortSignal): Promise<string>;
  accept(token: string): void;
  isExpired(): boolean;
  /** Calls the listener whenever `isExpired` changes. Returns a function that stops this. */
  watch(listener: () => void): () => void;
}

export function createSession(initial: string | undefined, onExpired: () => void): Session {
  let token = initial;
  let isExpired = false;
  const listeners = new Set<() => void>();
  const waiting = new Set<(token: string) => void>();

  function setExpired(value: boolean): void {
    if (isExpired === value) return;
    isExpired = value;
    if (isExpired) onExpired();
    for (const listener of [...listeners]) listener();
  }

  return {
    token: () => token,
    isExpired: () => isExpired,
    accept(given) {
      token = given;
      setExpired(false);
      for (const resolve of [...waiting]) resolve(given);
      waiting.clear();
    },
    renewed(refused, signal) {
      if (token !== undefined && token !== refused) return Promise.resolve(token);
      setExpired(true);
      return new Promise((resolve, reject) => {
        const stop = () => {
          waiting.delete(resolve);
          reject(signal.reason);
        };
        if (signal.aborted) return stop();
        waiting.add(resolve);
        signal.addEventListener('abort', stop, { once: true });
      });
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
