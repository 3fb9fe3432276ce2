/**
 * Long polling for events: readers wait for the next events of an organization, which are read once for all of them. A
 * sequencer in this process signals new positions immediately. Positions from other replicas are found by polling the
 * store, because LISTEN/NOTIFY does not work behind a transaction pooler.
 *
 * Invariant: the events of a tail are complete between its start and its head. Readers outside of this range read the
 * store themselves.
 */
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { type Bounds, type EventRow, findBounds, listEvents } from './log.store.ts';

const everyMs = 250;
/** What a reader that is slower than the others may lag behind before it reads for itself. */
const maxRows = 500;

/** The newest events of an organization, oldest first. */
export interface Tail extends Bounds {
  /** The position before the first of them. */
  begin: number;
  rows: readonly EventRow[];
}

export interface Arrivals {
  /**
   * Resolves when there is a later position, when the signal says so, or a moment after the time is over; false when the
   * time is over.
   */
  wait(organizationId: string, after: number, ms: number, ended?: AbortSignal): Promise<boolean>;
  /** As of the last look, a moment ago. Undefined where it does not reach back to this position. */
  tailAfter(organizationId: string, position: number): Tail | undefined;
  /** These organizations may have new positions. */
  look(organizationIds: readonly string[]): void;
}

interface Waiter {
  organizationId: string;
  after: number;
  until: number;
  end(isWoken: boolean): void;
}

export function createArrivals({ db }: Pick<Store, 'db'>, runtime: Runtime): Arrivals {
  const waiters = new Set<Waiter>();
  /** Organizations with waiting readers. */
  const tails = new Map<string, Tail>();
  const wanted = new Set<string>();
  let looking: Promise<void> | undefined;
  let isWatching = false;

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    try {
      while (waiters.size > 0) {
        const now = runtime.elapsed();
        for (const waiter of waiters) if (waiter.until <= now) waiter.end(false);
        const awaited = new Set([...waiters].map(({ organizationId }) => organizationId));
        for (const id of tails.keys()) if (!awaited.has(id)) tails.delete(id);
        await lookAt(awaited);
        await runtime.sleep(everyMs);
      }
    } finally {
      isWatching = false;
      tails.clear();
    }
  }

  /** One look at a time: two would put the same events into a tail. */
  function lookAt(organizationIds: Iterable<string>): Promise<void> {
    for (const id of organizationIds) wanted.add(id);
    // Not at the end of the work itself: without anybody to look for, that is before this assignment.
    looking ??= lookAtWanted().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookAtWanted(): Promise<void> {
    // Also at those that are added meanwhile.
    for (const id of wanted) {
      wanted.delete(id);
      // A reader that is woken spuriously reads anyway, and reports to its caller if the store does not respond.
      const tail = await readTail(id).catch(() => undefined);
      if (tail) tails.set(id, tail);
      else tails.delete(id);
      for (const waiter of waiters) {
        if (waiter.organizationId === id && !(tail && tail.head <= waiter.after)) waiter.end(true);
      }
    }
  }

  async function readTail(organizationId: string): Promise<Tail> {
    const known = tails.get(organizationId);
    const { head, goneUntil } = await findBounds(db, organizationId);
    if (!known) return { begin: head, head, goneUntil, rows: [] };
    if (head <= known.head) return { ...known, goneUntil };
    const filter = { after: known.head, workspaceId: undefined, types: undefined, since: undefined };
    const fresh = await listEvents(db, organizationId, filter, maxRows);
    const last = fresh.at(-1)?.position ?? head;
    // More than a tail holds: restart after them.
    if (fresh.length === maxRows && last < head) return { begin: head, head, goneUntil, rows: [] };
    const all = [...known.rows, ...fresh];
    const begin = all.at(-maxRows - 1)?.position ?? known.begin;
    return { begin, head: Math.max(head, last), goneUntil, rows: all.slice(-maxRows) };
  }

  return {
    // No timer for each: hundreds of readers may wait, and all of them are woken at every event.
    wait: (organizationId, after, ms, ended) =>
      new Promise((resolve) => {
        if (ended?.aborted) return resolve(true);
        const hasEnded = () => waiter.end(true);
        const waiter: Waiter = {
          organizationId,
          after,
          until: runtime.elapsed() + ms,
          end(isWoken) {
            waiters.delete(waiter);
            ended?.removeEventListener('abort', hasEnded);
            resolve(isWoken);
          },
        };
        waiters.add(waiter);
        ended?.addEventListener('abort', hasEnded, { once: true });
        void watch();
      }),
    tailAfter(organizationId, position) {
      const tail = tails.get(organizationId);
      const reaches = tail && position >= Math.max(tail.begin, tail.goneUntil) && position <= tail.head;
      return reaches ? tail : undefined;
    },
    look(organizationIds) {
      const awaited = organizationIds.filter((id) => [...waiters].some((waiter) => waiter.organizationId === id));
      if (awaited.length > 0) void lookAt(awaited);
    },
  };
}
