/** An action started by a click. Single-flight, and aborted when its screen is left. */
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Action<A extends unknown[]> {
  run(...args: A): void;
  isRunning: boolean;
  /** The error of the last run. */
  error: unknown;
  cancel(): void;
  forget(): void;
}

export function useAction<A extends unknown[]>(act: (signal: AbortSignal, ...args: A) => Promise<void>): Action<A> {
  const [state, setState] = useState<{ isRunning: boolean; error?: unknown }>({ isRunning: false });
  // A double click may precede the next render.
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(...args: A): Promise<void> {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    setState({ isRunning: true });
    let outcome: { isRunning: boolean; error?: unknown } = { isRunning: false };
    try {
      await act(controller.signal, ...args);
    } catch (error) {
      outcome = { isRunning: false, error };
    }
    if (running.current !== controller) return;
    running.current = undefined;
    if (!controller.signal.aborted) setState(outcome);
  }

  return {
    run: (...args) => void run(...args),
    ...state,
    error: state.error,
    cancel() {
      running.current?.abort();
      running.current = undefined;
      setState({ isRunning: false });
    },
    forget: () => setState(({ isRunning }) => ({ isRunning })),
  };
}
