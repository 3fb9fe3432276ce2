/* How a stream is cut into slices, and what is known of how far it has been read. */
import type { RequestParts } from '../http/request.ts';
import { type Slice, wholeStream } from '../run/slice.ts';
import type { RangeCursor } from './range-cursor.ts';

/** Cuts a stream into partitions. */
export interface PartitionRouter {
  slices(): AsyncIterable<Slice>;
  /** What the partition puts into a request. */
  parts(slice: Slice): RequestParts;
  /** The states of the parents that are read incrementally; undefined for a router without parents. */
  parentState?(): Record<string, unknown>;
  /** Version number of that state. Comparing states costs as much as creating them. */
  parentVersion?(): number;
}

export interface StreamCursor {
  cursorField: string | undefined;
  slices(): AsyncIterable<Slice>;
  observe(slice: Slice, record: Record<string, unknown>): void;
  /** Everything of the slice has been read. */
  close(slice: Slice): void;
  /** All slices have been read, or some have failed. */
  finish(): void;
  state(): Record<string, unknown>;
  /** How often the state has changed. */
  readonly version: number;
  /** Seconds between two states in the middle of a stream; undefined for none before the end. */
  secondsBetweenStates: number | undefined;
  /** A state after so many records lets the destination store what it has, also where the state has not moved. */
  recordsBetweenStates?: number;
  isWanted(slice: Slice, record: Record<string, unknown>): boolean;
  /** The later of a slice's cursor value and a record's; undefined if neither has one. */
  later(value: unknown, record: Record<string, unknown>): unknown;
}

/** A stream that is read in full each time. Its state only says that there is none. */
export class NoCursor implements StreamCursor {
  readonly cursorField = undefined;
  readonly version = 0;
  readonly secondsBetweenStates = undefined;
  readonly #router: PartitionRouter | undefined;

  constructor(router?: PartitionRouter) {
    this.#router = router;
  }

  async *slices(): AsyncGenerator<Slice> {
    if (this.#router) yield* this.#router.slices();
    else yield wholeStream;
  }

  observe(): void {}
  close(): void {}
  finish(): void {}

  state(): Record<string, unknown> {
    return { __ab_no_cursor_state_message: true };
  }

  isWanted(): boolean {
    return true;
  }

  later(): unknown {
    return undefined;
  }
}

/** A stream without partitions that is read by ranges of its cursor. */
export class WholeStreamCursor<Value> implements StreamCursor {
  readonly secondsBetweenStates = 0;
  version = 0;
  readonly #ranges: RangeCursor<Value>;

  constructor(ranges: RangeCursor<Value>) {
    this.#ranges = ranges;
  }

  get cursorField(): string {
    return this.#ranges.cursorField;
  }

  async *slices(): AsyncGenerator<Slice> {
    for (const cursor of this.#ranges.slices()) yield { partition: {}, cursor, extraFields: {} };
  }

  observe(slice: Slice, record: Record<string, unknown>): void {
    this.#ranges.observe(slice, record);
  }

  close(slice: Slice): void {
    this.version++;
    this.#ranges.close(slice);
  }

  finish(): void {}

  state(): Record<string, unknown> {
    return this.#ranges.state();
  }

  isWanted(_slice: Slice, record: Record<string, unknown>): boolean {
    return this.#ranges.isWanted(record);
  }

  later(value: unknown, record: Record<string, unknown>): unknown {
    return this.#ranges.later(value, record);
  }
}
