/**
 * Rows that never move under the pointer: while it is over the list, a new order waits; what has changed within a
 * row is shown at once. A row that is no longer in the list keeps its place and says so.
 */
import { useRef, useState } from 'preact/hooks';

/** The rows to show while a new order waits: those of before, each as it is now. */
export function inOldOrder<T>(before: readonly T[], now: readonly T[], idOf: (row: T) => string): T[] {
  const present = new Map(now.map((row) => [idOf(row), row]));
  return before.map((row) => present.get(idOf(row)) ?? row);
}

/** Whether the rows of before stand where they stood: more rows below them move nothing. */
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

/** What was shown last, as long as it is held. */
export function useKept<T>(value: T, isHeld: boolean): T {
  const kept = useRef(value);
  if (!isHeld) kept.current = value;
  return kept.current;
}

export interface Steadiness {
  isHeld: boolean;
  /** What was asked for. Rows of another filter or sort may stand anywhere: the person asked for them. */
  scope?: string;
  /** Rows of another list stand below these, so that these must not become more either. */
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
    /** Whether a row is shown only so that those below it stay. */
    isGone: (row: T) => !mayMove && !now.has(idOf(row)),
    isWaiting: !mayMove,
  };
}
