import { describe, expect, it } from 'vitest';
import { slotsOf } from './rows-plot.tsx';

const at = (second: number) => new Date(second * 1_000).toISOString();

describe('The plot of the rows of a job', () => {
  it('has no bars without points, and one for a single point', () => {
    expect(slotsOf([])).toEqual([]);
    expect(slotsOf([{ at: at(5), attempt: 1, rows: 3 }])).toEqual([{ until: 5_000, attempt: 1, rows: 3 }]);
  });

  it('shows equal parts of time, each with what was known at its end, and ends with the last point', () => {
    const points = [
      { at: at(0), attempt: 1, rows: 0 },
      { at: at(10), attempt: 1, rows: 100 },
      { at: at(90), attempt: 2, rows: 20 },
      { at: at(300), attempt: 2, rows: 900 },
    ];
    expect(slotsOf(points)).toEqual([
      { until: 0, attempt: 1, rows: 0 },
      { until: 100_000, attempt: 2, rows: 20 },
      { until: 200_000, attempt: 2, rows: 20 },
      { until: 300_000, attempt: 2, rows: 900 },
    ]);
    const many = Array.from({ length: 120 }, (_, second) => ({ at: at(second), attempt: 1, rows: second }));
    expect(slotsOf(many)).toHaveLength(60);
    expect(slotsOf(many).at(-1)).toMatchObject({ rows: 119 });
  });
});
