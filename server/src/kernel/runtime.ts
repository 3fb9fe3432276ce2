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
  /** A pause: waits only for its own end. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** The longest that something else is waited for. Apart from `sleep`, because tests shorten pauses and not limits. */
  timeLimit(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  newId(): string;
}

/** When aborted, it ends early instead of failing: the caller looks at the signal, or at the state, afterwards. */
const wait = (ms: number, signal?: AbortSignal) =>
  delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: wait,
  timeLimit: wait,
  random: () => Math.random(),
  newId: () => randomUUID(),
};
