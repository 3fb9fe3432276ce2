/** A clock that runs only when someone sleeps: a sleep moves time on, and all sleepers wake in order. */
import { randomUUID } from 'node:crypto';
import type { Runtime } from '../../src/kernel/runtime.ts';

export interface VirtualRuntime extends Runtime {
  advance(ms: number): void;
}

export function virtualRuntime(start = Date.parse('2026-01-01T00:00:00Z')): VirtualRuntime {
  let now = start;
  const sleepers: { at: number; wake: () => void }[] = [];

  async function wakeNext(): Promise<void> {
    // Lets everything that can run without time passing run first.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    sleepers.sort((a, b) => a.at - b.at);
    const next = sleepers.shift();
    if (!next) return;
    now = Math.max(now, next.at);
    next.wake();
  }

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      sleepers.push({ at: now + ms, wake: resolve });
      void wakeNext();
    });

  return {
    now: () => now,
    elapsed: () => now,
    random: () => 0.5,
    newId: () => randomUUID(),
    advance: (ms) => {
      now += ms;
    },
    sleep,
    timeLimit: sleep,
  };
}
