/** A paged list: the first page reloads on events, later pages load on request. */
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, type ApiRequest, callApi, requestOfNext } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';

export interface Answer<T> {
  data: T[];
  next: string | null;
}

export interface Pages<T> {
  rows: readonly T[] | undefined;
  error: ApiError | undefined;
  hasMore: boolean;
  isLoadingMore: boolean;
  /** Identifies the query. */
  scope: string;
  more(): void;
  reload(): void;
}

/** Limit of pages that one list holds. */
const maxPages = 50;

export function usePages<T>(
  request: ApiRequest<Answer<T>>,
  live?: (workspaceIds: ReadonlySet<string>) => boolean,
  idOf: (row: T) => unknown = (row) => (row as { id?: unknown }).id,
): Pages<T> {
  const scope = JSON.stringify(request);
  const { onSignedOut } = useConsole();
  const first = useLoaded(scope, (signal) => callApi<Answer<T>>(request, signal), live === undefined ? {} : { live });
  const [later, setLater] = useState<{ scope: string; pages: Answer<T>[] }>({ scope, pages: [] });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<ApiError | undefined>(undefined);
  useEffect(() => {
    setLater({ scope, pages: [] });
    setMoreError(undefined);
  }, [scope]);
  const pages = later.scope === scope ? later.pages : [];
  const next = (pages.at(-1) ?? first.data)?.next ?? null;
  return {
    rows:
      first.data &&
      unique(
        [first.data, ...pages].flatMap(({ data }) => data),
        idOf,
      ),
    error: first.error ?? moreError,
    hasMore: next !== null && pages.length < maxPages,
    isLoadingMore,
    scope,
    reload: first.reload,
    more() {
      if (next === null || isLoadingMore) return;
      setLoadingMore(true);
      setMoreError(undefined);
      callApi<Answer<T>>(laterRequest(request, next))
        .then(
          (page) => setLater((now) => ({ scope, pages: [...(now.scope === scope ? now.pages : []), page] })),
          (error: ApiError) => {
            if (error.isSignedOut) onSignedOut();
            setMoreError(error);
          },
        )
        .finally(() => setLoadingMore(false));
    },
  };
}

/** `next` is a link or a value for `cursor`. */
function laterRequest<T>(request: ApiRequest<T>, next: string): ApiRequest<T> {
  return URL.canParse(next) ? requestOfNext(next) : { ...request, query: { ...request.query, cursor: next } };
}

/** A row may have moved to the first page and still be on a later one. */
function unique<T>(rows: readonly T[], idOf: (row: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return rows.filter((row) => {
    const id = idOf(row);
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}
