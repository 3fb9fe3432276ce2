/**
 * What a screen shows of the service: loaded when the key changes, again when something has happened, and kept while a
 * later look goes on or fails.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../console.ts';
import { type ApiError, type ApiRequest, callApi } from './client.ts';

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  reload(): void;
}

/** However much happens, a screen asks the service no more often than this. */
const shortestMs = 3_000;

export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { live }: { live?: (workspaceIds: ReadonlySet<string>) => boolean } = {},
): Loaded<T> {
  const { live: stream, epoch, onSignedOut } = useConsole();
  const [state, setState] = useState<{ key: string | undefined; data?: T; error?: ApiError; isLoading: boolean }>({
    key,
    isLoading: key !== undefined,
  });
  const [looks, setLooks] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const isLive = useRef(live);
  isLive.current = live;
  const reload = useCallback(() => setLooks((count) => count + 1), []);

  useEffect(() => {
    if (key === undefined) return;
    const leaving = new AbortController();
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
    loader.current(leaving.signal).then(
      (data) => setState({ key, data, isLoading: false }),
      (error: ApiError) => {
        if (leaving.signal.aborted) return;
        if (error.isSignedOut) onSignedOut();
        setState((before) => ({ ...(before.key === key ? before : { key }), error, isLoading: false }));
      },
    );
    return () => leaving.abort();
  }, [key, looks, epoch]);

  const isWatching = live !== undefined;
  useEffect(() => {
    if (!isWatching) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = stream.watch((workspaceIds) => {
      if (timer !== undefined || !isLive.current?.(workspaceIds)) return;
      timer = setTimeout(() => {
        timer = undefined;
        reload();
      }, shortestMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [isWatching, stream]);

  const isPresent = state.key === key;
  return {
    data: isPresent ? state.data : undefined,
    error: isPresent ? state.error : undefined,
    isLoading: isPresent ? state.isLoading : key !== undefined,
    reload,
  };
}

/** One request whose answer is shown as it is. */
export function useAnswer<T>(
  request: ApiRequest | undefined,
  options?: { live?: (workspaceIds: ReadonlySet<string>) => boolean },
): Loaded<T> {
  const key = request && JSON.stringify(request);
  return useLoaded<T>(key, (signal) => callApi<T>(request as ApiRequest, signal), options);
}
