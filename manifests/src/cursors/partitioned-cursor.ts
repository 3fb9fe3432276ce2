/*
 * A cursor for each partition of a stream. Above a number of partitions, a single global cursor takes over to keep the
 * state small. It also provides the start for new partitions.
 */
import { isJsonObject } from '@inlay/protocol/json';
import { partitionKey, type Slice } from '../run/slice.ts';
import type { RangeCursor } from './range-cursor.ts';
import type { PartitionRouter, StreamCursor } from './stream-cursor.ts';

/** Above this number, all partitions share one cursor. */
const mostPartitionStates = 10_000;
/** Cursors of partitions that are kept at all; the oldest finished ones go first. */
const mostCursors = 25_000;

export interface PartitionedSettings<Value> {
  cursorField: string;
  router: PartitionRouter;
  /** `lookBackSeconds`: how much earlier than its state the cursor begins. */
  makeCursor(state: Record<string, unknown>, lookBackSeconds: number): RangeCursor<Value>;
  parse(value: unknown): Value;
  format(value: Value): unknown;
  compare(one: Value, other: Value): number;
  useGlobalCursor: boolean;
  /** Duration of the run in seconds. */
  seconds(): number;
  onDuplicate(): void;
  limits?: { partitionStates: number; cursors: number };
}

interface OpenPartition {
  number: number;
  openSlices: number;
  isCut: boolean;
}

export class PartitionedCursor<Value> implements StreamCursor {
  readonly secondsBetweenStates = 60;
  version = 0;
  readonly #settings: PartitionedSettings<Value>;
  readonly #limits: { partitionStates: number; cursors: number };
  readonly #cursors = new Map<string, { partition: Record<string, unknown>; cursor: RangeCursor<Value> }>();
  readonly #seen = new Set<string>();
  readonly #open = new Map<string, OpenPartition>();
  /** The state of the parents when a partition was found, in the order of the partitions. */
  readonly #parentStates: { state: Record<string, unknown>; number: number }[] = [];
  #parentVersion: number | undefined;
  #parentState: Record<string, unknown> | undefined;
  #useGlobalCursor: boolean;
  #globalState: Record<string, unknown> | undefined;
  #newGlobal: Value | undefined;
  #lookBackSeconds = 0;
  #partitions = 0;
  #generated = 0;
  #begun: number | undefined;
  #hasData = false;
  #hasWarned = false;

  /** Throws an Error for a state that cannot be read. */
  constructor(settings: PartitionedSettings<Value>, state: Record<string, unknown>) {
    this.#settings = settings;
    this.#limits = settings.limits ?? { partitionStates: mostPartitionStates, cursors: mostCursors };
    this.#useGlobalCursor = settings.useGlobalCursor;
    if (Object.keys(state).length === 0) return;
    if (!('states' in state) && !('state' in state)) {
      // The state of a stream that had no partitions before, or of an older version: applies to all partitions.
      this.#setGlobal(state);
    } else {
      this.#useGlobalCursor = state.use_global_cursor === true;
      this.#lookBackSeconds = Math.trunc(Number(state.lookback_window ?? 0)) || 0;
      for (const entry of Array.isArray(state.states) ? state.states : []) {
        const { partition, cursor } = entry as Record<string, unknown>;
        if (!isJsonObject(partition) || !isJsonObject(cursor)) continue;
        this.#partitions++;
        this.#cursors.set(partitionKey(partition), { partition, cursor: settings.makeCursor(cursor, 0) });
      }
      if (isJsonObject(state.state)) this.#setGlobal(state.state);
    }
    if (isJsonObject(state.parent_state) && Object.keys(state.parent_state).length > 0) {
      this.#parentState = state.parent_state;
    }
  }

  get cursorField(): string {
    return this.#settings.cursorField;
  }

