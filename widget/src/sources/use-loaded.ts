/**
 * Data that a screen loads once. A request that failed offline is retried when the network is back.
 */
import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  reload(): void;
}

/** Reloads when `key` changes. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({});
  const [round, setRound] = useState(0);
  const reload = () => setRound((number) => number + 1);

  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    setState({});
    load(signal).then(
      (value) => signal.aborted || setState({ value }),
      (error: unknown) => {
        if (signal.aborted) return;
        setState({ error });
        window.addEventListener('online', reload, { once: true, signal });
      },
    );
    return () => leaving.abort();
  }, [key, round]);

  return { value: state.value, error: state.error, reload };
}
