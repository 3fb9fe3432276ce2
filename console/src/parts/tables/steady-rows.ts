/**
 * Keeps rows still under the pointer: while it is over the list, a new order is held back, but changes within a row are shown
 * immediately. A removed row keeps its place and is marked.
 */
import { useRef, useState } from 'preact/hooks';

/** The previous rows in their order, with current values. Shown while a new order is held back. */
export function inOldOrder<T>(before: readonly T[], now: readonly T[], idOf: (row: T) => string): T[] {
  const present = new Map(now.map((row) => [idOf(row), row]));
  return before.map((row) => present.get(idOf(row)) ?? row);
}

/** Whether all previous rows keep their position. Rows appended below move nothing. */
export function keepsPlaces<T>(before: readonly T[], now: readonly T[], idOf: (row: T) => string): boolean {
  return before.length <= now.length && before.every((row, index) => idOf(row) === idOf(now[index] as T));
}

/** Whether the pointer is over an element that has `holding`. */
export function useHolding() {
  const [isHeld, setHeld] = useState(false);
  return {
    isHeld,
    holding: {
      onPointerEnter: () => setHeld(true),
      onPointerLeave: () => setHeld(false),
    },
  };
}

/** Freezes the value while held. */
export function useKept<T>(value: T, isHeld: boolean): T {
  const kept = useRef(value);
  if (!isHeld) kept.current = value;
  return kept.current;
}

export interface Steadiness {
  isHeld: boolean;
  /** Identifies the query. With another filter or sort, rows may move, because the user asked for that. */
  scope?: string;
  /** Another list is below, so the number of rows must not change either. */
  keepsHeight?: boolean;
}

export function useSteadyRows<T>(
  rows: readonly T[],
  idOf: (row: T) => string,
  { isHeld, scope = '', keepsHeight = false }: Steadiness,
) {
  const shown = useRef<{ rows: readonly T[]; scope: string }>({ rows, scope });
  const { rows: before, scope: scopeBefore } = shown.current;
  const mayBecomeMore = !keepsHeight || before.length === rows.length;
  const mayMove = !isHeld || scopeBefore !== scope || (mayBecomeMore && keepsPlaces(before, rows, idOf));
  const present = mayMove ? rows : inOldOrder(before, rows, idOf);
  shown.current = { rows: present, scope };
  const now = new Set(rows.map(idOf));
  return {
    rows: present,
    /** The row was removed and is shown only to keep the rows below in place. */
    isGone: (row: T) => !mayMove && !now.has(idOf(row)),
    isWaiting: !mayMove,
  };
}
