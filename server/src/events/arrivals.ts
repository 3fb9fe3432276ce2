/**
 * Lets readers wait for the next position of an organization. A sequencer in this process tells at once. Positions that
 * another replica gives are found by asking the store again and again, once for all who wait: a connection on which the
 * database could tell by itself does not work behind a transaction pooler.
 */
import type { Store } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';
import { findBounds } from './log.store.ts';

const everyMs = 250;

export interface Arrivals {
  /**
   * Resolves when there is a later position, when the time is over, or when the signal says so; false when the time is
   * over.
   */
  wait(organizationId: string, after: number, ms: number, ended?: AbortSignal): Promise<boolean>;
  /** These organizations may have new positions. */
  look(organizationIds: readonly string[]): void;
}

interface Waiter {
  organizationId: string;
  after: number;
  wake(): void;
}

export function createArrivals({ db }: Pick<Store, 'db'>, runtime: Runtime): Arrivals {
  const waiters = new Set<Waiter>();
  let isWatching = false;

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    try {
      while (waiters.size > 0) {
        await lookAt(new Set([...waiters].map(({ organizationId }) => organizationId)));
        await runtime.sleep(everyMs);
      }
    } finally {
      isWatching = false;
    }
  }

  async function lookAt(organizationIds: Iterable<string>): Promise<void> {
    for (const organizationId of organizationIds) {
      // A reader that is woken for nothing reads, and tells its caller if the store does not answer.
      const { head } = await findBounds(db, organizationId).catch(() => ({ head: Number.POSITIVE_INFINITY }));
      for (const waiter of waiters) {
        if (waiter.organizationId === organizationId && head > waiter.after) waiter.wake();
      }
    }
  }

  return {
    async wait(organizationId, after, ms, ended) {
      const woken = new AbortController();
      const waiter = { organizationId, after, wake: () => woken.abort() };
      if (ended?.aborted) return true;
      waiters.add(waiter);
      ended?.addEventListener('abort', waiter.wake, { once: true });
      void watch();
      try {
        await runtime.sleep(ms, woken.signal);
      } finally {
        ended?.removeEventListener('abort', waiter.wake);
        waiters.delete(waiter);
      }
      return woken.signal.aborted;
    },
    look(organizationIds) {
      const awaited = organizationIds.filter((id) => [...waiters].some((waiter) => waiter.organizationId === id));
      if (awaited.length > 0) void lookAt(awaited);
    },
  };
}
