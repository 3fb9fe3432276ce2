/**
 * Reads a log from its end although the API lists it oldest first: positions have no gaps, so the position of each earlier page
 * is known. With a filter, several pages are read until there are enough rows.
 */
import type { AnswerTo, PartsOf } from '@inlay/contract/requests';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, callApi, type Query, requestTo } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import type { Pages } from './use-pages.ts';

interface Entry {
  position: number;
}
interface LogPage<T> {
  data: T[];
  next: number;
}
export interface Part<T> {
  /** Newest first. */
  rows: T[];
  /** Everything from this position on has been read; 0: nothing is left. */
  from: number;
}
export type ReadLog<T> = (query: Query) => Promise<LogPage<T>>;

const windowSize = 500;
const enough = 50;
/** Pages read at once. The user can then ask for more. */
const maxWindows = 10;

/** `before`: only earlier positions. Undefined: from the end. */
export async function readBackwards<T extends Entry>(
  read: ReadLog<T>,
  filters: Query,
  before: number | undefined,
): Promise<Part<T>> {
  // Asks for future entries: the answer is empty and carries the end position.
  const since = new Date(Date.now() + 60_000).toISOString();
  let from = before ?? (await read({ since, limit: 1 })).next + 1;
  const rows: T[] = [];
  for (let windows = 0; windows < maxWindows && rows.length < enough && from > 1; windows += 1) {
    const until = from;
    const after = Math.max(0, until - 1 - windowSize);
    const part = await read({ ...filters, after, limit: windowSize }).catch(async (error: unknown) => {
      if (!(error instanceof ApiError && error.status === 410)) throw error;
      // Older entries have expired, so this is the last page.
      return { ...(await read({ ...filters, limit: windowSize })), isLast: true };
    });
    rows.push(...part.data.filter(({ position }) => position < until).reverse());
    from = 'isLast' in part ? 0 : after + 1;
  }
  return { rows, from: from <= 1 ? 0 : from };
}

export function useBackwards<R extends 'GET /audit-events' | 'GET /events'>(
  route: R,
  filters: PartsOf<R>['query'] & Query,
): Pages<AnswerTo<R>['data'][number]> {
  type T = AnswerTo<R>['data'][number];
  const scope = JSON.stringify({ route, filters });
  const { onSignedOut } = useConsole();
  const read: ReadLog<T> = (query) =>
    callApi(requestTo<'GET /audit-events' | 'GET /events'>(route, { query })) as Promise<LogPage<T>>;
  const newest = useLoaded(scope, () => readBackwards(read, filters, undefined), { live: () => true });
  const [earlier, setEarlier] = useState<{ scope: string; parts: Part<T>[] }>({ scope, parts: [] });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<ApiError | undefined>(undefined);
  useEffect(() => {
    setEarlier({ scope, parts: [] });
    setMoreError(undefined);
  }, [scope]);
  const parts = [...(newest.data ? [newest.data] : []), ...(earlier.scope === scope ? earlier.parts : [])];
  const from = parts.at(-1)?.from ?? 0;
  return {
    rows: newest.data && withoutRepeats(parts.flatMap(({ rows }) => rows)),
    error: newest.error ?? moreError,
    hasMore: from > 0,
    isLoadingMore,
    scope,
    reload: newest.reload,
    more() {
      if (from === 0 || isLoadingMore) return;
      setLoadingMore(true);
      setMoreError(undefined);
      readBackwards(read, filters, from)
        .then(
          (part) => setEarlier((now) => ({ scope, parts: [...(now.scope === scope ? now.parts : []), part] })),
          (error: ApiError) => {
            if (error.isSignedOut) onSignedOut();
            setMoreError(error);
          },
        )
        .finally(() => setLoadingMore(false));
    },
  };
}

/** The newest part grows while earlier ones stay. */
function withoutRepeats<T extends Entry>(rows: readonly T[]): T[] {
  return [...new Map(rows.map((row) => [row.position, row])).values()];
}
