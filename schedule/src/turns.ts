/**
 * Decides whose turn it is when many tenants share a few slots. Pure: it counts the slots of each tenant, and knows
 * nothing about the work.
 *
 * Invariants: no more slots are taken than exist; a tenant never exceeds its cap; a tenant with a slot gets another one
 * only while some slots stay free for tenants without any; among the waiting tenants, the one with the fewest slots
 * comes first, and among equals the one whose last turn is longest ago.
 */

export interface Slots {
  total: number;
  /** How many slots one tenant may have at a time. */
  perTenant: number;
}

/** A tenant that waits for a slot. */
export interface Waiting {
  /** How many slots it has. */
  taken: number;
  /** When it got its last one; grows. */
  lastTurn: number;
  /** Where it may have fewer slots than others. */
  cap?: number | undefined;
}

/** A quarter of the slots is kept for tenants without any. With a single slot none can be kept free. */
export function mayTake({ taken, cap }: Omit<Waiting, 'lastTurn'>, { total, perTenant }: Slots, free: number): boolean {
  const keptForNewcomers = total > 1 ? Math.ceil(total / 4) : 0;
  return taken < Math.min(cap ?? perTenant, perTenant) && free > (taken === 0 ? 0 : keptForNewcomers);
}

/** Negative if it is one's turn before the other's. */
export function byTurn(one: Waiting, other: Waiting): number {
  return one.taken - other.taken || one.lastTurn - other.lastTurn;
}

/** Enough for the tenants that are busy at the same time. A tenant that is forgotten counts as new. */
const maxRemembered = 10_000;

export class Turns {
  readonly #slots: Slots;
  readonly #taken = new Map<string, number>();
  /** The slots of each tenant, in the order of their last turns. */
  readonly #served = new Map<string, number>();
  #allTaken = 0;
  #turns = 0;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  get isFull(): boolean {
    return this.#allTaken >= this.#slots.total;
  }

  /** How many slots a tenant has. */
  taken(tenant: string): number {
    return this.#taken.get(tenant) ?? 0;
  }

  mayTake(tenant: string): boolean {
    return mayTake({ taken: this.taken(tenant) }, this.#slots, this.#slots.total - this.#allTaken);
  }

  /** The next tenant; undefined when no waiting tenant may have a slot now. */
  next(waiting: Iterable<string>): string | undefined {
    let next: (Waiting & { tenant: string }) | undefined;
    for (const tenant of waiting) {
      if (!this.mayTake(tenant)) continue;
      const candidate = { tenant, taken: this.taken(tenant), lastTurn: this.#served.get(tenant) ?? 0 };
      if (!next || byTurn(candidate, next) < 0) next = candidate;
    }
    return next?.tenant;
  }

  take(tenant: string): void {
    this.#taken.set(tenant, (this.#taken.get(tenant) ?? 0) + 1);
    this.#allTaken++;
    this.#served.delete(tenant);
    this.#served.set(tenant, ++this.#turns);
    for (const [forgotten] of this.#served) {
      if (this.#served.size <= maxRemembered) break;
      this.#served.delete(forgotten);
    }
  }

  giveBack(tenant: string): void {
    const left = (this.#taken.get(tenant) ?? 0) - 1;
    if (left > 0) this.#taken.set(tenant, left);
    else this.#taken.delete(tenant);
    this.#allTaken--;
  }
}
