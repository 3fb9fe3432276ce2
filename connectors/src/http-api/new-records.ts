/*
 * Detects which records of a stream are new since the last sync by comparing one field. No record is lost: a record
 * with exactly the value that the last sync ended with counts as new unless it was there then, and a record without a
 * value always does. APIs need not sort by the field, so the state advances only after the whole stream was read. If
 * the user declares that the API sorts, the state advances midway, until a record arrives out of order.
 */
import { createHash } from 'node:crypto';
import type { Given } from '@inlay/manifests/component';
import type { CursorSurroundings, IncrementalSync } from '@inlay/manifests/components/date-cursors';
import type { StateMigration } from '@inlay/manifests/components/streams';
import type { StreamCursor } from '@inlay/manifests/cursors/stream-cursor';
import type { Slice } from '@inlay/manifests/run/slice';
import { ConnectorError } from '@inlay/protocol/connector';
import { compareNumberTexts, ExactNumber, isJsonObject, isNumberText } from '@inlay/protocol/json';
import type { StreamConfiguration } from './configuration.ts';
import { enteredFor, placed } from './parameters.ts';

/** Records beyond this many with the same value are taken again by the next sync. */
const maxRemembered = 1000;

type CursorValue = string | number;

interface CursorState extends Record<string, unknown> {
  cursor?: CursorValue;
  /** What the records with this value looked like. */
  at_cursor?: string[];
}

/**
 * The cursor parameter sends the last value to the API; until there is one, the value entered for the parameter is
 * sent.
 */
export function newRecords(given: Given, stream: StreamConfiguration): IncrementalSync {
  const { cursor_field = '', cursor_parameter, sorted = false } = stream;
  const start = readCursorState((given.around as CursorSurroundings).state, cursor_field);
  const since = cursor_parameter === undefined || start.cursor === undefined ? undefined : String(start.cursor);
  const sent = since ?? (cursor_parameter === undefined ? undefined : enteredFor(stream, cursor_parameter));
  return {
    cursor: new NewRecords(cursor_field, start, { since, isSorted: sorted }),
    isDataFeed: false,
    isClientSide: true,
    isCursorOpen: false,
    parts: () => placed(stream, sent === undefined ? {} : { [cursor_parameter ?? '']: sent }),
  };
}

export class NewRecords implements StreamCursor {
  readonly cursorField: string;
  readonly secondsBetweenStates = undefined;
  readonly recordsBetweenStates: number;
  version = 0;
  readonly #start: CursorState;
  readonly #since: string | undefined;
  readonly #known: ReadonlySet<string>;
  #highest: CursorValue | undefined;
  #atHighest: Record<string, unknown>[] = [];
  #isRead = false;
  #isInOrder: boolean;

  constructor(
    field: string,
    start: CursorState,
    { since, isSorted = false }: { since?: string | undefined; isSorted?: boolean } = {},
  ) {
    this.cursorField = field;
    this.#start = start;
    this.#since = since;
    this.#known = new Set(start.at_cursor);
    this.#highest = start.cursor;
    this.#isInOrder = isSorted;
    this.recordsBetweenStates = isSorted ? 1000 : 10_000;
  }

  async *slices(): AsyncGenerator<Slice> {
    const cursor = this.#since === undefined ? {} : { since: this.#since };
    yield { partition: {}, cursor, extraFields: {} };
  }

  isWanted(_slice: Slice, record: Record<string, unknown>): boolean {
    const value = this.#valueOf(record);
    const { cursor } = this.#start;
    if (value === undefined || cursor === undefined) return true;
    const order = compare(value, cursor);
    return order > 0 || (order === 0 && !this.#known.has(digest(record)));
  }

  observe(_slice: Slice, record: Record<string, unknown>): void {
    const value = this.#valueOf(record);
    if (value === undefined) return;
    const order = this.#highest === undefined ? 1 : compare(value, this.#highest);
    if (order > 0) {
      this.#highest = value;
      this.#atHighest = [];
    }
    if (order < 0) this.#isInOrder = false;
    if (order >= 0 && this.#atHighest.length < maxRemembered) this.#atHighest.push(record);
  }

  close(): void {
    this.#isRead = true;
    this.version++;
  }

  finish(): void {}

  state(): CursorState {
    if (!this.#isRead && !this.#isInOrder) return this.#start;
    if (this.#highest === undefined) return {};
    const kept = this.#highest === this.#start.cursor ? [...this.#known] : [];
    const at_cursor = [...new Set([...kept, ...this.#atHighest.map(digest)])].slice(-maxRemembered);
    return { cursor: this.#highest, at_cursor };
  }

  later(): unknown {
    return undefined;
  }

  #valueOf(record: Record<string, unknown>): CursorValue | undefined {
    const found = record[this.cursorField];
    const value = found instanceof ExactNumber ? found.text : found;
    return typeof value === 'string' || typeof value === 'number' ? value : undefined;
  }
}

/** Also for a stream that was read in time windows before: those store the value under the name of the field. */
export function readCursorState(state: object | undefined, field = ''): CursorState {
  if (!isJsonObject(state)) return {};
  const { cursor = state[field], at_cursor } = state;
  if (typeof cursor !== 'string' && typeof cursor !== 'number') return {};
  return { cursor, at_cursor: Array.isArray(at_cursor) ? at_cursor.map(String) : [] };
}

/** A stream read in time windows continues from where it was without them. */
export function migrateState({ cursor_field = '', time_window }: StreamConfiguration): StateMigration {
  return (state) => {
    const { cursor } = readCursorState(state);
    return time_window && cursor !== undefined ? { [cursor_field]: cursor } : state;
  };
}

export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}

/** Numbers by size, times by when they are, other text by its characters. */
export function compare(a: CursorValue, b: CursorValue): number {
  const [x, y] = [String(a), String(b)];
  // Compared digit by digit, because a number that a double cannot represent is stored as text.
  if (isNumberText(x) && isNumberText(y)) return compareNumberTexts(x, y);
  if (typeof a !== typeof b) {
    throw new ConnectorError(
      'The cursor field contains both numbers and text, which cannot be compared. Choose a different field.',
    );
  }
  const [timeA, timeB] = [time.exec(x), time.exec(y)];
  if (!timeA || !timeB) return order(x, y);
  return Math.sign(Date.parse(x) - Date.parse(y)) || order(fraction(timeA), fraction(timeB));
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.(\d+))?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Dates know milliseconds, and databases more than that. */
const fraction = ([, digits = '']: RegExpExecArray) => digits.padEnd(9, '0');
