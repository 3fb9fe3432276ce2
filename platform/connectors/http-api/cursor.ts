/*
 * Tells which records of a stream are new since the last sync, by comparing one field. Nothing is lost: a record with the
 * very value the last sync ended with counts as new unless it was there then, and one without a value always does.
 */

import { ConnectorError } from '../kit/connector.ts';
import { compareNumberTexts, ExactNumber, isJsonObject, isNumberText } from '../kit/json.ts';
import { digest } from './pagination.ts';

/** Records beyond this many with the same value are taken again by the next sync. */
const maxRemembered = 1000;

type CursorValue = string | number;

interface CursorState {
  cursor?: CursorValue;
  /** What the records with this value looked like. */
  at_cursor?: string[];
}

interface CursorReader {
  isNew(record: Record<string, unknown>): boolean;
  /** The state after all records that were asked about; before the end of a stream it says too much. */
  state(): CursorState;
}

export function cursorReader(field: string, start: CursorState): CursorReader {
  const known = new Set(start.at_cursor);
  let highest = start.cursor;
  let atHighest: Record<string, unknown>[] = [];

  function remember(record: Record<string, unknown>, value: CursorValue): void {
    const order = highest === undefined ? 1 : compare(value, highest);
    if (order > 0) {
      highest = value;
      atHighest = [];
    }
    if (order >= 0 && atHighest.length < maxRemembered) atHighest.push(record);
  }

  return {
    isNew(record) {
      const found = record[field];
      const value = found instanceof ExactNumber ? found.text : found;
      if (typeof value !== 'string' && typeof value !== 'number') return true;
      remember(record, value);
      if (start.cursor === undefined) return true;
      const order = compare(value, start.cursor);
      return order > 0 || (order === 0 && !known.has(digest(record)));
    },
    state() {
      if (highest === undefined) return {};
      const kept = highest === start.cursor ? [...known] : [];
      const at_cursor = [...new Set([...kept, ...atHighest.map(digest)])].slice(-maxRemembered);
      return { cursor: highest, at_cursor };
    },
  };
}

export function readCursorState(state: object | undefined): CursorState {
  if (!isJsonObject(state)) return {};
  const { cursor, at_cursor } = state;
  if (typeof cursor !== 'string' && typeof cursor !== 'number') return {};
  return { cursor, at_cursor: Array.isArray(at_cursor) ? at_cursor.map(String) : [] };
}

/** Numbers by size, times by when they are, other text by its characters. */
export function compare(a: CursorValue, b: CursorValue): number {
  const [x, y] = [String(a), String(b)];
  // Digit by digit, for a number that a double does not hold is kept as text.
  if (isNumberText(x) && isNumberText(y)) return compareNumberTexts(x, y);
  if (typeof a !== typeof b) {
    throw new ConnectorError(
      'The cursor field has numbers as well as text and cannot be compared. Choose another field.',
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
