/** How long to wait before looking again at something that changes by itself. */

/**
 * The next pause of a series. It starts short, because many answers come soon, and grows for answers that take longer.
 */
export function longerPauseMs(pauseMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.round(pauseMs * 1.5));
}

/**
 * Resolves after the pause, but not while the page is hidden or the network is missing: then nobody looks, or nothing
 * can be asked. The pause ends at once when the page is shown again or the network is back. Rejects when aborted.
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
