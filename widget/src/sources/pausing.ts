/** Waiting between two looks at something that changes by itself. */

/** The next pause of a series that starts short, for answers that come soon, and grows, for those that do not. */
export function longerPauseMs(pauseMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.round(pauseMs * 1.5));
}

/**
 * Resolves after the pause, and not before the page is seen and the network is there: nobody looks, or nothing can be
 * asked. Coming back to the page or to the network ends the pause at once. Rejects when aborted.
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
