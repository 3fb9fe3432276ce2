/**
 * Virtual time for a simulation. Nothing happens spontaneously: every wait of the code under test is an entry in one queue,
 * and the world wakes one sleeper at a time, in order of time. With one seeded source of chance, a seed replays
 * exactly.
 */

/** Small, fast and seedable (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Sleeper {
  at: number;
  order: number;
  wake: () => void;
}

export class World {
  now = Date.parse('2026-01-01T00:00:00Z');
  readonly startedAt = this.now;
  readonly random: () => number;
  #queue: Sleeper[] = [];
  #order = 0;
  readonly #turns: number;

  /** `turns`: how often what runs may let others have the event loop before time passes. */
  constructor(seed: number, turns = 1) {
    this.random = seededRandom(seed);
    this.#turns = turns;
  }

  /** A whole number from `min` to `max`. */
  between(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  /** A UUID from the world's own random numbers. */
  newId(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.random() * 16).toString(16)).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
  }

  pause(ms: number): Promise<void> {
    return new Promise((wake) => this.#add(this.now + Math.ceil(Math.max(0, ms)), wake));
  }

  at(ms: number, work: () => void): void {
    this.#add(this.now + ms, work);
  }

  #add(at: number, wake: () => void): void {
    const sleeper = { at, order: this.#order++, wake };
    // A binary heap: schedules run to tens of thousands of entries.
    const queue = this.#queue;
    let index = queue.push(sleeper) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (before(queue[parent] as Sleeper, sleeper)) break;
      queue[index] = queue[parent] as Sleeper;
      index = parent;
    }
    queue[index] = sleeper;
  }

  #next(): Sleeper | undefined {
    const queue = this.#queue;
    const first = queue[0];
    const last = queue.pop();
    if (!first || !last || queue.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && before(queue[child + 1] as Sleeper, queue[child] as Sleeper)) child++;
      if (before(last, queue[child] as Sleeper)) break;
      queue[index] = queue[child] as Sleeper;
      index = child;
    }
    queue[index] = last;
    return first;
  }

  /** Lets time pass up to `until`, or for ever if the queue runs dry first. */
  async run(until: number): Promise<void> {
    for (;;) {
      const next = this.#queue[0];
      if (!next || next.at > until) break;
      this.#next();
      this.now = next.at;
      next.wake();
      // Everything that can run without time passing does so before this resolves.
      for (let turn = 0; turn < this.#turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    this.now = Math.max(this.now, until);
  }

  /** Lets time pass until the work is done, because the work may wait for a sleeper. */
  async until<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const finish = () => {
      done = true;
    };
    work.then(finish, finish);
    while (!done) await this.run(this.now + 10);
    return await work;
  }
}

function before(a: Sleeper, b: Sleeper): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
