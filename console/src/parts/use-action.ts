/** State of a user's action: pending or failed. One at a time. */
import { useRef, useState } from 'preact/hooks';
import { ApiError, type ApiRequest, callApi } from '../api/client.ts';
import { useConsole } from '../console.ts';
import { wayOn } from '../router/router.ts';

/** `goOn` navigates, if the user is still on the page where the action began. */
export type OnDone<T> = (answer: T, goOn: (path: string) => void) => void;

export interface Action {
  isBusy: boolean;
  error: unknown;
  run<T>(request: ApiRequest<T>, onDone: OnDone<T>): void;
}

export function useAction(): Action {
  const { onSignedOut } = useConsole();
  const [isBusy, setBusy] = useState(false);
  /** A ref, because a second click may come before the next render. */
  const isRunning = useRef(false);
  const [error, setError] = useState<unknown>(undefined);
  return {
    isBusy,
    error,
    run<T>(request: ApiRequest<T>, onDone: OnDone<T>) {
      if (isRunning.current) return;
      isRunning.current = true;
      setBusy(true);
      setError(undefined);
      const goOn = wayOn();
      callApi(request)
        .then(
          (answer) => onDone(answer, goOn),
          (failure: unknown) => {
            if (failure instanceof ApiError && failure.isSignedOut) onSignedOut();
            setError(failure);
          },
        )
        .finally(() => {
          isRunning.current = false;
          setBusy(false);
        });
    },
  };
}
