/**
 * Time, chance and identity, as the rest of the platform gets them: through open-platform.ts, so that a test can fix
 * them. Nothing else in the platform asks the machine for the time, a random number or a timer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment; never jumps. For deadlines and durations. */
  elapsed(): number;
  /** An aborted sleep ends early and does not fail: the caller looks at the signal, or at the state, afterwards. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  newId(): string;
}

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
  newId: () => randomUUID(),
};
