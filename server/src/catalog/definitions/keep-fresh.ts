/**
 * Keeps a value that is slow to read and seldom changes. The value is read when it is first needed, and again when it
 * is old. All callers share one read. When a read fails, callers get the old value; without an old value they get the
 * error.
 */
import type { Runtime } from '../../kernel/runtime.ts';

interface KeepFreshOptions<T> {
  /** Reads the value. `kept` is the old value, if there is one. */
  read(kept: T | undefined): Promise<T>;
  /** Gives the value to start with, however old it is. */
  recall?: () => Promise<T | undefined>;
  maxAgeMs: number;
  /** After a failure, the next try waits at least this long. */
  pauseMs: number;
  runtime: Runtime;
  onFailure(error: unknown, isStale: boolean): void;
}

export function keepFresh<T>({ read, recall, maxAgeMs, pauseMs, runtime, onFailure }: KeepFreshOptions<T>) {
  let kept: { value: T; readAt: number } | undefined;
  let failure: { error: unknown; at: number } | undefined;
  let running: Promise<T> | undefined;
  let isRecalled = false;

  async function refresh(): Promise<T> {
    if (!isRecalled) {
      const value = await recall?.();
      if (value !== undefined) kept = { value, readAt: Number.NEGATIVE_INFINITY };
      isRecalled = true;
    }
    try {
      const value = await read(kept?.value);
      kept = { value, readAt: runtime.elapsed() };
      failure = undefined;
      return value;
    } catch (error) {
      onFailure(error, kept !== undefined);
      failure = { error, at: runtime.elapsed() };
      if (kept) return kept.value;
      throw error;
    }
  }

  return async (): Promise<T> => {
    const now = runtime.elapsed();
    if (kept && now - kept.readAt < maxAgeMs) return kept.value;
    if (failure && now - failure.at < pauseMs) {
      if (kept) return kept.value;
      throw failure.error;
    }
    running ??= refresh().finally(() => {
      running = undefined;
    });
    return await running;
  };
}
