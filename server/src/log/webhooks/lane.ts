/**
 * What is sent next to one endpoint, and how far it has got. Knows no database and no network, so that every order of
 * answers can be tried.
 *
 * What always holds: an event is offered once until it is settled. `readUntil` never passes an event that is not settled.
 * In strict order nothing is offered while an earlier event is on its way or waits for another try.
 */
export interface Job<Event> {
  event: Event;
  position: number;
  /** How often it was sent before. */
  attempts: number;
  isRetry: boolean;
  /** What is known about the tries before, as it is stored. */
  history: string;
}

export class Lane<Event extends { position: number }> {
  /** Events of the log that are not settled, in their order: on their way, or not offered yet. */
  readonly #unsettled = new Map<number, Event>();
  readonly #fresh: Event[] = [];
  readonly #retries: Job<Event>[] = [];
  /** Positions of retries that are offered or wait here. */
  readonly #retrying = new Set<number>();
  #inFlight = 0;
  #readTo: number;
  #tookRetry = false;
  readonly #ordered: boolean;
  /** Strict order: a retry that is due in so many milliseconds holds everything back. */
  blockedMs: number | undefined;

  constructor(readUntil: number, ordered: boolean) {
    this.#readTo = readUntil;
    this.#ordered = ordered;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get load(): { inFlight: number; waiting: number; isBlocked: boolean } {
    return { inFlight: this.#inFlight, waiting: this.waiting, isBlocked: this.blockedMs !== undefined };
  }

  /** The position up to which the log was read. */
  get readTo(): number {
    return this.#readTo;
  }

  /** The position up to which everything is settled. */
  get readUntil(): number {
    for (const position of this.#unsettled.keys()) return position - 1;
    return this.#readTo;
  }

  get waiting(): number {
    return this.#fresh.length + this.#retries.length;
  }

  get freshWaiting(): number {
    return this.#fresh.length;
  }

  /** How many positions lie between the first that is not settled and the last that was read. */
  get window(): number {
    return this.#readTo - this.readUntil;
  }

  /** The next part of the log: all that was read up to a position, and of these the events that are wanted. */
  addFresh(events: readonly Event[], readTo: number): void {
    for (const event of events) {
      this.#unsettled.set(event.position, event);
      this.#fresh.push(event);
    }
    this.#readTo = Math.max(this.#readTo, readTo);
  }

  addRetry(event: Event, attempts: number, history: string): void {
    if (this.#retrying.has(event.position)) return;
    this.#retrying.add(event.position);
    this.#retries.push({ event, position: event.position, attempts, isRetry: true, history });
  }

  isRetrying(position: number): boolean {
    return this.#retrying.has(position);
  }

  /** What to send next; undefined: nothing at the moment. New events and retries take turns. */
  take(): Job<Event> | undefined {
    if (this.#ordered && (this.#inFlight > 0 || this.blockedMs !== undefined)) return undefined;
    const takeRetry = this.#retries.length > 0 && (this.#ordered || !this.#tookRetry || this.#fresh.length === 0);
    this.#tookRetry = takeRetry;
    const job = takeRetry ? this.#retries.shift() : this.#takeFresh();
    if (job) this.#inFlight++;
    return job;
  }

  #takeFresh(): Job<Event> | undefined {
    const event = this.#fresh.shift();
    return event && { event, position: event.position, attempts: 0, isRetry: false, history: '[]' };
  }

  /** The response has arrived, but the event's outcome is not on disk yet. */
  answered(): void {
    this.#inFlight--;
  }

  /** The event's outcome is on disk, or will be with the position up to which all are settled. */
  settle({ position, isRetry }: Pick<Job<Event>, 'position' | 'isRetry'>): void {
    if (isRetry) this.#retrying.delete(position);
    else this.#unsettled.delete(position);
  }
}
