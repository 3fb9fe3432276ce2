/*
 * Reads a stream by ranges of its cursor, such as parts of time, and knows how far it has been read. Ranges may end in
 * any order: the state is the end of what is read without a gap from the start.
 */
import type { Slice } from '../run/slice.ts';

/** What ranges are made of: moments, or numbers. */
export interface Scale<Value> {
  /** Throws an Error for a value that is none. */
  parse(value: unknown): Value;
  format(value: Value): unknown;
  compare(one: Value, other: Value): number;
  /** The first value behind one: ranges that touch there are one range. */
  next(value: Value): Value;
}

export interface RangeSettings<Value> {
  cursorField: string;
  scale: Scale<Value>;
  start: Value;
  end: () => Value;
  /** The names of a range's start and end in a slice. Without names the ends of ranges come from the records. */
  boundaryFields: readonly [string, string] | undefined;
  /** Moves a value on by the size of a range; undefined for one range of everything. */
  step: ((from: Value) => Value) | undefined;
  lookBack: ((from: Value) => Value) | undefined;
  /** Moves an end back, so that the next range does not begin with it. */
  beforeNext: ((end: Value) => Value) | undefined;
  clamp?: (value: Value) => Value;
}

interface Range<Value> {
  start: Value;
  end: Value;
  mostRecent: Value | undefined;
}

export class RangeCursor<Value> {
  readonly #settings: RangeSettings<Value>;
  /** Other content of the state, next to the cursor, is kept. */
  readonly #given: Record<string, unknown>;
  /** Where this sync starts. */
  readonly #syncStart: Value;
  #ranges: Range<Value>[];
  readonly #mostRecent = new Map<Record<string, unknown>, Value>();

  /** Throws an Error for a state that cannot be read. */
  constructor(settings: RangeSettings<Value>, state: Record<string, unknown>) {
    this.#settings = settings;
    this.#given = state;
    const { scale, start, cursorField } = settings;
    if (Array.isArray(state.slices) && state.state_type !== undefined) {
      this.#given = {};
      this.#syncStart = start;
      this.#ranges = readRanges(scale, state.slices);
      return;
    }
    const known =
      state[cursorField] === undefined || state[cursorField] === null ? undefined : scale.parse(state[cursorField]);
    this.#syncStart = known !== undefined && scale.compare(known, start) >= 0 ? known : start;
    this.#ranges = [{ start, end: this.#syncStart, mostRecent: this.#syncStart }];
  }

  get cursorField(): string {
    return this.#settings.cursorField;
  }

  state(): Record<string, unknown> {
    return { ...this.#given, [this.cursorField]: this.#settings.scale.format(this.reached) };
  }

  /** Up to where everything is read. */
  get reached(): Value {
    const [first] = this.#merged();
    if (!first) return this.#settings.start;
    return first.mostRecent ?? first.start;
  }

  *slices(): Generator<Record<string, unknown>> {
    const { start, end, lookBack, scale, beforeNext } = this.#settings;
    this.#ranges = this.#merged();
    const ranges = this.#ranges.map((range) => ({ ...range }));
    const [first] = ranges;
    const last = ranges.at(-1);
    if (!first || !last) return;
    if (scale.compare(start, first.start) < 0) yield* this.#split(start, first.start, false);
    for (const [index, range] of ranges.slice(0, -1).entries()) {
      const next = ranges[index + 1] as Range<Value>;
      // What lies between two ranges was missed.
      yield* this.#split(beforeNext ? scale.next(range.end) : range.end, next.start, false);
    }
    yield* this.#split(lookBack ? lookBack(last.end) : last.end, end(), true);
  }

  *#split(from: Value, to: Value, isEnd: boolean): Generator<Record<string, unknown>> {
    const { scale, start, step, beforeNext, clamp = (value) => value } = this.#settings;
    if (scale.compare(from, to) >= 0 || scale.compare(to, start) < 0) return;
    let lower = scale.compare(from, start) < 0 ? start : from;
    if (!step || scale.compare(step(lower), to) >= 0) {
      const upper = clamp(to);
      yield this.#slice(clamp(lower), beforeNext && !isEnd ? beforeNext(upper) : upper);
      return;
    }
    for (let isLast = false; !isLast; ) {
      const stepped = step(lower);
      isLast = scale.compare(stepped, to) >= 0;
      const upper = isLast ? to : clamp(stepped);
      const clamped = clamp(lower);
      if (scale.compare(clamped, upper) >= 0) return;
      yield this.#slice(clamped, beforeNext && !(isEnd && isLast) ? beforeNext(upper) : upper);
      lower = upper;
    }
  }

