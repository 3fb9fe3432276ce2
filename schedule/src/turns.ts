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

/** Enough for the tenants that are busy at the same time. A tenant that is forgotten counts as new. */
const maxRemembered = 10_000;

export class Turns {
  readonly #slots: Slots;
  readonly #keptForNewcomers: number;
  readonly #taken = new Map<string, number>();
  /** The slots of each tenant, in the order of their last turns. */
  readonly #served = new Map<string, number>();
  #allTaken = 0;
  #turns = 0;

  constructor(slots: Slots) {
    this.#slots = slots;
    // A quarter of the slots. With a single slot none can be kept free.
    this.#keptForNewcomers = slots.total > 1 ? Math.ceil(slots.total / 4) : 0;
  }

  get isFull(): boolean {
    return this.#allTaken >= this.#slots.total;
  }

  /** How many slots a tenant has. */
  taken(tenant: string): number {
    return this.#taken.get(tenant) ?? 0;
  }

  /** `cap`: of this tenant, where it may have fewer slots than others. */
  mayTake(tenant: string, cap: number = this.#slots.perTenant): boolean {
    const own = this.taken(tenant);
    const free = this.#slots.total - this.#allTaken;
    return own < Math.min(cap, this.#slots.perTenant) && free > (own === 0 ? 0 : this.#keptForNewcomers);
  }

  /** The next tenant; undefined when no waiting tenant may have a slot now. */
  next(waiting: Iterable<string>, capOf?: (tenant: string) => number | undefined): string | undefined {
    let next: { tenant: string; own: number; lastTurn: number } | undefined;
    for (const tenant of waiting) {
      if (!this.mayTake(tenant, capOf?.(tenant))) continue;
      const own = this.taken(tenant);
      const lastTurn = this.#served.get(tenant) ?? 0;
      if (!next || own < next.own || (own === next.own && lastTurn < next.lastTurn)) next = { tenant, own, lastTurn };
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
