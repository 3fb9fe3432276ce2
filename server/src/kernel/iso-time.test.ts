import { describe, expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

describe('A time as text', () => {
  it('is what toISOString says, whatever was asked before', () => {
    const edges = [
      0, 1, 9, 10, 99, 100, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000, 951_782_400_000,
      1_709_164_799_999, 1_709_164_800_000, 1_767_225_599_999, 1_767_225_600_000, 253_402_300_799_999, 0.9, 1_500.5,
    ];
    const spread = Array.from({ length: 2_000 }, (_, i) => (i * 7_919_104_729_013) % 253_402_300_800_000);
    for (const ms of [...edges, ...spread, ...edges.toReversed()]) expect(isoTime(ms)).toBe(new Date(ms).toISOString());
  });

  it('is right before 1970 and after the year 9999, too', () => {
    for (const ms of [-1, -86_400_001, 253_402_300_800_000, 8_640_000_000_000_000]) {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
    }
  });

  it('of no moment is refused', () => {
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
    expect(() => isoTime(8_640_000_000_000_001)).toThrow(RangeError);
  });
});
