/**
 * Bounded queues in memory, one for each tenant, that share slots in fair turns (turns.ts). Each queue is first in, first
 * out. Backpressure: work beyond a queue's limit is refused, and other tenants do not notice.
 */
import { AsyncResource } from 'node:async_hooks';
import { type Slots, Turns } from './turns.ts';

interface FairQueueOptions extends Slots {
  /** How much work of one tenant may wait. */
  maxWaiting: number;
  /** Milliseconds of a clock that never goes back. */
  elapsed(): number;
  /** Called when work starts, for metrics. */
  onStart?(waitedMs: number): void;
}

/** Too much work of the tenant waits already, so no more is accepted. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  /** After how many seconds the caller may try again. */
  readonly retryAfterSeconds = 10;
}

/** The queue was closed before the work had its turn. */
export class QueueClosed extends Error {
  override readonly name = 'QueueClosed';
}

interface Waiting {
  start(): Promise<unknown>;
  turnAway?(): void;
  sinceMs: number;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #turns: Turns;
  readonly #waiting = new Map<string, Waiting[]>();
  #isClosed = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#turns = new Turns(options);
  }

  /**
   * Calls `start` when it is the tenant's turn, which may be at once. The turn ends when the promise of `start`
   * settles. Throws QueueFull. `turnAway` is called when the queue is closed before the turn.
   */
  enqueue(tenant: string, start: () => Promise<unknown>, turnAway?: () => void): void {
    this.assertRoom(tenant);
    if (this.#isClosed) {
      turnAway?.();
      return;
    }
    // The work belongs to the request that started it, not to the work whose end frees its slot.
    const bound = AsyncResource.bind(start);
    const work: Waiting = { start: bound, sinceMs: this.#options.elapsed(), ...(turnAway && { turnAway }) };
    this.#waiting.set(tenant, [...(this.#waiting.get(tenant) ?? []), work]);
    this.#startNext();
  }

  /** Throws QueueFull if `enqueue` would. */
  assertRoom(tenant: string): void {
    const { length } = this.#waiting.get(tenant) ?? [];
    if (length >= this.#options.maxWaiting && !this.#turns.mayTake(tenant)) {
      throw new QueueFull(`the queue of ${tenant} is full (${length} waiting)`);
    }
  }

  /** The same as a promise of the work's result. Fails with QueueClosed when the queue is closed before the turn. */
  async run<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.enqueue(
        tenant,
        () => work().then(resolve, reject),
        () => reject(new QueueClosed()),
      );
    });
  }

  /** No more work is started, and the waiting work is turned away. */
  close(): void {
    this.#isClosed = true;
    for (const work of [...this.#waiting.values()].flat()) work.turnAway?.();
    this.#waiting.clear();
  }

  #startNext(): void {
    while (!this.#isClosed && !this.#turns.isFull) {
      const tenant = this.#turns.next(this.#waiting.keys());
      const work = tenant === undefined ? undefined : this.#waiting.get(tenant)?.[0];
      if (tenant === undefined || !work) return;
      this.#forget(tenant, work);
      this.#turns.take(tenant);
      this.#options.onStart?.(this.#options.elapsed() - work.sinceMs);
      const over = () => {
        this.#turns.giveBack(tenant);
        this.#startNext();
      };
      void work.start().then(over, over);
    }
  }

  #forget(tenant: string, work: Waiting): void {
    const queue = this.#waiting.get(tenant) ?? [];
    const left = queue.filter((one) => one !== work);
    if (left.length > 0) this.#waiting.set(tenant, left);
    else this.#waiting.delete(tenant);
  }
}
