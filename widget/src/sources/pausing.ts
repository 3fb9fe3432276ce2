/** Backoff for polling. */

/** The next pause. Starts short because many answers come soon, then grows. */
export function longerPauseMs(pauseMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.round(pauseMs * 1.5));
}

/**
 * Resolves after the pause, but not while the page is hidden or offline. Resolves immediately when the page is shown again or
 * the network is back. Rejects when aborted.
 */
export async function pause(pauseMs: number, signal: AbortSignal): Promise<void> {
  const isAway = () => document.hidden || navigator.onLine === false;
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    let wasAway = isAway();
    let isOver = false;
    const look = () => {
      if (!isAway() && (wasAway || isOver)) end(resolve);
      else wasAway ||= isAway();
    };
    const timer = setTimeout(() => {
      isOver = true;
      look();
    }, pauseMs);
    const stop = () => end(() => reject(signal.reason));
    const end = (settle: () => void) => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
      signal.removeEventListener('abort', stop);
      settle();
    };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    signal.addEventListener('abort', stop);
  });
}
