/**
 * The customer's sources, their connections and the offered templates. Refreshed often during activity, rarely otherwise, and
 * never while the page is hidden or no screen shows them.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Api, Offer } from '../api/api.ts';
import { failureOf, RequestFailure } from '../api/failure.ts';
import { longerPauseMs, pause } from './pausing.ts';
import { isInMotion, type Pipelines } from './progress.ts';

const inMotionMs = 1_500;
const atRestMs = 20_000;
const firstRetryMs = 3_000;
const lastRetryMs = 60_000;

export interface Watched {
  /** Undefined until the first refresh has succeeded. */
  seen: { offers: readonly Offer[]; pipelines: Pipelines } | undefined;
  /** The failure of the latest refresh, if any. */
  failure: RequestFailure | undefined;
}

export interface Watching extends Watched {
  /** Applies an answer of the service before the next refresh. */
  change(update: (pipelines: Pipelines) => Pipelines): void;
  /** Refreshes now. */
  look(): void;
  /** Suspends refreshes and discards pending ones until `act` has ended, then refreshes. */
  withoutLooks(act: () => Promise<void>): Promise<void>;
}

export function usePipelines(
  api: Api,
  isShown: boolean,
  onSeen: (before: Pipelines | undefined, now: Pipelines) => void,
): Watching {
  const [watched, setWatched] = useState<Watched>({ seen: undefined, failure: undefined });
  const [round, setRound] = useState(0);
  const latest = useRef<Pipelines | undefined>(undefined);
  const tell = useRef(onSeen);
  tell.current = onSeen;
  const watching = useRef<AbortController | undefined>(undefined);
  const isHeld = useRef(false);

  useEffect(() => {
    if (!isShown || isHeld.current) return;
    const leaving = new AbortController();
    watching.current = leaving;
    const { signal } = leaving;

    async function watch(): Promise<void> {
      let retryMs = firstRetryMs;
      let offers: readonly Offer[] | undefined;
      for (;;) {
        try {
          // Offered templates are loaded once; they don't change while a screen is shown.
          const [offered, pipelines] = await Promise.all([offers ?? api.listOffers(signal), look(api, signal)]);
          offers = offered;
          retryMs = firstRetryMs;
          const before = latest.current;
          latest.current = pipelines;
          setWatched({ seen: { offers: offered, pipelines }, failure: undefined });
          tell.current(before, pipelines);
          await pause(isInMotion(pipelines) ? inMotionMs : atRestMs, signal);
        } catch (error) {
          signal.throwIfAborted();
          const failure = failureOf(error);
          setWatched(({ seen }) => ({ seen, failure }));
          if (!failure.isPassing) return;
          await pause(Math.max(retryMs, failure.retryAfterMs ?? 0), signal);
          retryMs = longerPauseMs(retryMs, lastRetryMs);
        }
      }
    }

    watch().catch((error) => {
      if (!signal.aborted) throw error;
    });
    return () => leaving.abort();
  }, [api, isShown, round]);

  return useMemo(() => {
    const look = () => setRound((number) => number + 1);
    return {
      ...watched,
      look,
      async withoutLooks(act) {
        isHeld.current = true;
        watching.current?.abort();
        try {
          await act();
        } finally {
          isHeld.current = false;
          look();
        }
      },
      change: (update) =>
        setWatched(({ seen, failure }) => ({ seen: seen && { ...seen, pipelines: update(seen.pipelines) }, failure })),
    };
  }, [watched]);
}

async function look(api: Api, signal: AbortSignal): Promise<Pipelines> {
  const [sources, connections] = await Promise.all([api.listSources(signal), listConnections(api, signal)]);
  return { sources, connections };
}

/** Only the platform knows the state of connections. While it is away, the sources can still be seen and changed. */
async function listConnections(api: Api, signal: AbortSignal): Promise<Pipelines['connections']> {
  try {
    return await api.listConnections(signal);
  } catch (error) {
    if (error instanceof RequestFailure && error.kind === 'unavailable') return undefined;
    throw error;
  }
}
