/**
 * Which entries lost personal values by an erasure. The entry of an erasure names them by position, so a value that someone
 * deletes in another way is noticed. Entries of earlier versions only say how many values were erased.
 */
import { personalFields } from '@inlay/contract/log/audit';

export type PersonalField = (typeof personalFields)[number];

/** Positions as in "3,7-9". */
export function writePositions(positions: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last && position === last[1] + 1) last[1] = position;
    else ranges.push([position, position]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}

/** Those of the given positions, in order, that the text does not name. */
function without(positions: readonly number[], text: string): number[] {
  const ranges = text.split(',').map((range) => range.split('-').map(Number));
  let next = 0;
  return positions.filter((position) => {
    while (next < ranges.length && (ranges[next]?.at(-1) ?? 0) < position) next++;
    return !(position >= (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY));
  });
}

export function createErasures() {
  const missing = new Map<string, number[]>(personalFields.map((field) => [field, []]));
  /** Erasures of earlier versions: what they may have erased. */
  let [unnamed, unnamedBefore] = [0, 0];
  const unnamedFields = new Set<string>();
  let count = 0;
  return {
    /** The entry has committed to a value that is not there. Called in the order of positions. */
    isMissing(position: number, field: PersonalField): void {
      missing.get(field)?.push(position);
      count++;
    },
    /** An entry records an erasure. */
    tells(position: number, data: Record<string, unknown>): void {
      const { positions, fields, count: erased } = data;
      if (typeof positions === 'object' && positions !== null) {
        for (const [field, text] of Object.entries(positions)) {
          missing.set(field, without(missing.get(field) ?? [], String(text)));
        }
      } else if (Array.isArray(fields) && Number.isSafeInteger(erased)) {
        for (const field of fields) unnamedFields.add(String(field));
        [unnamed, unnamedBefore] = [unnamed + Number(erased), position];
      }
    },
    /** Values that no erasure accounts for. */
    unexplained(): { position: number; fields: string[] }[] {
      const mayBeUnnamed = (field: string, position: number) => unnamedFields.has(field) && position < unnamedBefore;
      const values = [...missing].flatMap(([field, positions]) => positions.map((position) => ({ field, position })));
      const ofEarlier = new Set(
        values.filter(({ field, position }) => mayBeUnnamed(field, position)).slice(0, unnamed),
      );
      const byPosition = new Map<number, string[]>();
      for (const value of values) {
        if (ofEarlier.has(value)) continue;
        byPosition.set(value.position, [...(byPosition.get(value.position) ?? []), value.field]);
      }
      return [...byPosition].map(([position, fields]) => ({ position, fields }));
    },
    count: () => count,
  };
}
