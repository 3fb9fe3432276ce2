/** Something the person does: whether it goes on, and how it failed. One thing at a time. */
import { useRef, useState } from 'preact/hooks';
import { ApiError, type ApiRequest, callApi } from '../api/client.ts';
import { useConsole } from '../console.ts';

export interface Action {
  isBusy: boolean;
  error: unknown;
  run<T>(request: ApiRequest, onDone: (answer: T) => void): void;
}

export function useAction(): Action {
  const { onSignedOut } = useConsole();
  const [isBusy, setBusy] = useState(false);
  /** Known at once, not only when the page is drawn again: a second click may come before. */
  const isRunning = useRef(false);
  const [error, setError] = useState<unknown>(undefined);
  return {
    isBusy,
    error,
    run<T>(request: ApiRequest, onDone: (answer: T) => void) {
      if (isRunning.current) return;
      isRunning.current = true;
      setBusy(true);
      setError(undefined);
      callApi<T>(request)
        .then(onDone, (failure: unknown) => {
          if (failure instanceof ApiError && failure.isSignedOut) onSignedOut();
          setError(failure);
        })
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
  };
}
