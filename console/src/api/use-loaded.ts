/**
 * Data of a screen: loaded when the key changes, reloaded on relevant events, and kept while a reload is pending or has
 * failed.
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

/** Minimum time between two requests of a screen, however many events arrive. */
const shortestMs = 3_000;
/** Debounce: related events mostly arrive within this time. */
const soonMs = 250;

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
  const [look, setLook] = useState({ count: 0, isAsked: true });
  const loader = useRef(load);
  loader.current = load;
  const isLive = useRef(live);
  isLive.current = live;
  /** `isDue`: an event has arrived that is not shown yet. */
  const present = useRef({ isLoading: false, isDue: false, startedMs: 0 });
  const reload = useCallback(() => setLook(({ count }) => ({ count: count + 1, isAsked: true })), []);

  useEffect(() => {
    if (key === undefined) return;
    const leaving = new AbortController();
    // Requested by the user rather than by an event.
    const isAsked = look.isAsked || state.key !== key || state.data === undefined;
    present.current = { isLoading: true, isDue: false, startedMs: performance.now() };
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
    loader
      .current(leaving.signal)
      .then(
        (data) => {
          if (leaving.signal.aborted) return;
          // Updates were paused meanwhile, so the answer is not shown.
          const isHeld = stream.isPaused() && !isAsked;
          if (isHeld) present.current.isDue = true;
          setState((before) => (isHeld ? { ...before, isLoading: false } : { key, data, isLoading: false }));
        },
        (error: ApiError) => {
          if (leaving.signal.aborted) return;
          if (error.isSignedOut) onSignedOut();
          setState((before) => ({ ...(before.key === key ? before : { key }), error, isLoading: false }));
        },
      )
      .finally(() => {
        if (!leaving.signal.aborted) present.current.isLoading = false;
      });
    return () => leaving.abort();
  }, [key, look, epoch]);

  const isWatching = live !== undefined;
  useEffect(() => {
    if (!isWatching) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const plan = () => {
      const { isDue, startedMs } = present.current;
      if (!isDue || stream.isPaused()) return;
      timer ??= setTimeout(again, Math.max(soonMs, startedMs + shortestMs - performance.now()));
    };
    const again = () => {
      timer = undefined;
      // Wait for a slow answer. Aborting it at every event would mean that none ever arrives.
      if (present.current.isLoading) timer = setTimeout(again, shortestMs);
      else if (present.current.isDue && !stream.isPaused())
        setLook(({ count }) => ({ count: count + 1, isAsked: false }));
    };
    const stop = stream.watch((happened) => {
      if (happened !== 'everything' && !isLive.current?.(happened)) return;
      present.current.isDue = true;
      plan();
    });
    const stopState = stream.watchState(plan);
    return () => {
      clearTimeout(timer);
      stop();
      stopState();
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

/** Loads the answer to one request. */
export function useAnswer<T>(
  request: ApiRequest<T> | undefined,
  options?: { live?: (workspaceIds: ReadonlySet<string>) => boolean },
): Loaded<T> {
  const key = request && JSON.stringify(request);
  return useLoaded<T>(key, (signal) => callApi(request as ApiRequest<T>, signal), options);
}
