/**
 * Keeps what is slow to read and seldom changes: read when first wanted, again when it is old, by one caller at a time for
 * all. When that fails, the old value serves on; only without one does the failure reach the caller.
 */
import type { Runtime } from '../runtime.ts';

interface KeepFreshOptions<T> {
  /** Gets the value at hand, which is old, if there is one. */
  read(kept: T | undefined): Promise<T>;
  /** What to start with, however old. */
  recall?: () => Promise<T | undefined>;
  maxAgeMs: number;
  /** After a failure nobody tries again before. */
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