  #slice(start: Value, end: Value): Record<string, unknown> {
    const { scale, boundaryFields = ['start', 'end'] } = this.#settings;
    return { [boundaryFields[0]]: scale.format(start), [boundaryFields[1]]: scale.format(end) };
  }

  /** A record whose cursor is missing or unreadable is ignored. */
  observe({ cursor }: Slice, record: Record<string, unknown>): Value | undefined {
    const value = this.#valueOf(record);
    if (value === undefined) return undefined;
    const before = this.#mostRecent.get(cursor);
    if (before === undefined || this.#settings.scale.compare(before, value) < 0) this.#mostRecent.set(cursor, value);
    return value;
  }

  close({ cursor }: Slice): void {
    const { boundaryFields, scale } = this.#settings;
    const mostRecent = this.#mostRecent.get(cursor);
    this.#mostRecent.delete(cursor);
    if (boundaryFields) {
      const [start, end] = boundaryFields.map((field) => scale.parse(cursor[field])) as [Value, Value];
      this.#ranges.push({ start, end, mostRecent });
    } else if (mostRecent !== undefined) {
      this.#ranges.push({ start: this.#syncStart, end: mostRecent, mostRecent });
    }
    this.#ranges = this.#merged();
  }

  /** Whether a record belongs to this sync. Records without a cursor do. */
  isWanted(record: Record<string, unknown>): boolean {
    const value = this.#valueOf(record);
    if (value === undefined) return true;
    const { scale, end } = this.#settings;
    return scale.compare(this.#syncStart, value) <= 0 && scale.compare(value, end()) <= 0;
  }

  /** See StreamCursor. */
  later(value: unknown, record: Record<string, unknown>): unknown {
    const { scale } = this.#settings;
    const own = this.#valueOf(record);
    if (own === undefined) return value;
    return value === undefined || scale.compare(scale.parse(value), own) < 0 ? scale.format(own) : value;
  }

  #valueOf(record: Record<string, unknown>): Value | undefined {
    const value = Object.hasOwn(record, this.cursorField) ? record[this.cursorField] : undefined;
    if (value === undefined || value === null) return undefined;
    try {
      return this.#settings.scale.parse(value);
    } catch {
      return undefined;
    }
  }

  /** Ranges that touch become one. */
  #merged(): Range<Value>[] {
    const { scale } = this.#settings;
    const sorted = [...this.#ranges].sort(
      (one, other) => scale.compare(one.start, other.start) || scale.compare(one.end, other.end),
    );
    const merged: Range<Value>[] = [];
    for (const range of sorted) {
      const last = merged.at(-1);
      if (last && scale.compare(scale.next(last.end), range.start) >= 0) {
        last.end = larger(scale, last.end, range.end) as Value;
        last.mostRecent = larger(scale, last.mostRecent, range.mostRecent);
      } else merged.push({ ...range });
    }
    return merged;
  }
}

function larger<Value>(scale: Scale<Value>, one: Value | undefined, other: Value | undefined): Value | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return scale.compare(one, other) >= 0 ? one : other;
}

/** A state that lists the ranges themselves. */
function readRanges<Value>(scale: Scale<Value>, slices: readonly unknown[]): Range<Value>[] {
  return slices.map((slice) => {
    const { start, end, most_recent_cursor_value: mostRecent } = slice as Record<string, unknown>;
    return {
      start: scale.parse(start),
      end: scale.parse(end),
      mostRecent: mostRecent === undefined || mostRecent === null ? undefined : scale.parse(mostRecent),
    };
  });
}
