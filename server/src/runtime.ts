/**
 * Time, random numbers and new ids. The rest of the service gets them through app.ts, so that a test can control them.
 * Nothing else in the service asks the machine for the time, a random number or a timer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment; never jumps. For deadlines and durations. */
  elapsed(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  newId(): string;
}

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  // An aborted sleep ends early instead of failing: the caller looks at the signal, or at the state, afterwards.
  sleep: (ms, signal) =>
    delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
  random: () => Math.random(),
  newId: () => randomUUID(),
};
