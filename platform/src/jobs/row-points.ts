/**
 * How many rows a job had moved at which time, for a plot. There is a bounded number of points: they lie a second apart in
 * a short job, and when there are too many, the distance doubles and every other point goes.
 */

/** When, in which attempt, and how many rows the attempt had moved by then. */
export type RowPoint = readonly [at: number, attempt: number, rows: number];

export interface RowPoints {
  everyMs: number;
  points: readonly RowPoint[];
}

export const maxPoints = 120;
export const noPoints: RowPoints = { everyMs: 1_000, points: [] };

/** A point too close to the previous one is omitted. The last point of an attempt is always kept. */
export function withPoint({ everyMs, points }: RowPoints, point: RowPoint, isLast = false): RowPoints {
  const before = points.at(-1);
  const isFar = before === undefined || before[1] !== point[1] || Math.abs(point[0] - before[0]) >= everyMs;
  if (!isFar && !isLast) return { everyMs, points };
  // The first point of a plot is kept: it shows when rows started to arrive.
  const kept = isFar || points.length === 1 ? points : points.slice(0, -1);
  return thinned({ everyMs, points: [...kept, point] });
}

function thinned({ everyMs, points }: RowPoints): RowPoints {
  if (points.length <= maxPoints) return { everyMs, points };
  const wider = everyMs * 2;
  const kept: RowPoint[] = [];
  for (const point of points) {
    const before = kept.at(-1);
    if (before === undefined || Math.abs(point[0] - before[0]) >= wider) kept.push(point);
  }
  // The last reported value still applies.
  const last = points.at(-1);
  if (last && kept.at(-1) !== last) kept.splice(-1, kept.length > 1 ? 1 : 0, last);
  return thinned({ everyMs: wider, points: kept });
}