  #setGlobal(state: Record<string, unknown>): void {
    const value = state[this.cursorField];
    if (value === undefined || value === null) return;
    this.#newGlobal = this.#settings.parse(value);
    this.#globalState = { [this.cursorField]: this.#settings.format(this.#newGlobal) };
  }

  async *slices(): AsyncGenerator<Slice> {
    const { router, seconds } = this.#settings;
    this.#begun = seconds();
    for await (const found of router.slices()) {
      const { partition, extraFields } = found;
      const key = partitionKey(partition);
      this.#limitPartitions();
      if (this.#seen.has(key)) {
        if (!this.#hasWarned) this.#settings.onDuplicate();
        this.#hasWarned = true;
        continue;
      }
      this.#seen.add(key);
      const cursor = this.#cursorFor(key, partition);
      const opened: OpenPartition = { number: this.#generated++, openSlices: 0, isCut: false };
      this.#open.set(key, opened);
      this.#noteParentState(opened.number);
      // One slice ahead, so that the last one is known as the last before it is read.
      let ahead: Record<string, unknown> | undefined;
      for (const range of cursor.slices()) {
        opened.openSlices++;
        if (ahead) yield { partition, cursor: ahead, extraFields };
        ahead = range;
      }
      opened.isCut = true;
      if (ahead) yield { partition, cursor: ahead, extraFields };
      else this.#settle(key, opened);
    }
  }

  #cursorFor(key: string, partition: Record<string, unknown>): RangeCursor<Value> {
    const known = this.#cursors.get(key);
    if (known) return known.cursor;
    const cursor = this.#newCursor();
    this.#partitions++;
    this.version++;
    this.#cursors.set(key, { partition, cursor });
    return cursor;
  }

  #newCursor(): RangeCursor<Value> {
    const { makeCursor } = this.#settings;
    return makeCursor(this.#globalState ?? {}, this.#globalState ? this.#lookBackSeconds : 0);
  }

  #limitPartitions(): void {
    if (this.#partitions > this.#limits.partitionStates) this.#useGlobalCursor = true;
    while (this.#cursors.size > this.#limits.cursors - 1) {
      const oldest = this.#oldestFinished() ?? this.#cursors.keys().next().value;
      if (oldest === undefined) return;
      this.#cursors.delete(oldest);
    }
  }

  #oldestFinished(): string | undefined {
    for (const key of this.#cursors.keys()) if (!this.#open.has(key)) return key;
    return undefined;
  }

  #noteParentState(number: number): void {
    const { router } = this.#settings;
    const version = router.parentVersion?.();
    if (version !== undefined && version === this.#parentVersion) return;
    this.#parentVersion = version;
    const state = router.parentState?.();
    if (state) this.#parentStates.push({ state, number });
  }

  observe(slice: Slice, record: Record<string, unknown>): void {
    const known = this.#cursors.get(partitionKey(slice.partition));
    const value = known?.cursor.observe(slice, record);
    if (value === undefined) return;
    this.#hasData = true;
    this.#raiseGlobal(value);
  }

  #raiseGlobal(value: Value): void {
    if (this.#newGlobal === undefined || this.#settings.compare(this.#newGlobal, value) < 0) this.#newGlobal = value;
  }

  close(slice: Slice): void {
    const key = partitionKey(slice.partition);
    const opened = this.#open.get(key);
    const known = this.#cursors.get(key);
    this.version++;
    known?.cursor.close(slice);
    if (!opened) return;
    opened.openSlices--;
    if (!opened.isCut || opened.openSlices > 0) return;
    if (!this.#useGlobalCursor && known) this.#raiseGlobal(known.cursor.reached);
    this.#settle(key, opened);
  }

  #settle(key: string, opened: OpenPartition): void {
    if (opened.openSlices === 0) this.#open.delete(key);
    const [firstOpen] = this.#open.values();
    // The parents have got as far as the last partition before which everything is read.
    for (
      let [next] = this.#parentStates;
      next && (!firstOpen || firstOpen.number > next.number);
      [next] = this.#parentStates
    ) {
      this.#parentState = next.state;
      this.#parentStates.shift();
    }
  }

  finish(): void {
    const isWhole = [...this.#open.values()].every(({ openSlices }) => openSlices === 0);
    if (!isWhole) return;
    this.version++;
    if (this.#hasData && this.#newGlobal !== undefined) {
      this.#globalState = { [this.cursorField]: this.#settings.format(this.#newGlobal) };
      const { seconds } = this.#settings;
      this.#lookBackSeconds = Math.ceil(seconds() - (this.#begun ?? seconds()));
    }
    const parents = this.#settings.router.parentState?.();
    if (parents) this.#parentState = parents;
  }

  state(): Record<string, unknown> {
    const states = () =>
      [...this.#cursors.values()].map(({ partition, cursor }) => ({ partition, cursor: cursor.state() }));
    return {
      use_global_cursor: this.#useGlobalCursor,
      ...(!this.#useGlobalCursor && { states: states() }),
      ...(this.#globalState && { state: this.#globalState }),
      lookback_window: this.#lookBackSeconds,
      ...(this.#parentState && { parent_state: this.#parentState }),
    };
  }

  later(value: unknown, record: Record<string, unknown>): unknown {
    return this.#newCursor().later(value, record);
  }

  isWanted(slice: Slice, record: Record<string, unknown>): boolean {
    const known = this.#useGlobalCursor ? undefined : this.#cursors.get(partitionKey(slice.partition));
    return (known?.cursor ?? this.#newCursor()).isWanted(record);
  }
}
