import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxPoints, noPoints, withPoint } from './row-points.ts';

describe('Points of a plot of rows', () => {
  test('are one a second in a short job, and never too many in a long one', () => {
    let points = noPoints;
    for (let second = 0; second < 60; second++) points = withPoint(points, [second * 1_000, 1, second * 10]);
    expect(points).toMatchObject({ everyMs: 1_000, points: { length: 60 } });
    for (let second = 60; second < 100_000; second++) points = withPoint(points, [second * 1_000, 1, second * 10]);
    expect(points.points.length).toBeLessThanOrEqual(maxPoints);
    expect(points.points.length).toBeGreaterThan(maxPoints / 4);
    expect(points.points[0]).toEqual([0, 1, 0]);
    const end = withPoint(points, [100_000_100, 1, 1_000_001], true);
    expect(end.points.at(-1)).toEqual([100_000_100, 1, 1_000_001]);
  });

  test('are points that were reported, in the order of time, whatever the job does', () => {
    const step = fc.tuple(fc.nat(100_000), fc.boolean(), fc.nat(1_000), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        let [points, at, attempt, rows] = [noPoints, 0, 1, 0];
        const told = new Set<string>();
        for (const [ms, isNew, more, isLast] of steps) {
          at += ms;
          attempt += isNew ? 1 : 0;
          rows = isNew ? more : rows + more;
          told.add(String([at, attempt, rows]));
          points = withPoint(points, [at, attempt, rows], isLast);
          if (isLast) expect(points.points.at(-1)).toEqual([at, attempt, rows]);
        }
        expect(points.points.length).toBeLessThanOrEqual(maxPoints);
        expect(points.points.every((point) => told.has(String(point)))).toBe(true);
        expect(points.points.map(([time]) => time)).toEqual(
          points.points.map(([time]) => time).toSorted((a, b) => a - b),
        );
      }),
    );
  });
});
